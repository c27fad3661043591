# A fresh machine needs Python 3.11 or later, make and a package index; nothing else.
PYTHON ?= python3
BIN := .venv/bin
# Each test process on one core: threads of the linear algebra would fight over them.
ALONE := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1

.PHONY: setup demo test test-all lint bench experiments clean

setup: .venv/.installed

.venv/.installed: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

.venv/.installed-test: .venv/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[test]"
	touch $@

.venv/.installed-bench: .venv/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[bench]"
	touch $@

demo: setup
	$(BIN)/lacunet demo

lint: .venv/.installed-test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint
	$(ALONE) $(BIN)/pytest -n auto

test-all: lint
	$(ALONE) $(BIN)/pytest -n auto -m "slow or not slow"

bench: .venv/.installed-bench
	$(BIN)/python benchmarks/run.py

# Runs, or finishes, what docs/experiments.md shows, and puts the tables into it: some hours.
experiments: .venv/.installed-test
	$(ALONE) $(BIN)/python docs/make_experiments.py experiments --run

clean:
	rm -rf .venv build dist demo-output .mypy_cache .pytest_cache .ruff_cache .hypothesis
