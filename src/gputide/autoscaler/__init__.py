"""The controller of AdvancedHorizontalPodAutoscalers: reads demand, forecasts, decides, scales."""
