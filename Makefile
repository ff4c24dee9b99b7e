# `make help` lists what can be made. Needs make, a C++20 compiler and Python 3.11 or newer; cmake, ninja,
# clang-format and the rest come into .venv, in the versions that constraints.txt names.

PYTHON ?= python3
# Processes of the Python tests: auto is one more than cores, two for slow ones; 0 runs them in one process, for a debugger.
PYTEST_JOBS ?= auto

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input
PYTEST := $(BIN)/pytest -q
# A process that has no tests left takes some of another's.
PARALLEL = -n $(PYTEST_JOBS) --dist worksteal
CMAKE := $(BIN)/cmake
# What the build needs; the first two as in pyproject.toml. In the environment rather than in a fresh one for
# each build, so that a rebuild compiles only what has changed.
BUILD_TOOLS := "scikit-build-core>=1.1" "nanobind>=3.1,<4" "cmake>=3.20" ninja

KERNEL := $(shell find kernel -type f)
SOURCES := CMakeLists.txt pyproject.toml README.md LICENSE $(KERNEL) \
           $(shell find src -type f ! -name '*.pyc' ! -name _kernel.pyi)
CPP := $(filter %.cpp %.hpp,$(KERNEL))

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# One target after another, so that `make distclean test` is right; but two where a recipe says so.
ifndef TWO_AT_ONCE
.NOTPARALLEL:
endif
BESIDE := @$(MAKE) -s -j2 TWO_AT_ONCE=1
.PHONY: help demo wheel test quick lint format kernel-tests python-tests compiled sanitize slow docs night soak \
        containers bench screenshots cross lock clean distclean FORCE

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-13s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

WHEELS := dist

