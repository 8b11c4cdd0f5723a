# The one list of what can be done here. `make` alone prints it.
# Needs make, and Python 3.11 or newer with its venv module; everything else goes into .venv.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input -qq
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header

# The interpreter for .venv: the first of these that is new enough. `make setup PYTHON=...` overrules.
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c '$(NEW_ENOUGH)' >/dev/null 2>&1 && echo $$p && break; done)

# Where the core ends: these folders are held to the overall floor only.
EDGES := */lockstitch/__main__.py,*/lockstitch/cli/*,*/lockstitch/testing/*,*/lockstitch/integrations/*
CORE_FLOOR := 100
OVERALL_FLOOR := 90

.PHONY: help
help: ## Print this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

.PHONY: setup
setup: $(VENV)/.project ## Make .venv from the hash-pinned files (again only when they change)
	@:

$(VENV)/.requirements: requirements/dev.txt
	@if [ -z "$(PYTHON)" ]; then \
		echo "Lockstitch needs Python 3.11 or newer, and python3 here is $$(python3 --version 2>&1)." >&2; \
		echo "Install a newer one, or name it: make setup PYTHON=/path/to/python3.11" >&2; exit 1; fi
	@$(PYTHON) -c '$(NEW_ENOUGH)' || { echo "$(PYTHON) is older than Python 3.11." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "$(PYTHON) cannot make environments; on Debian install the package python3-venv." >&2; exit 1; }
	@echo "setup: making $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv --clear $(VENV)
	@echo "setup: installing requirements/dev.txt (hash-pinned)"
	@$(PIP) install --require-hashes -r requirements/dev.txt
	@touch $@

$(VENV)/.project: $(VENV)/.requirements pyproject.toml
	@echo "setup: installing lockstitch itself, editable"
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

.PHONY: demo
demo: setup ## Show what Lockstitch does, in the terminal
	@$(BIN)/lockstitch demo

.PHONY: check
check: setup ## Lint, formatting, types, and who imports whom
	@echo "check: ruff"
	@$(BIN)/ruff check --quiet
	@$(BIN)/ruff format --check --quiet || { $(BIN)/ruff format --check; exit 1; }
	@echo "check: mypy"
	@$(BIN)/mypy --no-error-summary
	@echo "check: pyright"
	@$(BIN)/pyright --warnings
	@echo "check: import contracts"
	@$(BIN)/lint-imports --no-logo

.PHONY: test
test: setup check ## Check, then every test but the long ones, with coverage
	@echo "test: pytest"
	@$(BIN)/pytest -q -n auto --dist worksteal --cov --cov-report=
	@echo "test: the core is covered to $(CORE_FLOOR) %"
	@$(BIN)/coverage report --omit='$(EDGES)' --fail-under=$(CORE_FLOOR)
	@echo "test: everything is covered to $(OVERALL_FLOOR) %"
	@$(BIN)/coverage report --fail-under=$(OVERALL_FLOOR)

.PHONY: test-long
test-long: setup ## The long tests: far searches by Hypothesis, and what takes minutes
	@HYPOTHESIS_PROFILE=long $(BIN)/pytest -q -n auto -m long || { \
		code=$$?; [ $$code -eq 5 ] || exit $$code; echo "test-long: no test is marked long"; }

.PHONY: test-servers
test-servers: setup ## 5,000 broken histories a provider: real SDK clients against the strict servers
	@$(BIN)/python tests/service/matrix.py

.PHONY: test-seeds
test-seeds: ## The published tests of the systems that Lockstitch stands in for, against Lockstitch
	@tests/seeds/run.sh

.PHONY: approve
approve: setup ## Tell the accounts of broken histories anew, to be read and committed
	@$(BIN)/python tests/conformance/accounts.py

.PHONY: mutate
mutate: setup ## Change pairing, grouping, checks and repair line by line: do the tests notice?
	@$(BIN)/mutmut run
	@$(BIN)/mutmut results

.PHONY: bench
bench: setup ## Measure against a bare Python walk and against other libraries
	@bench/run.sh

.PHONY: bench-validity
bench-validity: setup ## What providers refuse after our and other libraries' trim and repair
	@bench/validity.sh

.PHONY: bench-stores
bench-stores: ## Measure stores beside bare clients and other libraries (QUICK=1: a quick look)
	@bench/stores.sh $(if $(QUICK),--quick)

.PHONY: docs
docs: setup ## Build the documentation into site/
	@echo "docs: building site/"
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

.PHONY: lock
lock: setup ## Write the hash-pinned files anew from pyproject.toml and dev.in
	@echo "lock: requirements/runtime.txt"
	@$(COMPILE) --upgrade pyproject.toml -o requirements/runtime.txt
	@echo "lock: requirements/dev.txt"
	@$(COMPILE) --upgrade pyproject.toml requirements/dev.in -o requirements/dev.txt

.PHONY: clean
clean: ## Remove everything that these targets make
	@rm -rf $(VENV) mutants .venv-bench .venv-bench-stores .venv-bench-validity .venv-bench-semantic-kernel .venv-seeds site dist build .hypothesis .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
	@rm -f .coverage .coverage.*
	@find src tests bench -name __pycache__ -type d -prune -exec rm -rf {} +
