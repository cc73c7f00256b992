# The house's outside. Every target makes the environment it needs; a second run finds it ready.
#
#   make demo        RankSVM beside LinearSVC on bundled data
#   make test        all that CI runs, the slow tests left out
#   make test-all    the slow tests, a data-race check of the core, and the packages too
#   make bench       benchmarks against the peers (builds dlib once: about ten minutes)
#   make lint        style and types          make format   put the style right
#   make docs        the documentation site, into build/site
#   make stubs       write _core.pyi anew     make dist     sdist and wheel, tried in an empty environment
#   make clean
#
# PYTHON=python3.12 chooses the interpreter (the environment is made anew for it).
# PYTEST_ARGS="-k staircase -x" is handed to pytest.

PYTHON      ?= python3
VENV        ?= .venv
BENCH_VENV  ?= .bench-venv
PYTEST_ARGS ?=
BENCH_ARGS  ?=

BIN        := $(abspath $(VENV))/bin
BENCH_BIN  := $(abspath $(BENCH_VENV))/bin
PY_VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])')
# Folders are listed too: a file that goes away changes only its folder.
SOURCES    := $(shell find src cpp/include cpp/src cpp/bindings -not -name __pycache__ -not -name '*.pyc') \
              CMakeLists.txt pyproject.toml
INSTALL    := -C cmake.define.RANKCUT_WERROR=ON -C build-dir=build
PIP        := -m pip --disable-pip-version-check --quiet
BASE       := $(VENV)/.python-$(PY_VERSION)
BENCH_BASE := $(BENCH_VENV)/.python-$(PY_VERSION)

.PHONY: help demo test test-all bench lint style types format core core-sanitize core-threads docs pytest pytest-all \
  pytest-sanitize stubs dist clean
.NOTPARALLEL:
.DELETE_ON_ERROR:

help:
	@sed -n 's/^#   //p' Makefile

demo: $(VENV)/.installed
	$(BIN)/rankcut demo

test: lint docs core core-sanitize pytest

test-all: lint docs core core-sanitize core-threads dist pytest-all

bench: $(BENCH_VENV)/.installed
	$(BENCH_BIN)/python -m benchmarks $(BENCH_ARGS)

# --- environments ---------------------------------------------------------------------------------

# `python -m venv`, a pip that knows dependency groups, and what builds us (cmake and ninja included).
$(BASE) $(BENCH_BASE):
	rm -rf $(@D)
	$(PYTHON) -m venv $(@D)
	$(abspath $(@D))/bin/python $(PIP) install --upgrade 'pip>=25.1'
	touch $@

$(VENV)/.built-with: $(BASE) pyproject.toml
	$(BIN)/python $(PIP) install --group build
	touch $@

# The stamp's time is the start's, so that what is edited during a build is built again.
$(VENV)/.installed: $(VENV)/.built-with $(SOURCES)
	touch $@.started
	PATH="$(BIN):$$PATH" $(BIN)/python $(PIP) install --no-build-isolation $(INSTALL)/{wheel_tag} '.[cli]'
	mv $@.started $@

$(VENV)/.tested-with: $(VENV)/.built-with
	$(BIN)/python $(PIP) install --group test
	touch $@

$(BENCH_VENV)/.peers: $(BENCH_BASE) pyproject.toml
	$(BENCH_BIN)/python $(PIP) install --group build
	PATH="$(BENCH_BIN):$$PATH" $(BENCH_BIN)/python $(PIP) install --group bench
	touch $@

$(BENCH_VENV)/.installed: $(BENCH_VENV)/.peers $(SOURCES)
	touch $@.started
	PATH="$(BENCH_BIN):$$PATH" $(BENCH_BIN)/python $(PIP) install --no-build-isolation $(INSTALL)/bench-{wheel_tag} .
	mv $@.started $@

# --- style and types ------------------------------------------------------------------------------

lint: style types

style: $(VENV)/.tested-with
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/.tested-with $(VENV)/.installed
	$(BIN)/mypy

format: $(VENV)/.tested-with
	$(BIN)/ruff check --fix --exit-zero --quiet
	$(BIN)/ruff format

# --- the documentation site -------------------------------------------------------------------------

$(VENV)/.documented-with: $(VENV)/.built-with
	$(BIN)/python $(PIP) install --group docs
	touch $@

# The notice that the environment switches off is about a future version of the generator.
docs: $(VENV)/.documented-with
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

# --- the core, without Python -----------------------------------------------------------------------

# $(call run-core,folder,sanitizer)
define run-core
	PATH="$(BIN):$$PATH" cmake -S . -B build/$(1) -G Ninja --log-level=WARNING \
	  -DRANKCUT_TESTS=ON -DRANKCUT_WERROR=ON -DRANKCUT_SANITIZE=$(2)
	PATH="$(BIN):$$PATH" cmake --build build/$(1)
	build/$(1)/rankcut_tests
endef

core: $(VENV)/.built-with
	$(call run-core,core,OFF)

core-sanitize: $(VENV)/.built-with
	$(call run-core,core-sanitize,ON)

core-threads: $(VENV)/.built-with
	$(call run-core,core-threads,thread)

# --- the package ------------------------------------------------------------------------------------

pytest: $(VENV)/.tested-with $(VENV)/.installed
	$(BIN)/python -m pytest --durations=5 -m "not slow" $(PYTEST_ARGS)

pytest-all: $(VENV)/.tested-with $(VENV)/.installed
	$(BIN)/python -m pytest --durations=5 $(PYTEST_ARGS)

# The extension with address and undefined-behaviour sanitizers (of GCC), under the tests that drive it hardest: they
# know many more cases than the core's own.
SANITIZED  := build/sanitized
HARD_TESTS := $(addprefix tests/,property/test_oracles.py property/test_preference.py property/test_graph.py \
              property/test_bags.py property/test_qp.py property/test_svmlight.py contract/test_losses.py)

pytest-sanitize: $(VENV)/.tested-with
	PATH="$(BIN):$$PATH" $(BIN)/python $(PIP) install --no-build-isolation --no-deps --upgrade --target $(SANITIZED) \
	  -C build-dir=build/sanitized-objects -C cmake.define.RANKCUT_SANITIZE=ON -C install.strip=false .
	LD_PRELOAD="$$(g++ -print-file-name=libasan.so) $$(g++ -print-file-name=libubsan.so)" ASAN_OPTIONS=detect_leaks=0 \
	  PYTHONPATH=$(SANITIZED) $(BIN)/python -m pytest -m "not slow" $(HARD_TESTS) $(PYTEST_ARGS)

stubs: $(VENV)/.tested-with $(VENV)/.installed
	$(BIN)/python tools/stubs.py
	@$(MAKE) --no-print-directory $(VENV)/.installed

# As a user gets it: isolated builds, an sdist, a wheel from that sdist, an empty environment.
dist: $(VENV)/.built-with
	rm -rf dist build/try
	$(BIN)/python $(PIP) install --group dist
	$(BIN)/python -m build --outdir dist .
	$(PYTHON) -m venv build/try
	build/try/bin/python $(PIP) install dist/rankcut-*.whl
	build/try/bin/python tools/smoke.py

clean:
	rm -rf $(VENV) $(BENCH_VENV) build dist wheelhouse .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
