#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes .venv from the system's Python, so that Debian's Mininet module is importable, with the pinned packages.
set -euo pipefail
cd "$(dirname "$0")/.."

[ -x .venv/bin/python ] || /usr/bin/python3 -m venv --system-site-packages .venv
echo "python: installing the pinned packages"
.venv/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
# The project itself, editable. setuptools comes with the environment, so nothing unpinned is fetched.
.venv/bin/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
