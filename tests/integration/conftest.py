# SPDX-License-Identifier: Apache-2.0
"""Tests marked `root` are skipped, with the reason, for other users. Fixtures of tests of clarion-proxy."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from integration.proxy_net import Ends, Proxy, make_keys


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("root") and os.geteuid() != 0:
        pytest.skip("needs root, for network namespaces and eBPF")


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A private CA, and certificates of the proxies "ground" and "ship"."""
    return make_keys(tmp_path_factory.mktemp("proxy"), "ground", "ship")


@pytest.fixture
def ends() -> Iterator[Ends]:
    """The proxies' namespaces; whatever proxies still run are ended before these go."""
    made = Ends()
    yield made
    Proxy.end_all()
    made.clean()
