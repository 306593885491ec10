# Needs make and Python 3.11 or newer with venv; everything else goes into .venv.
# Another Python: make PYTHON=python3.13 demo. One test file: make test PYTEST_ARGS=tests/core/test_rows.py

PYTHON ?= python3
PYTEST_ARGS ?=
# How many problems test-generated fits.
PROBLEMS ?= 20000
# The version that `make release` makes, and the tag whose files `make dist` checks.
RELEASE ?=
TAG ?=
# test-oldest runs with this Python, the oldest that pyproject.toml allows.
OLDEST_PYTHON ?= python3.11

# Windows has no bin in an environment; there, make needs the sh of Git on the PATH.
SCRIPTS := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
BIN := .venv/$(SCRIPTS)
# The version of the Python that was named or, if none was, of the .venv that is there. It is part
# of the names of the stamps: a .venv of another version has none of them and is built again.
$(shell test -x $(BIN)/python || rm -f .venv/.python-* .venv/.installed-*)
VERSION_OF = $(shell $(1) -c 'import sys; sys.stdout.write("{}.{}".format(*sys.version_info))' 2>/dev/null)
VERSION := $(if $(filter file,$(origin PYTHON)),$(call VERSION_OF,$(BIN)/python))
VERSION := $(or $(VERSION),$(call VERSION_OF,$(PYTHON)))
VENV := .venv/.python-$(VERSION)
STAMP := .venv/.installed-$(VERSION)
DOCS_STAMP := .venv/.installed-docs-$(VERSION)
OLDEST := .venv-oldest/.installed
LAMDA := .venv-lamda/$(SCRIPTS)/python
# Two test processes with one BLAS thread each; a test about threads sets its own number.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 VECLIB_MAXIMUM_THREADS=1
# Bytecode is kept even if the environment forbids it, as images for containers do: without it, both
# test processes and each command that a test starts compile everything again.
KEEP_BYTECODE := PYTHONDONTWRITEBYTECODE=
# Tests and the commands that they start exchange text in UTF-8, also on Windows.
export PYTHONUTF8 := 1
# pip compiles what it has installed file by file; two processes take half the time for it.
COMPILE := import compileall, sysconfig; \
  compileall.compile_dir(sysconfig.get_path("purelib"), quiet=2, workers=2)
# A process that has run its tests takes over some of the other's.
TWO_AT_ONCE := -n 2 --dist worksteal
# What test-stranger looks for in a test file, and a proxy where nothing listens.
USES_DATA := 'reference|datasets import|DATASETS|FIGURES|inputs_of|sets\.(table|draw)'
NOWHERE := http://127.0.0.1:9

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install demo test pytest test-slow test-stranger test-oldest test-generated lint
.PHONY: mutants dist dist-everywhere release stored bench bench-peers bench-scale clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

install: $(STAMP) ## build .venv with semisquares and its development tools

demo: $(STAMP) ## a table with missing labels from question to predictions, then the paper in short
	@PATH="$$PWD/$(BIN):$$PATH"; set -ex; \
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

test: lint pytest ## lint, then run the tests and the doctests

pytest: $(STAMP) ## run the tests and the doctests, without lint
	$(ONE_THREAD) $(KEEP_BYTECODE) $(BIN)/python -m pytest $(TWO_AT_ONCE) $(PYTEST_ARGS)

test-slow: $(STAMP) ## run the long versions of some tests, which `make test` leaves out
	$(ONE_THREAD) $(KEEP_BYTECODE) $(BIN)/python -m pytest $(TWO_AT_ONCE) -m slow $(PYTEST_ARGS)

