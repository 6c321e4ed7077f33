# bench   race the reduction ladder and write build/bench.json
# test    lint and suite: WARPGLASS_TESTS=quick (the default; at most 5 minutes on 2 cores) runs every test
#         function but the slowest, with a sample of its cases, another each day; ci (at most 12 minutes, empty
#         caches and lint included) larger samples; slow tests have their turns; full everything (tests/levels.py)
# suite   the tests
# lint    ruff, pyright, import directions
# docs    build/docs/index.html: the site of docs/, whose every link has to lead somewhere
#
# Everything runs in .venv, which is made on first use. The stamps are older than pyproject.toml only after a
# change of dependencies: then, and only then, pip runs again. The package is installed in place (editable).

VENV    := .venv
BIN     := $(VENV)/bin
# A worker takes neighbours, so that what tests of a file share is made once.
PYTEST_ARGS ?= -n 2 --dist worksteal -q
BENCH_ARGS  ?=
# While pyright has one core, the tests have the other.
MAKEFLAGS   += --jobs=2
# Tests start hundreds of processes, each of which would compile our modules anew where containers' images say so.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: bench test suite lint docs
.DELETE_ON_ERROR:

bench: $(VENV)/.installed
	@mkdir -p build
	$(BIN)/warpglass bench reduction --json build/bench.json $(BENCH_ARGS)

test: lint suite

suite: $(VENV)/.installed-dev
	$(BIN)/python -m pytest $(PYTEST_ARGS)

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	NODE_OPTIONS=--max-semi-space-size=128 $(BIN)/pyright # whose garbage is young: a tenth less time
	$(BIN)/python -m pytest -q tests/test_import_direction.py

docs: $(VENV)/.installed-docs
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --jobs auto docs build/docs

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-docs: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@ $(VENV)/.installed

# A shim of pyenv may exist and fail, and Debian splits ensurepip off: take the first Python that has all we need.
$(BIN)/python:
	@found=; \
	for candidate in python3.13 python3.12 python3.11 python3 python; do \
		if $$candidate -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' 2>/dev/null; then \
			found=$$candidate; \
			if $$candidate -c 'import ensurepip, venv' 2>/dev/null; then \
				echo "making $(VENV) with $$candidate" >&2; \
				exec $$candidate -m venv $(VENV); \
			fi; \
		fi; \
	done; \
	if [ -n "$$found" ]; then \
		echo "error: $$found cannot make virtual environments, since its ensurepip module is missing." >&2; \
		echo "       Debian and Ubuntu: apt install python3-venv" >&2; \
	else \
		echo "error: warpglass needs Python 3.11, 3.12 or 3.13, and none of python3.13, python3.12," >&2; \
		echo "       python3.11, python3 and python is one." >&2; \
	fi; \
	exit 1
