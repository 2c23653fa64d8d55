# SPDX-License-Identifier: Apache-2.0
"""Clarion's experiments: topologies, scenarios, the runner and its reports."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("clarion")
except PackageNotFoundError:  # run from a checkout that was never installed
    __version__ = "0+unknown"