wheel: $(VENV)/.build-tools  ## build a wheel in dist/: for every Python from 3.12 on, if made with one of these
	@$(call compile,the kernel) $(PIP) wheel -v --no-deps $(BUILD_KERNEL) --wheel-dir $(WHEELS) .
	@ls $(WHEELS)/*.whl

demo: $(VENV)/.installed  ## install into .venv, enumerate the 8-puzzle, show its job
	$(BIN)/farthest enumerate 8-puzzle
	$(BIN)/farthest jobs

test: $(VENV)/.tested  ## everything that CI runs
	$(BESIDE) lint compiled
	@$(MAKE) -s kernel-tests python-tests sanitize
	@echo "== all passed"

quick: $(VENV)/.tested  ## the fast Python tests only
	@echo "== fast Python tests"
	@$(PYTEST) $(PARALLEL)

# --- environment -------------------------------------------------------------------------------------------

$(VENV)/.created:
	@.ci/check-needs $(PYTHON)
	@echo "== virtual environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.build-tools: $(VENV)/.created constraints.txt
	@echo "== build tools"
	@$(PIP) install -q -c constraints.txt $(BUILD_TOOLS)
	@touch $@

# Changes when a source file is added or removed.
$(VENV)/.sources: $(VENV)/.created FORCE
	@echo '$(sort $(SOURCES))' | cmp -s - $@ || echo '$(sort $(SOURCES))' > $@

# Runs a command that compiles, with the tools of the environment.
compile = PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python .ci/compile.py "$(1)"
# The kernel is compiled once, in one folder: for the package, for the C++ tests, and for a wheel.
BUILD_KERNEL := --no-build-isolation --config-settings=build-dir=build/release --config-settings=cmake.define.FARTHEST_TESTS=ON

# The installed package is what is run and tested, never src/ itself. pip compiles its modules.
$(VENV)/.installed: $(VENV)/.build-tools $(VENV)/.sources $(SOURCES)
	@echo "== install"
	@$(call compile,the kernel) $(PIP) install -v -c constraints.txt $(BUILD_KERNEL) .
	@touch $@

# What tests need besides, and a wheel, whose kernel is compiled while those are fetched. A change of a source file leads
# to a new wheel alone.
$(VENV)/.packages: $(VENV)/.build-tools pyproject.toml
	@echo "== packages for tests"
	@$(BIN)/python -c 'import tomllib; project = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
	  extras = project["optional-dependencies"]; \
	  print(*project["dependencies"], *extras["docs"], *extras["test"], sep="\n")' | \
	  $(call compile,packages) $(PIP) install -c constraints.txt -r /dev/stdin
	@touch $@

$(VENV)/.wheel: $(VENV)/.build-tools $(VENV)/.sources $(SOURCES)
	@rm -rf build/wheel
	@$(call compile,the kernel) $(PIP) wheel -v --no-deps $(BUILD_KERNEL) \
	  --config-settings=cmake.define.FARTHEST_WERROR=ON --wheel-dir build/wheel .
	@touch $@

# The kernel's type stub is made by the build; a copy in src/ is for mypy and editors.
$(VENV)/.tested: $(VENV)/.build-tools $(VENV)/.sources $(SOURCES)
	$(BESIDE) $(VENV)/.packages $(VENV)/.wheel
	@$(PIP) install -q --no-deps --force-reinstall build/wheel/*.whl
	@cp "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("platlib"))')/farthest/_kernel.pyi" src/farthest/
	@touch $(VENV)/.installed $@

# --- checks ------------------------------------------------------------------------------------------------

lint: $(VENV)/.tested  ## ruff, clang-format, mypy
	@echo "== ruff"
	@$(BIN)/ruff check -q .
	@$(BIN)/ruff format -q --check .
	@echo "== clang-format"
	@$(BIN)/clang-format --dry-run -Werror $(CPP)
	@echo "== mypy"
	@$(BIN)/mypy --no-error-summary $(wildcard src tests benchmarks)

format: $(VENV)/.tested  ## rewrite the sources in the common format
	@$(BIN)/ruff check -q --fix-only .
	@$(BIN)/ruff format -q .
	@$(BIN)/clang-format -i $(CPP)

ctest = $(BIN)/ctest --test-dir $(1) --output-on-failure --no-tests=error -j $$(getconf _NPROCESSORS_ONLN)

build/sanitize/.configured: $(VENV)/.build-tools CMakeLists.txt
	@$(CMAKE) --fresh -G Ninja -S . -B build/sanitize -DCMAKE_MAKE_PROGRAM="$(CURDIR)/$(BIN)/ninja" \
	  -DCMAKE_BUILD_TYPE=Debug -DFARTHEST_SANITIZE=ON -DFARTHEST_TESTS=ON -DFARTHEST_WERROR=ON \
	  -DPython_EXECUTABLE="$(CURDIR)/$(BIN)/python" >/dev/null
	@touch $@

compiled: $(VENV)/.tested build/sanitize/.configured
	@$(call compile,the C++ tests) $(CMAKE) --build build/release --target kernel_tests
	@$(call compile,the kernel with sanitizers) $(CMAKE) --build build/sanitize

kernel-tests: $(VENV)/.tested  ## the kernel's C++ tests
	@$(call compile,the C++ tests) $(CMAKE) --build build/release --target kernel_tests
	@echo "== C++ tests"
	@$(call ctest,build/release)

# Fast tests run while slow ones wait for servers and processes.
python-tests: $(VENV)/.tested  ## the Python tests, but those for a night
	@echo "== Python tests"
	@$(PYTEST) -m 'not night' $(PARALLEL) --durations=15

# The C++ tests, then Python's tests of the kernel and the digests, on a kernel built with ASan and UBSan.
sanitize: $(VENV)/.tested build/sanitize/.configured  ## the kernel's tests under ASan and UBSan
	@$(call compile,the kernel with sanitizers) $(CMAKE) --build build/sanitize
	@echo "== C++ tests, sanitized"
	@$(call ctest,build/sanitize)
	@echo "== Python tests of the kernel and digests, sanitized"
	@FARTHEST_KERNEL_PATH=build/sanitize .ci/sanitized $(PYTEST) $(PARALLEL) tests/unit/kernel tests/signature

slow: $(VENV)/.tested  ## the slow Python tests
	@echo "== slow Python tests"
	@$(PYTEST) -m 'slow and not night' $(PARALLEL) --durations=15

# Where the site is built; a test builds it elsewhere.
SITE := build/docs

docs: $(VENV)/.tested  ## the documentation site in build/docs; its warnings are errors
	@echo "== documentation"
	@rm -rf $(SITE)
	@$(BIN)/sphinx-build -q -W --keep-going -c docs -d $(SITE)/.doctrees . $(SITE)
	@cp $(SITE)/README.html $(SITE)/index.html
	@rm -rf $(SITE)/.doctrees $(SITE)/.buildinfo $(SITE)/_sources

night: $(VENV)/.tested  ## Python tests of minutes, and random ones with more examples; not part of make test
	@echo "== Python tests for a night"
	@$(PYTEST) -m night $(PARALLEL) --durations=15
	@$(PYTEST) -m 'hypothesis and not night' --hypothesis-profile night $(PARALLEL)

# Minutes and, to draw the same jobs and strikes again, the seed that a soak has told.
SOAK_MINUTES ?= 60
SOAK_SEED ?= 0

soak: $(VENV)/.tested  ## jobs under kills, pauses, losses, clock jumps and full disks, for SOAK_MINUTES
	@PYTHONPATH=tests $(BIN)/python -m soak --minutes $(SOAK_MINUTES) --seed $(SOAK_SEED) $(SOAK_OPTIONS)

containers: $(VENV)/.tested  ## docker-compose.yml in a real engine: 15 minutes, root; not part of make test
	@$(BIN)/python tests/containers/run.py

bench: $(VENV)/.tested  ## the benchmarks; nothing else should run meanwhile
	@$(BIN)/python benchmarks/run.py

screenshots: $(VENV)/.tested  ## the pictures in docs/images, by Chromium
	@PYTHONPATH=tests $(BIN)/python tests/screenshots.py

# --- upkeep ------------------------------------------------------------------------------------------------

cross: $(VENV)/.build-tools  ## the kernel for macOS and Linux on ARM: 5 minutes; not part of make test
	@PATH="$(CURDIR)/$(BIN):$$PATH" .ci/cross $(PYTHON)

lock: $(VENV)/.created  ## renew constraints.txt: the newest versions of everything
	@$(PIP) install -q uv
	@printf '%s\n' $(BUILD_TOOLS) | $(BIN)/uv pip compile -q --universal --python-version 3.11 --all-extras \
	  --upgrade --no-annotate --custom-compile-command 'make lock' -o constraints.txt pyproject.toml -

clean:  ## remove what was built, but not .venv and no database
	rm -rf build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache src/farthest/_kernel.pyi
	rm -f $(VENV)/.installed $(VENV)/.wheel $(VENV)/.tested
	find src tests -name __pycache__ -prune -exec rm -rf {} +

distclean: clean  ## remove .venv as well
	rm -rf $(VENV)
