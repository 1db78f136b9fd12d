PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: demo test lint bench clean

demo: $(READY)  ## solve an arm, print how it went, draw it to demo.png
	$(BIN)/python examples/01_reach.py
	$(BIN)/python examples/02_chain.py
	$(BIN)/python examples/03_robots.py

test: lint  ## everything that must hold
	$(BIN)/python -m pytest

lint: $(READY)
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(READY)  ## speed and success beside the rivals, each installed in its own environment
	$(BIN)/python -m benchmarks

clean:
	rm -rf .venv .bench .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache demo.png

$(READY): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,plot,reach,cluster]'
	touch $@
