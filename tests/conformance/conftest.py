# SPDX-License-Identifier: Apache-2.0
"""Where the drivers come from: the normal build and one with sanitisers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from builds import plain, sanitised
from conformance.harness import Driver

DRIVER = "tests/conformance/conformance-driver"

# No deadlines: machines differ in speed. The fixtures are processes that each example restarts.
settings.register_profile(
    "clarion",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("clarion")


@pytest.fixture(scope="session")
def driver_binary() -> Path:
    """The driver, built like the switch; CLARION_CONFORMANCE_DRIVER names that of another target."""
    other = os.environ.get("CLARION_CONFORMANCE_DRIVER")
    return Path(other) if other else plain(DRIVER)


@pytest.fixture(scope="session")
def sanitised_binary() -> Path:
    """The driver with AddressSanitizer and UndefinedBehaviorSanitizer."""
    return sanitised(DRIVER)


@pytest.fixture
def driver(driver_binary: Path) -> Iterator[Driver]:
    """A fresh process of the normal driver."""
    process = Driver(driver_binary)
    yield process
    process.close()


@pytest.fixture
def sanitised_driver(sanitised_binary: Path) -> Iterator[Driver]:
    """A fresh process of the sanitised driver."""
    process = Driver(sanitised_binary)
    yield process
    process.close()
