# SPDX-License-Identifier: Apache-2.0
"""What every part of Clarion stands on: errors, units, paths, processes, the version."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("clarion")
except PackageNotFoundError:  # run from a checkout that was never installed
    __version__ = "0+unknown"
