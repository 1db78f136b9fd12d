PYTHON ?= python3
BIN := .venv/bin
# Python compiles what it imports; pip would compile every file of every package.
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
# Stamps: what the demo needs is installed, what compiles the kernels, and what tests and tools need.
READY := .venv/.ready
JIT := .venv/.jit
DEV := .venv/.dev
DOCS := .venv/.docs
# Extras that are tested where they are installed: all but the GPU.
EXTRAS := plot view reach cluster parquet mjcf jit geometry
ALL := $(shell echo $(EXTRAS) | tr ' ' ,)
# Where make smoke looks for a wheel.
DIST ?= dist
SITE := docs/_build/html
# One worker more than cores, up to four: tests of the page and of processes often wait. A file is
# tested by one worker, because tests of the page follow one another.
WORKERS = $(shell $(PYTHON) -c 'import os; print(min(4, os.cpu_count() + 1))')
PYTEST = $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder --durations 10
# Test files that need neither a fuzzer nor another library to compare with.
LOWEST := tests/test_solve.py tests/test_batch.py tests/test_track.py tests/test_plot.py tests/cli tests/reach/test_map.py

# What links for other systems, pinned; 100 MB.
ZIG := ziglang==0.17.0

# A process that may not keep bytecode parses every library again, and tests start two hundred of them.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-long test-lowest test-machines native docs figures dist wheels smoke browser lint bench mutants clean

demo: $(READY)  ## a solve, a batch with its rate, a picture in demo.png, and how to open the page
	$(BIN)/jointwise demo

# What tests need, made at the same time: each leaves a core idle for a part of its time.
NEEDED := lint native $(if $(filter true,$(CI)),browser)

test:  ## everything that must hold, in less than nine minutes on two cores from a fresh clone
	$(MAKE) -j3 $(NEEDED)
	$(PYTEST)

test-long:  ## also the tests that take long, and eight times as many examples of each law
	$(MAKE) -j3 $(NEEDED)
	$(PYTEST) -m 'long or not long' --hypothesis-profile=long

test-lowest:  ## the tests that need no tool, with the lowest versions that pyproject.toml allows
	$(PYTHON) -m venv --clear .venv-lowest
	$(PYTHON) tools/lowest_versions.py $(EXTRAS) > .venv-lowest/lowest.txt
	.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint .venv-lowest/lowest.txt '.[$(ALL)]' pytest hypothesis example-robot-data
	.venv-lowest/bin/python -m pytest -q -p no:cacheprovider -W default $(LOWEST)  # old libraries warn of each other

test-machines: $(DEV) native  ## the same bits in the libraries of other machines, by qemu, wine and Node
	$(PIP) '$(ZIG)'
	$(BIN)/python -m tools.machines

# Runs while the rest is installed, which replaces jointwise: hence the path.
native: $(JIT)  ## the native library, built again if the kernels have changed
	PYTHONPATH=src $(BIN)/python -m jointwise.kernels.native.build

docs: $(DOCS) native $(if $(filter true,$(CI)),browser)  ## the site, strict, in docs/_build/html
	$(PIP) '$(ZIG)'
	$(BIN)/python tools/front_page.py docs/_build/live
	$(BIN)/python -m sphinx -b html -W -n --keep-going -d docs/_build/doctrees docs $(SITE)
	$(BIN)/python tools/check_site.py $(SITE)
	$(BIN)/python tools/check_front_page.py $(SITE)

figures: $(DEV) native  ## the pictures that are kept in docs/images
	$(BIN)/python examples/06_retargeting.py docs/images
	$(BIN)/python examples/08_sweeps.py docs/images
	$(BIN)/python docs/figures/method.py
	$(BIN)/python docs/figures/reach.py
	$(BIN)/python docs/figures/obstacles.py
	$(BIN)/python docs/figures/plan.py
	$(BIN)/python docs/figures/seam.py

dist: $(DEV)  ## sdist and the wheel of this machine, in dist
	$(PIP) build
	$(BIN)/python -m build --outdir dist

wheels: $(JIT)  ## sdist, and the wheels of all machines, in dist
	$(PIP) '$(ZIG)' build hatchling
	$(BIN)/python -m build --sdist --no-isolation --outdir dist
	$(BIN)/python tools/wheels.py dist

smoke:  ## the wheel in DIST, installed in clean environments: alone, with each extra, and with all
	for extras in '' $(EXTRAS) $(ALL); do \
		$(PYTHON) -m venv --clear .venv-smoke && \
		python=$$(ls .venv-smoke/bin/python .venv-smoke/Scripts/python.exe 2>/dev/null) && \
		$$python -m pip install --quiet --disable-pip-version-check --find-links $(DIST) "jointwise[$$extras]" && \
		$$python -I tools/smoke_test.py $$(echo $$extras | tr ',' ' ') || exit 1; done

browser:  ## Chromium for the tests of the page; without it, they are skipped
	command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
		apt-get update -qq && apt-get install -y -qq chromium >/dev/null; } || \
		echo 'no chromium: the tests of the page in a browser are skipped'

lint: $(DEV)
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(DEV) native  ## speed and success beside the rivals, each installed in its own environment
	$(BIN)/python -m benchmarks

MODULE ?= jointwise.reach.grid
mutants: $(DEV) native  ## mutation tests of MODULE=jointwise.reach.grid and the like; takes minutes to hours
	$(PIP) --target .bench/mutants 'mutmut==3.8.0' 'pytest==8.4.2'
	PYTHONPATH=.bench/mutants $(BIN)/python -m mutmut run '$(MODULE)*'

clean:
	rm -rf .venv .venv-lowest .venv-smoke .bench .machines .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache demo.png pictures .screenshots mutants dist docs/_build docs/gallery docs/reference/api docs/reference/api.rst src/jointwise/kernels/native/_native.*

$(READY): pyproject.toml
	$(PYTHON) -m venv .venv
	@echo 'installing; where there is a C compiler, the kernels are compiled, one to two minutes'
	$(PIP) --editable '.[plot,view,jit]'
	touch $@

$(JIT): pyproject.toml
	$(PYTHON) -m venv .venv
	JOINTWISE_KERNELS=none $(PIP) --editable '.[jit]'
	touch $@

$(DEV): $(JIT)
	JOINTWISE_KERNELS=none $(PIP) --editable '.[dev,plot,view,reach,cluster]'
	touch $@

$(DOCS): $(DEV)
	$(PIP) --editable '.[docs]'
	touch $@
