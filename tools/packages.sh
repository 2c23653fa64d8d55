#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian or Ubuntu packages that Clarion builds and runs with; does nothing when all are there.
set -euo pipefail

packages=(
	# build: C++, eBPF, Rust's libbpf; cargo fetches by https
	ca-certificates build-essential cmake ninja-build clang llvm pkg-config
	libbpf-dev libelf-dev zlib1g-dev nlohmann-json3-dev libgtest-dev
	# run: experiments
	mininet iperf3 ethtool iproute2 iputils-ping procps
	# Python environment and lint, which asks git for its files
	python3-venv python3-dev shellcheck git
)
# For tests of the dashboard, of PostgreSQL as the store, of the commands in docs/rest.md and
# docs/operations.md, of the FPGA's RTL and Tcl, of the dissector, and for scenarios with applications, proxies and
# tunnels; without them those tests are skipped. Verilator also makes clarion-hls-sim, which is not built without it.
optional=(chromium postgresql curl iverilog verilator yosys tcl vsftpd lftp nftables openvpn tshark nginx-light
	sqlite3 systemd)

apt_install() { # apt_install PACKAGE...
	if [ "$(id -u)" != 0 ]; then
		echo "packages: root is needed to install: $*" >&2
		exit 1
	fi
	echo "packages: installing $*"
	DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "$@" >/dev/null
}

update() { # of use to root only, who can install afterwards
	[ "$(id -u)" != 0 ] || apt-get update -q >/dev/null
}

missing=()
for package in "${packages[@]}"; do
	status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || echo absent)
	[ "$status" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
	update
	apt_install "${missing[@]}"
fi
for package in "${optional[@]}"; do # Ubuntu's chromium is a snap: not for a test machine
	if ! dpkg-query -W "$package" >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
		apt_install "$package" || echo "packages: $package could not be installed; what needs it is left out"
	fi
done

# Rust: the distribution's own cargo is too old, but a newer one is packaged beside it.
need=1.88
is_recent() { # is_recent VERSION
	[ -n "$1" ] && [ "$(printf '%s\n' "$need" "$1" | sort -V | head -n 1)" = "$need" ]
}
cargo_version() {
	hash -r
	cargo --version 2>/dev/null | awk '{print $2}' || true
}
newest_numbered() { # of the packages cargo-1.N
	apt-cache search --names-only '^cargo-1\.[0-9]+$' | awk '{sub("cargo-", "", $1); print $1}' | sort -V | tail -n 1
}
is_packaged() { # is_packaged PACKAGE: apt has a version of it that is recent enough
	is_recent "$(apt-cache policy "$1" | awk '$1 == "Candidate:" && $2 != "(none)" {print $2}')"
}

if ! is_recent "$(cargo_version)"; then
	update
	if is_packaged cargo-web; then # Debian 12
		apt_install cargo-web rustc-web rustfmt-web rust-web-clippy
	elif newest=$(newest_numbered) && is_recent "$newest"; then # Ubuntu; the programs are not on the PATH
		apt_install "cargo-$newest" "rustc-$newest" "rustfmt-$newest" "rust-$newest-clippy"
		ln -sf "/usr/lib/rust-$newest/bin/"* /usr/local/bin/
	elif is_packaged cargo; then # newer releases
		apt_install cargo rustc rustfmt rust-clippy
	fi
fi
have=$(cargo_version)
if ! is_recent "$have"; then
	echo "packages: cargo $need or newer is needed, found ${have:-none}; install it with rustup" >&2
	exit 1
fi
