# A fresh machine needs Python 3.11 or later, make and a package index; nothing else.
PYTHON ?= python3
BIN := .venv/bin
# Each test process on one core: threads of the linear algebra would fight over them.
ALONE := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1

.PHONY: setup demo test test-all test-oldest test-newest test-spark lint bench browser postgresql docs fuzz studies clean

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

.venv/.installed-docs: .venv/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[docs]"
	touch $@

# Real incomplete tables for the slow tests; HouseVotes84 is in a package of Debian's.
.venv/.installed-tables: .venv/.installed-test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[tables]"
	mkdir -p .venv/tables
	cd .venv/tables && { apt-get download -qq r-cran-mlbench && dpkg -x r-cran-mlbench*.deb . ; } || \
	echo "no apt-get: HouseVotes84 is not tested"
	touch $@

demo: setup
	$(BIN)/lacunet demo

.PHONY: release-check
# Wheel and sdist are built, and the wheel is installed in an empty environment of every Python named that
# there is, with the core dependencies only: versions, the demonstration, and a query on its files must run.
PYTHONS ?= $(PYTHON) python3.11 python3.12 python3.13 python3.14
release-check: .venv/.installed
	rm -rf dist build/clean
	$(BIN)/python -m pip install --quiet --disable-pip-version-check build
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python scripts/check_release.py dist
	set -e; for python in $(PYTHONS); do \
	  $$python -c "" 2>/dev/null || { echo "no $$python here: not checked"; continue; }; \
	  rm -rf build/clean && $$python -m venv build/clean; \
	  build/clean/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl; \
	  ( cd build/clean && bin/lacunet --version --verbose && bin/lacunet demo && \
	    bin/lacunet query demo-output/learned.json "Disease | Test=positive" ); \
	done

lint: .venv/.installed-test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/mypy --config-file tests/mypy.ini --cache-dir .mypy_cache/tests
	$(BIN)/lint-imports

# Debian's chromium, for the tests of pages; where there is none they are skipped, and say so.
browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || \
	{ test "$$(id -u)" = 0 && command -v apt-get >/dev/null && apt-get update -qq && \
	  apt-get install -y -qq --no-install-recommends chromium >/dev/null; } || \
	echo "no chromium: the tests of pages in a browser are skipped"

# Pages and the studio against axe-core, which npm brings; where there is no npm that is said.
.PHONY: accessibility
accessibility: .venv/.installed-test browser
	@command -v npm >/dev/null || { echo "no npm: accessibility is not checked"; exit 0; } ; \
	mkdir -p build/axe && cd build/axe && \
	{ test -e package/axe.min.js || tar xzf "$$(npm pack --silent axe-core@4)"; } && cd ../.. && \
	$(BIN)/python scripts/check_accessibility.py build/axe/package/axe.min.js

# Debian's PostgreSQL, for a slow test; where there is none it is skipped, and says so.
postgresql:
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null || \
	{ test "$$(id -u)" = 0 && command -v apt-get >/dev/null && apt-get update -qq && \
	  apt-get install -y -qq --no-install-recommends postgresql >/dev/null; } || \
	echo "no PostgreSQL: its tests are skipped"

# Spark asks for another pandas than the other tests, so it has an environment of its own.
.venv-spark/.installed: pyproject.toml
	test -x .venv-spark/bin/python || $(PYTHON) -m venv .venv-spark
	.venv-spark/bin/python -m pip install --quiet --disable-pip-version-check -e ".[spark]" \
	"pyspark[connect]>=4" hypothesis pytest
	touch $@

test: lint browser
	$(ALONE) $(BIN)/pytest -n auto

# The oldest versions that pyproject.toml allows, and the newest there are, of all that the package
# and its extras need: a quick part of the tests in each. Old versions warn of one another.
QUICK := tests/network tests/data tests/counts tests/learning/test_golden.py \
  tests/learning/test_learn.py tests/test_every_method.py tests/cli/test_cli.py tests/missingness \
  tests/inference tests/test_plots.py tests/test_sklearn.py
RUNNERS := pytest>=8.3 hypothesis>=6.112
TABLES := pandas polars duckdb

test-oldest:
	test -x build/oldest/bin/python || $(PYTHON) -m venv build/oldest
	$(PYTHON) scripts/oldest_versions.py plots sklearn databases $(TABLES) > build/oldest/versions.txt
	build/oldest/bin/python -m pip install --quiet --disable-pip-version-check \
	  -e . -r build/oldest/versions.txt $(foreach one,$(RUNNERS),"$(one)")
	$(ALONE) build/oldest/bin/python -m pytest -W ignore::DeprecationWarning $(QUICK)

test-newest:
	test -x build/newest/bin/python || $(PYTHON) -m venv build/newest
	build/newest/bin/python -m pip install --quiet --disable-pip-version-check --upgrade \
	  --upgrade-strategy eager -e ".[plots,sklearn,databases]" $(TABLES) $(foreach one,$(RUNNERS),"$(one)")
	$(ALONE) build/newest/bin/python -m pytest $(QUICK)

test-all: lint browser postgresql .venv/.installed-tables test-oldest test-newest
	$(ALONE) $(BIN)/pytest -n auto -m "slow or not slow" --cov=lacunet --cov-report=term:skip-covered
	$(MAKE) test-spark

# Needs Java; the tests are skipped where Spark cannot be installed, and say so.
test-spark:
	command -v java >/dev/null && $(MAKE) .venv-spark/.installed || \
	{ echo "no Java or no PySpark: Spark is not tested"; exit 0; } ; \
	test ! -e .venv-spark/.installed || $(ALONE) .venv-spark/bin/python -m pytest \
	-m "slow or not slow" tests/counts/test_spark.py tests/test_every_path.py -k "spark or Spark"

bench: .venv/.installed-bench
	$(BIN)/python benchmarks/run.py

docs: .venv/.installed-docs
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going docs build/docs

# Damaged files: FILES network files, a tenth as many data files;
# SEED for other ones.
FILES ?= 100000
SEED ?= 0
fuzz: .venv/.installed-test
	$(ALONE) $(BIN)/python fuzz/run.py networks --files $(FILES) --seed $(SEED)
	$(ALONE) $(BIN)/python fuzz/run.py data --files $$(($(FILES) / 10)) --seed $(SEED)

# Runs, or finishes, all that studies/pages/paper.md shows, and writes it: many hours. GRID is a file with
# the network Grid 90-20-1; without it, a grid made by the same recipe takes its place.
GRID ?=
studies: .venv/.installed-test
	$(BIN)/python -m studies all $(if $(GRID),--grid $(GRID))
	$(BIN)/python -m studies page

clean:
	rm -rf .venv .venv-spark build dist demo-output .mypy_cache .pytest_cache .ruff_cache .hypothesis
