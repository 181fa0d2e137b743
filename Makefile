# Certicone: `make certify` and `make test` do everything from nothing; `make help` lists the rest.
.DEFAULT_GOAL := build
.NOTPARALLEL:
.PHONY: help deps readers build test test-export test-kernels certify certify-suite check-certificates bench bench-peer \
    sanitize threads fuzz fuzz-quick format format-check clean distclean

JOBS ?= $(shell nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
CMAKE_ARGS ?=
PAPER := $(foreach i,1 2 3 4,data/paper/exp$(i).network.json)
SOURCES = $(shell find src solvers verify tests -name '*.cpp' -o -name '*.hpp')

# The generated makefiles run as if called by hand: no flags from here, no "Entering directory".
BUILD = env -u MAKEFLAGS -u MAKELEVEL cmake --build --parallel $(JOBS) --preset
TEST = ctest --parallel $(JOBS) --preset

help:  ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 16

deps:  ## install what is missing: Debian packages, and solvers into .deps
	@solvers/deps/install.sh

build:  ## build/certicone, Release (the default)
	@cmake --preset release $(CMAKE_ARGS)
	@$(BUILD) release

readers:  ## MOSEK's and Clarabel's Python packages into .deps/readers: they read what we export
	@test -x .deps/readers/bin/python || python3 -m venv .deps/readers
	@.deps/readers/bin/python -m pip install --quiet --disable-pip-version-check --requirement tests/readers/requirements.txt

test: deps readers build  ## everything from nothing, then all tests
	@$(TEST) release

test-export: deps readers build  ## the tests of export alone, other people's readers among them
	@$(TEST) release --label-regex export

test-kernels: deps readers build  ## all tests with each BLAS kernel that this processor has, then with Eigen's own; a table
	@cmake --preset eigen $(CMAKE_ARGS)
	@$(BUILD) eigen
	@JOBS=$(JOBS) tests/kernels.sh --eigen build-eigen build

certify: deps build  ## everything from nothing, then certify the paper's networks
	build/certicone certify $(PAPER)

certify-suite: deps build  ## certify the networks of data/suite: all that can go wrong in a network
	build/certicone certify $(wildcard data/suite/*.network.json)

check-certificates: deps build  ## certificates of all networks in data, verified by both checkers
	@mkdir -p build/certificates
	@rm -f build/certificates/*.certificate.json
	build/certicone certify --level exact --certificate build/certificates $(PAPER) $(wildcard data/suite/*.network.json) | grep certified:
	@for network in $(PAPER) $(wildcard data/suite/*.network.json); do \
	    name=$$(basename $$network .network.json); certificate=build/certificates/$$name.certificate.json; \
	    build/certicone-check $$certificate $$network >build/certificates/$$name.ours && \
	    python3 tests/certificate_checker.py $$certificate $$network | cmp - build/certificates/$$name.ours && \
	    echo "$$name $$(cat build/certificates/$$name.ours)" || exit 1; done

bench: deps build  ## speed of the batched forms, of certification and of solvers
	@$(BUILD) release --target certicone_bench
	OPENBLAS_NUM_THREADS=1 build/certicone_bench

bench-peer: deps build  ## the same programs through CVXPY, side by side (installs CVXPY into .deps/peer)
	@$(BUILD) release --target certicone_bench
	@test -x .deps/peer/bin/python || python3 -m venv .deps/peer
	@.deps/peer/bin/python -m pip install --quiet cvxpy==1.9.3 clarabel==0.11.1 scs==3.3.1
	.deps/peer/bin/python tests/peer/compare_cvxpy.py build/certicone_bench data

sanitize: deps  ## all tests under the address and undefined-behaviour sanitizers
	@cmake --preset sanitize $(CMAKE_ARGS)
	@$(BUILD) sanitize
	@$(TEST) sanitize

threads:  ## the tests of what runs in parallel, under the thread sanitizer
	@cmake --preset thread $(CMAKE_ARGS)
	@$(BUILD) thread --target certicone_tests certicone certicone-check
	@$(TEST) thread

# FUZZ_RUNS executions a target, from the seeds in tests/fuzz/seeds and what earlier runs found (build-fuzz/corpus).
FUZZ_RUNS ?= 5000000
FUZZ_TARGETS ?= $(notdir $(wildcard tests/fuzz/seeds/*))

fuzz:  ## every reader under libFuzzer and the sanitizers (clang): FUZZ_RUNS=5000000 executions each, FUZZ_TARGETS=…
	@command -v clang++ >/dev/null || { echo "fuzz: clang++ is not there (apt-get install clang)" >&2; exit 1; }
	@cmake -S tests/fuzz -B build-fuzz -DCMAKE_CXX_COMPILER=clang++ >/dev/null
	@env -u MAKEFLAGS -u MAKELEVEL cmake --build build-fuzz --parallel $(JOBS)
	@cd build-fuzz && for target in $(FUZZ_TARGETS); do \
	    mkdir -p corpus/$$target && ./fuzz_$$target -runs=$(FUZZ_RUNS) -max_len=3000 -timeout=20 -print_final_stats=1 \
	        -artifact_prefix=found-$$target- corpus/$$target ../tests/fuzz/seeds/$$target >log-$$target 2>&1 || \
	        { tail -40 log-$$target; echo "fuzz: $$target: a finding, see build-fuzz/found-$$target-*"; exit 1; }; \
	    echo "fuzz: $$target: $$(sed -n 's/.*executed_units: *//p' log-$$target) executions, no finding"; done

fuzz-quick:  ## the same with 20,000 executions each: for CI
	@$(MAKE) --no-print-directory fuzz FUZZ_RUNS=20000

format:  ## lay out all sources by .clang-format
	@clang-format -i $(SOURCES)

format-check:  ## fail if `make format` would change anything
	@clang-format --dry-run --Werror $(SOURCES)

clean:  ## remove the build folders
	rm -rf build build-*

distclean: clean  ## remove .deps as well
	rm -rf .deps
