# SPDX-License-Identifier: Apache-2.0
"""Where the drivers come from: the normal build and one with sanitisers, both made here if they are stale."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from conformance.harness import Driver

ROOT = Path(__file__).resolve().parents[2]

# No test is judged by how long the machine takes. The fixtures are processes that each example restarts.
settings.register_profile(
    "clarion",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("clarion")


def build(folder: str, sanitise: bool, program: str = "tests/conformance/conformance-driver") -> Path:
    """Bring one program of a build folder up to date and return its path."""
    tree = ROOT / "build" / folder
    if not (tree / "build.ninja").exists():
        option = f"-DCLARION_SANITIZE={'ON' if sanitise else 'OFF'}"
        configure = ["cmake", "-S", str(ROOT), "-B", str(tree), "-G", "Ninja", option]
        subprocess.run(configure, check=True, capture_output=True)
    command = ["cmake", "--build", str(tree), "--target", Path(program).name]
    made = subprocess.run(command, capture_output=True, text=True)
    assert made.returncode == 0, made.stdout + made.stderr
    return tree / program


@pytest.fixture(scope="session")
def driver_binary() -> Path:
    """The driver as the switch is built; CLARION_CONFORMANCE_DRIVER names another target's."""
    other = os.environ.get("CLARION_CONFORMANCE_DRIVER")
    return Path(other) if other else build("cpp", sanitise=False)


@pytest.fixture(scope="session")
def sanitised_binary() -> Path:
    """The driver with AddressSanitizer and UndefinedBehaviorSanitizer."""
    return build("cpp-asan", sanitise=True)


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
