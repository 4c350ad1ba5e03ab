# Five commands, for people and CI alike. Each makes its own .venv first, so the first one takes a few minutes.

PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test check bench clean

demo: .venv/ready          ## what Ramify does, on the treebank that comes with it
	$(BIN)/ramify demo

test: .venv/ready          ## the whole test suite
	$(BIN)/pytest

check: .venv/ready         ## lint, format, types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/ready         ## speed tables, side by side with peers
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[bench]'
	$(BIN)/python -m bench

clean:                     ## forget the environment and every cache
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Ramify needs Python 3.11 or later; try: make PYTHON=python3.12")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@
