#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# See `package.sh --help`; the work is done in clarion_nic/package.py.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
python=$root/.venv/bin/python
if [ ! -x "$python" ]; then
	echo "package: .venv is missing; run make build first" >&2
	exit 2
fi
PATH="$PATH:$root/.venv/bin" exec "$python" -m clarion_nic.package "$@"
