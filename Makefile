# SPDX-License-Identifier: Apache-2.0
# Clarion. `make help` lists the targets; each does the set-up that it needs and only that.

SHELL := /bin/bash
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

stamps := build/stamps
python := .venv/bin/python
# Inside the environment, so that it goes when that goes.
python_stamp := .venv/.clarion-packages
cargo := CARGO_TARGET_DIR=$(CURDIR)/build/cargo cargo
layout := --manifest-path hosts/layout/Cargo.toml
agent := --manifest-path hosts/agent/Cargo.toml
proxy := --manifest-path hosts/proxy/Cargo.toml

.PHONY: help demo check test unit integration bench bench-list mutate fuzz lint build p4 clean hls-test hls-synth hls-verilog

# What the FPGA block is synthesised for.
BOARD ?= u55c
BUCKETS ?= 4096
QUEUE_BEATS ?= 4096
synth := $(python) -m clarion_synth
sizes = --board $(BOARD) --buckets $(BUCKETS) --queue-beats $(QUEUE_BEATS)

help: ## This list
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

demo: build ## The geo path (100 Mbit/s, 570 ms, 0.1 % errors) under six senders; about 4 minutes, as root
	.venv/bin/clarion demo --out out/demo

# Of a run of tests. pytest spreads tests over processes, whole files at a time.
pytest := $(python) -m pytest --quiet
spread := --numprocesses auto --maxprocesses 8 --dist loadfile
cpp_tests := ctest --test-dir build/cpp --output-on-failure --no-tests=error --parallel $(shell nproc)
rust_test := $(cargo) test --quiet --release --locked
rust_tests := $(rust_test) $(layout) && $(rust_test) $(agent) && $(rust_test) $(proxy)

# What is left out: tests of long programs (marked slow), of the FPGA block, RTL, other programs and the network.
check: build ## Lint of what changed since main, and the fast tests: about two minutes on two CPUs
	@$(python) tools/side-by-side.py \
		'python=$(pytest) $(spread) -m "not slow" tests/unit tests/conformance --ignore tests/conformance/block' \
		-- 'lint=tools/lint.sh --changed' 'cpp=$(cpp_tests)' 'rust=$(rust_tests)'

# Tests on the machine's network are timed by its clock, so they run first and alone (but for those marked `beside`):
# beside a build, TCP through the switch has reached 90 % of a link that it fills otherwise.
test: build ## All tests (those of the network as root, alone; the others side by side), and lint
	@status=0; \
	$(python) tools/side-by-side.py 'network=$(pytest) -m "root and not beside"' || status=$$?; \
	[ $$status -ne 130 ] || exit 130; \
	$(python) tools/side-by-side.py \
		'sanitised=$(python) tests/builds.py' 'python=$(pytest) $(spread) -m "not root or beside"' \
		-- 'lint=tools/lint.sh' 'cpp=$(cpp_tests)' 'rust=$(rust_tests)' || status=$$?; \
	exit $$status

unit: build ## The tests that need neither root nor the network
	$(cpp_tests)
	$(rust_tests)
	$(pytest) $(spread) tests/unit tests/conformance tests/rtl

integration: build ## The tests with real processes, devices and browsers, as root
	$(pytest) tests/integration

bench: build ## Benchmarks, as ratios and medians, with JSON in build/bench; an hour; ONLY=core,switch for some
	$(python) -m tests.bench --out build/bench --only "$(ONLY)"

bench-list: $(python_stamp) ## The benchmarks, and how long each takes
	@$(python) -m tests.bench --list

mutate: build ## Plant the faults of tests/mutation one by one: do tests notice? ONLY=ID,PART. About 35 minutes
	@PYTHONPATH=tests $(python) -m mutation --only "$(ONLY)"

COUNT ?= 1000000
SEED ?= 1
fuzz: build ## COUNT frames, right and wrong, through core, switch and shim, a hundredth through P4; SEED, ONLY, ROUND, JOBS
	@PYTHONPATH=tests $(python) -m fuzz --count $(COUNT) --seed $(SEED) --only "$(ONLY)" \
		$(if $(ROUND),--round $(ROUND)) $(if $(JOBS),--jobs $(JOBS))

lint: $(stamps)/packages $(python_stamp) ## ruff, mypy --strict, clang-format, shellcheck, rustfmt, clippy
	@tools/lint.sh

# `built` is of when the last whole build began: results are kept under the sources alone if none is newer than that,
# see mininet/clarion_lab/tasks/sources.py. A build that fails leaves it as it was.
build: $(stamps)/packages $(python_stamp) $(stamps)/cmake ## Everything that is compiled
	@touch $(stamps)/building
	@cmake --build build/cpp $(if $(VERBOSE),--verbose) | grep -v '^ninja: no work'; test $${PIPESTATUS[0]} -eq 0
	@$(cargo) build --quiet --release --locked $(agent)
	@$(cargo) build --quiet --release --locked $(proxy)
	@cp -p $(stamps)/building $(stamps)/built

p4: ## Compile the P4 program again, with p4c; what comes of it is committed
	@p4/build.py

hls-test: build ## The FPGA block in RTL against the reference, its proofs, line rate and latency
	$(python) -m pytest tests/conformance/block tests/rtl

hls-synth: build ## The block's functions through the HLS tool on PATH, held to their clocks, and hls-test with their Verilog
	@$(synth) synth --board $(BOARD)

hls-verilog: $(stamps)/ap-types ## Verilog of the block's functions for a card, with the HLS tool on PATH; BOARD
	@$(synth) verilog --board $(BOARD)

include nic/nic.mk

clean: ## Remove what was built (not the results in out/)
	rm -rf build .venv

$(stamps)/packages: tools/packages.sh
	@mkdir -p $(@D)
	@tools/packages.sh
	@touch $@

$(python_stamp): requirements.lock pyproject.toml tools/python-env.sh $(stamps)/packages
	@tools/python-env.sh
	@touch $@

$(stamps)/ap-types: hls/sim/ap-types.lock tools/ap-types.sh $(python_stamp)
	@tools/ap-types.sh
	@touch $@

$(stamps)/cmake: CMakeLists.txt $(stamps)/packages $(stamps)/ap-types
	@echo "build: configuring C++"
	@cmake -S . -B build/cpp -G Ninja -DCMAKE_BUILD_TYPE=Release >/dev/null
	@touch $@
