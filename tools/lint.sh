#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every linter over every file that git tracks; prints what failed and stops at the end, not at the first.
# With --changed only what differs from main: linters of single files get the files, the others run if a file of
# their language is among them.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

only_changed=false
[ "${1:-}" != --changed ] || only_changed=true

changed() { # changed PATTERN...: what differs from where this branch left main, deleted and new files too
	local base
	base=$(git merge-base HEAD main 2>/dev/null || git merge-base HEAD origin/main 2>/dev/null || echo HEAD)
	git diff --name-only "$base" -- "$@"
	git ls-files --others --exclude-standard -- "$@"
}

files() { # files PATTERN...: those to be checked
	local file
	if $only_changed; then
		changed "$@" | while read -r file; do [ ! -e "$file" ] || printf '%s\n' "$file"; done
	else
		git ls-files -- "$@"
	fi
}

concerned() { # concerned PATTERN...: whether linters of whole languages have to run for such files
	! $only_changed || [ -n "$(changed "$@")" ]
}

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
	local module folders=(-y nic/rtl -y hls/rtl -y hls/formal -y nic/open_nic -y tests/rtl/stubs -Inic/open_nic/box_250mhz)
	local packages=(nic/rtl/clarion_registers_pkg.sv hls/rtl/clarion_sizes_pkg.sv hls/rtl/clarion_block_pkg.sv)
	local functions=hls/sim/functions/clarion_functions_dpi.sv library # one file of many modules
	for module; do
		[ "$module" = "$functions" ] && library=() || library=(-v "$functions")
		verilator --lint-only --timing -Wall -Wno-PINCONNECTEMPTY "${folders[@]}" "${library[@]}" "${packages[@]}" "$module" || return
	done
}

python=('*.py' pyproject.toml requirements.lock)
if concerned "${python[@]}"; then
	mapfile -t roots < <(tools/source-roots.py)
	mapfile -t scripts < <(git ls-files 'core/*.py' 'p4/*.py' 'tools/*.py')
	check ruff .venv/bin/ruff check --quiet .
	check 'ruff format' .venv/bin/ruff format --quiet --check .
	check mypy env MYPYPATH="$(IFS=:; echo "${roots[*]}"):tests:p4" \
		.venv/bin/mypy --no-error-summary "${roots[@]}" tests "${scripts[@]}"
	check import-linter check_imports
fi

mapfile -t c_files < <(files '*.c' '*.h' '*.hpp' '*.cpp')
[ ${#c_files[@]} -eq 0 ] || check clang-format .venv/bin/clang-format --dry-run --Werror "${c_files[@]}"

mapfile -t shell_files < <(
	files '*.sh'
	files '.ci/run' 'tools/*' | xargs --no-run-if-empty grep -lE '^#!.*\b(ba)?sh' | grep -v '\.sh$'
)
[ ${#shell_files[@]} -eq 0 ] || check shellcheck shellcheck "${shell_files[@]}"

for crate in hosts/layout hosts/agent hosts/proxy; do
	if concerned hosts/layout "$crate"; then
		manifest=$crate/Cargo.toml
		check_cargo "rustfmt $crate" fmt --check --manifest-path "$manifest"
		check_cargo "clippy $crate" clippy --quiet --release --locked --all-targets --manifest-path "$manifest" -- -D warnings
	fi
done

# A module is checked with those that it is made of. hls/synth has benches around modules that only synthesis makes.
if concerned '*.sv' '*.v' '*.vh'; then
	mapfile -t rtl_files < <(git ls-files '*.sv' ':!hls/synth' | grep -v '_pkg\.sv$')
	if command -v verilator >/dev/null; then
		check verilator check_rtl "${rtl_files[@]}"
	else
		printf 'lint: verilator skipped: it is not installed (apt install verilator)\n'
	fi
fi

if [ ${#failed[@]} -gt 0 ]; then
	printf 'lint: failed: %s\n' "${failed[*]}" >&2
	exit 1
fi
