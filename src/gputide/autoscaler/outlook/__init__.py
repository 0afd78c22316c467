"""Forecasts of many workloads, fitted a few at a time and kept small."""
