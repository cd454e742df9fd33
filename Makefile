# Each target that a person calls has its explanation after `##`; `make` prints them.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
EXTRAS := train,parse,parquet,bert,plot,topics,exercises,serve
TEST_EXTRAS := $(EXTRAS),sklearn,hub-data,langchain,llama-index,haystack,mcp,ray,dev
SPARK_EXTRAS := $(TEST_EXTRAS),spark
WORKERS ?= 2
PYTEST_ARGS ?= -m "not slow"
FUZZ_SECONDS ?= 600
FUZZ_SEED ?= 1
SOAK_MINUTES ?= 30
comma := ,

# What is installed is what locks/ names, byte for byte; of torch, whose builds differ from machine to machine, the
# version of constraints.txt. The project itself is built by the locked hatchling.
LOCKED = $(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes --no-deps
OWN = $(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation -e . -e research
LOCK = UV_FIND_LINKS="$$PIP_FIND_LINKS" $(BIN)/uv pip compile -q --python-version 3.11 --generate-hashes --no-annotate --no-header -c constraints.txt \
  --no-emit-package torch
extras = $(foreach name,$(subst $(comma), ,$(1)) $(2),--extra $(name))
# Each lock names what those before it do not.
but = $(foreach lock,$(1),-c locks/$(lock).txt $$(sed -nE 's/^([a-z0-9._-]+)==.*/--no-emit-package \1/p' locks/$(lock).txt))

# Where the advisory service does not answer, every package is one that "could not be audited".
looked_up = $(BIN)/pip-audit --strict --no-deps --disable-pip $(1) > $(VENV)/audit.log 2>&1 && cat $(VENV)/audit.log || { \
  if grep -qE 'could not be audited|ConnectionError|ServiceError|Max retries' $(VENV)/audit.log; then \
    echo "make audit: the advisory service cannot be reached, so nothing was looked up. Run it where it can." >&2; \
  else cat $(VENV)/audit.log >&2; fi; exit 1; }

# A stamp is older than what it depends on exactly when its step must be run again.
PIP_INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt
REQUIREMENTS := pyproject.toml research/pyproject.toml constraints.txt $(wildcard locks/*.txt)
CREATED := $(VENV)/.created
CORE := $(VENV)/.core
RUNNING := $(VENV)/.running
TESTING := $(VENV)/.testing
SPARK := $(VENV)/.spark
BROWSER := $(VENV)/.browser

.PHONY: help setup demo test test-all lint types flow pytest format bench faults fuzz soak lock audit docs notebooks clean

help: ## Print this table
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(RUNNING) ## Make .venv with the product and the laboratory (research/)

demo: $(CORE) ## Put the sentences of examples/shuffled.txt in order
	@$(BIN)/unshuffle order examples/shuffled.txt

test: lint types flow pytest ## All gates: lint, types, import contract, tests (PYTEST_ARGS= for the slow ones too)

test-all: test $(SPARK) ## All gates, then the slow tests and Spark (needs Java)
	$(BIN)/pytest -n $(WORKERS) -m slow
	$(BIN)/pytest tests/integrations/test_spark.py

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

faults: $(TESTING) ## Attack, fuzz, kill, fill the disk, damage models; print how often, and what was lost
	$(BIN)/python -m tests.faults --results research/results/faults/faults.json

fuzz: $(TESTING) ## Fuzz for longer (FUZZ_SECONDS=600 FUZZ_SEED=1)
	$(BIN)/python -m tests.faults.fuzz --seconds $(FUZZ_SECONDS) --seed $(FUZZ_SEED)

soak: $(TESTING) ## Run the service under mixed and hostile load (SOAK_MINUTES=30); print memory and handles
	$(BIN)/python -m tests.faults.soak --minutes $(SOAK_MINUTES) --results research/results/faults/soak.json

lock: $(CREATED) ## Write locks/ and constraints.txt anew from pyproject.toml (delete a line of constraints.txt to upgrade)
	$(PIP_INSTALL) uv
	$(LOCK) pyproject.toml locks/build.in -o locks/core.txt
	$(LOCK) $(call extras,$(EXTRAS)) $(call but,core) pyproject.toml -o locks/run.txt
	$(LOCK) $(call extras,$(TEST_EXTRAS),docs) $(call but,core run) pyproject.toml locks/audit.in -o locks/test.txt
	$(LOCK) $(call extras,$(SPARK_EXTRAS)) $(call but,core run test) pyproject.toml -o locks/spark.txt
	{ grep '^#' constraints.txt; grep '^torch==' constraints.txt; \
	  sed -nE 's/^([a-z0-9._-]+==[^ ;]+).*/\1/p' locks/*.txt | sort -u; } > constraints.new
	mv constraints.new constraints.txt

audit: $(CREATED) ## Look for known holes in everything that is locked (asks an advisory service)
	$(PIP_INSTALL) pip-audit
	@$(call looked_up,-r constraints.txt)
	@$(call looked_up,--require-hashes $(foreach lock,core run test spark,-r locks/$(lock).txt))

docs: $(CREATED) ## Build the documentation into site/
	$(LOCKED) -r locks/core.txt -r locks/run.txt -r locks/test.txt
	$(PIP_INSTALL) torch
	$(OWN)
	$(BIN)/zensical build
	find research/results -name '*.svg' | tar -cf - -T - | tar -xf - -C site  # plots that pages show

notebooks: $(TESTING) ## Run the notebooks of docs/ and write what they show
	$(BIN)/jupyter execute --inplace docs/notebooks/*.ipynb

clean: ## Remove what the other targets made
	rm -rf $(VENV) build dist site fuzz-findings .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache .coverage
	find src tests research -name __pycache__ -type d -prune -exec rm -rf {} +

$(CREATED):
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(CORE): $(CREATED) $(REQUIREMENTS)
	$(LOCKED) -r locks/core.txt
	$(OWN)
	@touch $@

$(RUNNING): $(CREATED) $(REQUIREMENTS)
	$(LOCKED) -r locks/core.txt -r locks/run.txt
	$(PIP_INSTALL) torch
	$(OWN)
	@touch $@

$(TESTING): $(CREATED) $(REQUIREMENTS)
	$(LOCKED) -r locks/core.txt -r locks/run.txt -r locks/test.txt
	$(PIP_INSTALL) torch
	$(OWN)
	@touch $@ $(RUNNING)

$(SPARK): $(TESTING)
	$(LOCKED) -r locks/spark.txt
	@if ! command -v java && [ "$$(id -u)" = 0 ] && command -v apt-get; then \
	  export DEBIAN_FRONTEND=noninteractive; \
	  apt-get update && apt-get install -y --no-install-recommends default-jre-headless || true; \
	fi >/dev/null 2>&1
	@command -v java >/dev/null || echo "No java: the Spark tests will be skipped."
	@touch $@

# Playwright's own browser comes from a host that is often out of reach; Debian's chromium serves as well.
# Tried once; without it the browser tests skip.
$(BROWSER): $(CREATED)
	@if ! command -v chromium && [ "$$(id -u)" = 0 ] && command -v apt-get; then \
	  export DEBIAN_FRONTEND=noninteractive; \
	  apt-get update && apt-get install -y --no-install-recommends chromium || true; \
	fi >/dev/null 2>&1
	@command -v chromium >/dev/null || echo "No chromium: the browser tests will be skipped."
	@touch $@
