#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every linter over every file that git tracks; prints what failed and stops at the end, not at the first.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

failed=()
check() { # check NAME COMMAND...
	local name=$1
	shift
	printf 'lint: %s\n' "$name"
	"$@" || failed+=("$name")
}

check_imports() { # its drawing and its list of contracts only where one is broken
	local said
	said=$(.venv/bin/lint-imports --no-cache 2>&1) || {
		printf '%s\n' "$said"
		return 1
	}
}

check_cargo() { # check_cargo NAME SUBCOMMAND ARGUMENTS...
	if cargo "$2" --version >/dev/null 2>&1; then
		check "$1" env CARGO_TARGET_DIR="$PWD/build/cargo" cargo "${@:2}"
	else
		printf 'lint: %s skipped: cargo %s is not installed (rustup component add rustfmt clippy)\n' "$1" "$2"
	fi
}

check_rtl() { # check_rtl MODULES...: each as the top of those that it is made of
	local module folders=(-y nic/rtl -y nic/open_nic -y tests/rtl/stubs -Inic/open_nic/box_250mhz)
	for module; do
		verilator --lint-only --timing -Wall "${folders[@]}" nic/rtl/clarion_registers_pkg.sv "$module" || return
	done
}

mapfile -t python_roots < <(tools/source-roots.py)
mapfile -t c_files < <(git ls-files '*.c' '*.h' '*.hpp' '*.cpp')
mapfile -t shell_files < <(
	git ls-files '*.sh'
	git ls-files '.ci/run' 'tools/*' | xargs grep -lE '^#!.*\b(ba)?sh' | grep -v '\.sh$'
)
# hls/synth has benches around modules that only synthesis makes.
mapfile -t rtl_files < <(git ls-files '*.sv' ':!hls/synth' | grep -v '_pkg\.sv$')

check ruff .venv/bin/ruff check --quiet .
check 'ruff format' .venv/bin/ruff format --quiet --check .
check mypy env MYPYPATH="$(IFS=:; echo "${python_roots[*]}"):tests" .venv/bin/mypy --no-error-summary "${python_roots[@]}" tests core/tables.py
check import-linter check_imports
check clang-format .venv/bin/clang-format --dry-run --Werror "${c_files[@]}"
check shellcheck shellcheck "${shell_files[@]}"
check_cargo rustfmt fmt --check --manifest-path hosts/agent/Cargo.toml
check_cargo clippy clippy --quiet --release --locked --all-targets --manifest-path hosts/agent/Cargo.toml -- -D warnings
if command -v verilator >/dev/null; then
	check verilator check_rtl "${rtl_files[@]}"
else
	printf 'lint: verilator skipped: it is not installed (apt install verilator)\n'
fi

if [ ${#failed[@]} -gt 0 ]; then
	printf 'lint: failed: %s\n' "${failed[*]}" >&2
	exit 1
fi
