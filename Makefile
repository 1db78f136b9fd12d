PYTHON ?= python3
BIN := .venv/bin
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Stamps: what the demo needs is installed, and what tests and tools need.
READY := .venv/.ready
DEV := .venv/.dev

.PHONY: demo test native wheel browser lint bench gallery mutants clean

demo: $(READY)  ## a solve, a batch with its rate, a picture in demo.png, and how to open the page
	$(BIN)/jointwise demo

test: lint native browser  ## everything that must hold
	$(BIN)/python -m pytest

native: $(DEV)  ## the native library, built again if the kernels have changed
	$(BIN)/python -m jointwise.kernels.build

wheel: $(DEV)  ## a wheel with the native library, in dist
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .

browser:  ## Chromium for the tests of the page; where it cannot be had, they are skipped
	command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
		apt-get update -qq && apt-get install -y -qq chromium >/dev/null; } || \
		echo 'no chromium: the tests of the page in a browser are skipped'

lint: $(DEV)
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(DEV)  ## speed and success beside the rivals, each installed in its own environment
	$(BIN)/python -m benchmarks

gallery: $(DEV)  ## all pictures of the documentation, and docs/gallery.md
	$(BIN)/python docs/build_gallery.py
	$(BIN)/python docs/build_method_figures.py
	$(BIN)/python docs/build_reach_figure.py

MODULE ?= jointwise.reach.grid
mutants: $(DEV)  ## mutation tests of MODULE=jointwise.solvers.path and the like; takes minutes to hours
	$(PIP) --target .bench/mutants 'mutmut==3.8.0' 'pytest==8.4.2'
	PYTHONPATH=.bench/mutants $(BIN)/python -m mutmut run '$(MODULE)*'

clean:
	rm -rf .venv .bench .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache demo.png pictures .screenshots mutants dist src/jointwise/kernels/_native.*

$(READY): pyproject.toml
	$(PYTHON) -m venv .venv
	@echo 'installing; where there is a C compiler, the kernels are compiled, about a minute'
	$(PIP) --editable '.[plot,view,jit]'
	touch $@

$(DEV): $(READY)
	$(PIP) --editable '.[dev,plot,view,reach,cluster]'
	touch $@
