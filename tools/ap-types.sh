#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Unpacks the integer headers of HLS tools (ap_int.h) into build/ap_types, for the functions of the FPGA block.
set -euo pipefail
cd "$(dirname "$0")/.."

# ap_int.h and what it includes.
headers=(
	ap_common.h ap_decl.h ap_int.h ap_int_base.h ap_int_ref.h ap_int_special.h
	ap_fixed.h ap_fixed_base.h ap_fixed_ref.h ap_fixed_special.h etc/ap_private.h
)
inside=hls4ml/templates/vivado/ap_types

echo "build: fetching the integer headers of HLS tools"
download=$(mktemp -d)
trap 'rm -rf "$download"' EXIT
.venv/bin/pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes \
	--requirement hls/sim/ap-types.lock --dest "$download"
.venv/bin/python -m zipfile -e "$download"/*.whl "$download"
rm -rf build/ap_types
mkdir -p build/ap_types/etc
for header in "${headers[@]}"; do
	if ! grep -q 'Apache License' "$download/$inside/$header"; then
		echo "ap-types: $header does not state the Apache licence" >&2
		exit 1
	fi
	cp "$download/$inside/$header" "build/ap_types/$header"
done