# The clone has nothing beside it; what is not committed is not in it.
test-stranger: $(STAMP) ## run the tests that use data sets in a clone, without ../shared and the network
	@set -e; folder=$$(mktemp -d); trap 'rm -rf "$$folder"' EXIT; \
	git clone --quiet . "$$folder/semisquares"; python=$$PWD/$(BIN)/python; cd "$$folder/semisquares"; \
	export PYTHONPATH="$$PWD/src" SCIKIT_LEARN_DATA="$$folder/data" $(ONE_THREAD); \
	export http_proxy=$(NOWHERE) https_proxy=$(NOWHERE) all_proxy=$(NOWHERE); \
	export HTTP_PROXY=$(NOWHERE) HTTPS_PROXY=$(NOWHERE) ALL_PROXY=$(NOWHERE); \
	export no_proxy=localhost,127.0.0.1 NO_PROXY=localhost,127.0.0.1; \
	unset SEMISQUARES_DATA SEMISQUARES_REQUIRE_REFERENCE; \
	"$$python" -m pytest $(TWO_AT_ONCE) $$(grep -rlE --include='test_*.py' $(USES_DATA) tests)

test-oldest: $(OLDEST) ## run the tests with the oldest versions that pyproject.toml allows
	$(ONE_THREAD) .venv-oldest/$(SCRIPTS)/python -m pytest $(TWO_AT_ONCE) $(PYTEST_ARGS)

# An oracle in extended precision against every certificate: ten minutes.
test-generated: $(STAMP) ## fit PROBLEMS generated problems (20,000) and look for false certificates
	@cd tests && $(ONE_THREAD) ../$(BIN)/python -m support.check_generated $(PROBLEMS) --jobs 2

# It goes on where it was stopped. tests/mutants.md lists the survivors.
mutants: $(STAMP) ## change the core in 500 random places, and see whether its tests notice: up to an hour
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --editable '.[mutants]'
	@$(ONE_THREAD) $(BIN)/python tools/mutants.py

lint: $(STAMP) ## check style, format, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	MYPY_NUM_WORKERS=2 $(BIN)/mypy src
	$(BIN)/lint-imports --no-logo

dist: $(STAMP) ## build sdist and wheel into dist/, and try them in a clean environment elsewhere
	@rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(ONE_THREAD) $(BIN)/python tools/try_dist.py dist $(if $(TAG),--tag $(TAG))

dist-everywhere: $(STAMP) ## the same on every Python that is found, and with the oldest dependencies: half an hour
	@rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(ONE_THREAD) $(BIN)/python tools/try_dist.py dist --everywhere

stored: $(STAMP) ## store what later versions must read and keep, in tests/stored
	$(ONE_THREAD) $(BIN)/python tools/store_release.py

release: $(STAMP) ## set the version RELEASE, gather the changelog and store what must be kept
	$(BIN)/python tools/release.py $(RELEASE)
	$(ONE_THREAD) $(BIN)/python tools/store_release.py

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
	@.venv-lamda/$(SCRIPTS)/pip install -qq --disable-pip-version-check -r benchmarks/peers/lamda.txt
	@.venv-lamda/$(SCRIPTS)/pip install -qq --disable-pip-version-check --no-deps LAMDA-SSL==1.0.2

$(OLDEST): pyproject.toml tools/oldest.py
	@echo "Installing the oldest versions that pyproject.toml allows into .venv-oldest"
	@$(OLDEST_PYTHON) -m venv --clear .venv-oldest
	@.venv-oldest/$(SCRIPTS)/python tools/oldest.py > .venv-oldest/oldest.txt
	@.venv-oldest/$(SCRIPTS)/python -m pip install -qq --disable-pip-version-check \
	  --constraint .venv-oldest/oldest.txt --editable '.[test]'
	@touch $@

$(STAMP): pyproject.toml | $(VENV)
	@echo "Installing semisquares and its tools into .venv (once, and when pyproject.toml changes)"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-compile --editable '.[dev]'
	@$(BIN)/python -c '$(COMPILE)'
	@touch $@

$(DOCS_STAMP): $(STAMP)
	@echo "Installing Sphinx and what it needs into .venv (once, and when pyproject.toml changes)"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --editable '.[docs]'
	@touch $@

$(VENV):
	@$(PYTHON) -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  found=$$($(PYTHON) --version 2>/dev/null) || found="nothing that runs"; \
	  echo "semisquares needs Python 3.11 or newer with its venv module; '$(PYTHON)' is $$found:" \
	    "install python3 and python3-venv, or name another one, as in 'make PYTHON=python3.13 demo'." >&2; \
	  exit 1; }
	@$(PYTHON) -m venv --clear .venv || { rm -rf .venv; exit 1; }
	@touch $@
