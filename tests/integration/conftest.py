# SPDX-License-Identifier: Apache-2.0
"""Tests marked `root` are skipped, with the reason, for other users."""

from __future__ import annotations

import os

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("root") and os.geteuid() != 0:
        pytest.skip("needs root, for network namespaces and eBPF")
