# Needs make and Python 3.11 or newer with venv; everything else goes into .venv.
# Another Python: make PYTHON=python3.13 demo. One test file: make test PYTEST_ARGS=tests/test_rows.py

PYTHON ?= python3
PYTEST_ARGS ?=

BIN := .venv/bin
DOCS_STAMP := .venv/.installed-docs
STAMP := .venv/.installed
LAMDA := .venv-lamda/bin/python
# Two test processes with one BLAS thread each; a test about threads sets its own number.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 VECLIB_MAXIMUM_THREADS=1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install demo test lint dist bench bench-peers bench-scale clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

install: $(STAMP) ## build .venv with semisquares and its development tools

demo: $(STAMP) ## a table with missing labels from question to predictions, then the paper in short
	@PATH="$(abspath $(BIN)):$$PATH"; set -ex; \
	semisquares example demo/pumps; \
	semisquares compare demo/pumps/pumps.csv --target bearing -o demo/pumps/report.html; \
	semisquares fit demo/pumps/pumps.csv --target bearing -o demo/pumps/bearing.model; \
	semisquares predict demo/pumps/bearing.model demo/pumps/new_rows.csv -o demo/pumps/predicted.csv; \
	semisquares predict demo/pumps/bearing.model demo/pumps/pumps.csv --only-missing -o demo/pumps/filled.csv; \
	semisquares inspect demo/pumps/bearing.model; \
	semisquares reproduce all --preset quick --out demo/paper
	@echo "Pages to look at: demo/pumps/report.html and demo/paper/report.html"

.PHONY: docs
docs: $(DOCS_STAMP) ## build the site into docs/_build/html, its gallery included
	$(ONE_THREAD) $(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --nitpicky \
	  --doctree-dir docs/_build/doctrees docs docs/_build/html
	@echo "Page to look at: docs/_build/html/index.html"

test: lint ## lint, then run the tests and the doctests
	$(ONE_THREAD) $(BIN)/python -m pytest -n 2 $(PYTEST_ARGS)

lint: $(STAMP) ## check style, format, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy src
	$(BIN)/lint-imports --no-logo

dist: $(STAMP) ## build sdist and wheel into dist/, and try them in a clean environment elsewhere
	@rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(ONE_THREAD) $(BIN)/python tools/try_dist.py dist

bench: $(STAMP) ## run the benchmarks
	@$(BIN)/python -m benchmarks

bench-scale: $(STAMP) ## run that of more rows than memory: 8 GB of files, half an hour on two cores
	@$(ONE_THREAD) $(BIN)/python -m benchmarks scale

bench-peers: $(STAMP) $(LAMDA) ## compare with peers: hours, and it goes on where it was stopped; its last part wants a quiet machine
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --editable '.[peers]'
	@$(ONE_THREAD) $(BIN)/python -m benchmarks.peers accuracy --out build/peers --python lamda=$(LAMDA)
	@$(ONE_THREAD) $(BIN)/python -m benchmarks.peers cost --out build/peers --python lamda=$(LAMDA)
	@$(BIN)/python -m benchmarks.peers pages --out build/peers

clean: ## remove caches and build output, keep .venv
	rm -rf build demo dist htmlcov .coverage .coverage.* .hypothesis
	rm -rf docs/_build docs/api/generated docs/api/used_in docs/gallery
	rm -rf .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name .venv -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

$(LAMDA): benchmarks/peers/lamda.txt
	@$(PYTHON) -m venv --clear .venv-lamda
	@.venv-lamda/bin/pip install -qq --disable-pip-version-check -r benchmarks/peers/lamda.txt
	@.venv-lamda/bin/pip install -qq --disable-pip-version-check --no-deps LAMDA-SSL==1.0.2

$(STAMP): pyproject.toml | $(BIN)/python
	@echo "Installing semisquares and its tools into .venv (once, and when pyproject.toml changes)"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --editable '.[dev]'
	@touch $@

$(DOCS_STAMP): $(STAMP)
	@echo "Installing Sphinx and what it needs into .venv (once, and when pyproject.toml changes)"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --editable '.[docs]'
	@touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  found=$$($(PYTHON) --version 2>/dev/null) || found="nothing that runs"; \
	  echo "semisquares needs Python 3.11 or newer with its venv module; '$(PYTHON)' is $$found:" \
	    "install python3 and python3-venv, or name another one, as in 'make PYTHON=python3.13 demo'." >&2; \
	  exit 1; }
	@$(PYTHON) -m venv --clear .venv || { rm -rf .venv; exit 1; }
