#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# See `flash.sh --help`; the work is done in clarion_nic/flash.py.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
python=$root/.venv/bin/python
if [ ! -x "$python" ]; then
	echo "flash: .venv is missing; run make build first" >&2
	exit 2
fi
# Ours first: a `clarion` of another release must not judge what the card says.
PATH="$root/.venv/bin:$PATH" exec "$python" -m clarion_nic.flash "$@"
