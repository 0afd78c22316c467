# The two commands of the README, and what developers use beside them. Everything lands in .venv and .cache.
SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= python3
VENDOR := src/gputide/charts/vendor/uPlot.iife.min.js
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
# One thread a process: two cores, several workers, and figures that mean the same everywhere.
export OMP_NUM_THREADS = 1
export OPENBLAS_NUM_THREADS = 1

.PHONY: run test check unit kubernetes-assets bench lock format clean help

run: $(VENV)/.run  ## What would prediction have saved me? On the traces that the project makes itself.
	$(BIN)/gputide backtest --generated --html report.html --json report.json

test: check unit  ## Every check and every test.

check: $(VENV)/.test  ## Formatting, lint, types, layers.
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports

unit: $(VENV)/.test  ## The tests alone.
	$(BIN)/pytest -n 2 --dist worksteal $(PYTEST)

kubernetes-assets: $(VENV)/.test  ## The Kubernetes control plane that the tests use: some 8 minutes, once a machine.
	$(BIN)/python tools/kubernetes-assets

bench: $(VENV)/.bench  ## Accuracy, cost and money on GPUTIDE_TRACES (default: generated traces).
	$(BIN)/python -m bench $(BENCH)

format: $(VENV)/.test  ## Put the code into its format.
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

lock: $(VENV)/bin/python  ## Pin the dependencies anew.
	$(PIP) install uv
	UV=$(BIN)/uv tools/lock

clean:  ## Remove what the other targets made.
	rm -rf $(VENV) .cache build dist src/gputide/charts/vendor

help:  ## This list.
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t 20

$(VENV)/bin/python:
	tools/debian-packages python3-venv
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: requirements/run.txt pyproject.toml tools/vendor $(VENV)/bin/python
	$(PIP) install --require-hashes -r requirements/run.txt
	$(PIP) install --no-deps --no-build-isolation --editable .
	$(BIN)/python tools/vendor
	touch $@

$(VENV)/.test: requirements/test.txt $(VENV)/.run
	tools/debian-packages prometheus chromium gcc libc6-dev jq faketime dnsmasq-base iproute2
	$(PIP) install --require-hashes -r requirements/test.txt
	touch $@

$(VENV)/.bench: requirements/bench.txt $(VENV)/.run
	$(PIP) install --require-hashes -r requirements/bench.txt
	touch $@
