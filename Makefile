# Each target that a person calls has its explanation after `##`; `make` prints them.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
EXTRAS := train,parse,parquet,bert,plot,topics,exercises,serve
TEST_EXTRAS := $(EXTRAS),sklearn,dev
WORKERS ?= 2
PYTEST_ARGS ?= -m "not slow"
FUZZ_SECONDS ?= 600
FUZZ_SEED ?= 1

# A stamp is older than what it depends on exactly when its step must be run again.
PIP_INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt
REQUIREMENTS := pyproject.toml research/pyproject.toml constraints.txt
CREATED := $(VENV)/.created
CORE := $(VENV)/.core
RUNNING := $(VENV)/.running
TESTING := $(VENV)/.testing
BROWSER := $(VENV)/.browser

.PHONY: help setup demo test lint types flow pytest format bench faults fuzz audit docs clean

help: ## Print this table
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(RUNNING) ## Make .venv with the product and the laboratory (research/)

demo: $(CORE) ## Put the sentences of examples/shuffled.txt in order
	@$(BIN)/unshuffle order examples/shuffled.txt

test: lint types flow pytest ## All gates: lint, types, import contract, tests (PYTEST_ARGS= for the slow ones too)

lint: $(TESTING) ## Style and format, changing nothing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(TESTING) ## Types, by mypy --strict
	$(BIN)/mypy --strict

flow: $(TESTING) ## Import contracts: no stage imports a later one, nor the product the laboratory
	$(BIN)/lint-imports

pytest: $(TESTING) $(BROWSER) ## Tests only
	$(BIN)/pytest -n $(WORKERS) $(PYTEST_ARGS)

format: $(TESTING) ## Format the code and mend what ruff can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(RUNNING) ## Measure speed and memory
	$(BIN)/python -m unshuffle_research.benchmarks

faults: $(TESTING) ## Fuzz, kill, fill the disk, damage models; print how often, and what was lost
	$(BIN)/python -m tests.faults --results faults.json

fuzz: $(TESTING) ## Fuzz for longer (FUZZ_SECONDS=600 FUZZ_SEED=1)
	$(BIN)/python -m tests.faults.fuzz --seconds $(FUZZ_SECONDS) --seed $(FUZZ_SEED)

audit: $(CREATED) ## Look for known holes in the pinned packages (asks an advisory service)
	$(PIP_INSTALL) pip-audit
	$(BIN)/pip-audit --strict --no-deps --disable-pip -r constraints.txt

docs: $(CREATED) ## Build the documentation into site/
	$(PIP_INSTALL) -e '.[docs]'
	$(BIN)/zensical build
	find research/results -name '*.svg' | tar -cf - -T - | tar -xf - -C site  # plots that pages show

clean: ## Remove what the other targets made
	rm -rf $(VENV) build dist site faults.json .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache .coverage
	find src tests research -name __pycache__ -type d -prune -exec rm -rf {} +

$(CREATED):
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(CORE): $(CREATED) $(REQUIREMENTS)
	$(PIP_INSTALL) -e .
	@touch $@

$(RUNNING): $(CREATED) $(REQUIREMENTS)
	$(PIP_INSTALL) -e '.[$(EXTRAS)]' -e research
	@touch $@

$(TESTING): $(CREATED) $(REQUIREMENTS)
	$(PIP_INSTALL) -e '.[$(TEST_EXTRAS)]' -e research
	@touch $@ $(RUNNING)

# Playwright's own browser comes from a host that is often out of reach; Debian's chromium serves as well.
# Tried once; without it the browser tests skip.
$(BROWSER): $(CREATED)
	@if ! command -v chromium && [ "$$(id -u)" = 0 ] && command -v apt-get; then \
	  export DEBIAN_FRONTEND=noninteractive; \
	  apt-get update && apt-get install -y --no-install-recommends chromium || true; \
	fi >/dev/null 2>&1
	@command -v chromium >/dev/null || echo "No chromium: the browser tests will be skipped."
	@touch $@
