# SPDX-License-Identifier: Apache-2.0
"""Runs whose rates are judged, on machines that may be kept waiting themselves.

A virtual machine that its host does not run for a while stops all links of an engine that runs in real time,
and what a link without a queue has not sent then, it never sends. Such a run says so, and proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from clarion_lab.results.slowness import signs

ATTEMPTS = 3


def undisturbed(run: Callable[[int], dict[str, Any]]) -> dict[str, Any]:
    """The summary of the first run without a sign that the machine was too slow. `run` gets the number of
    the attempt; the test is skipped with the signs if there is none in three.
    """
    seen: list[str] = []
    for attempt in range(ATTEMPTS):
        made = run(attempt)
        if not signs(made):
            return made
        seen += signs(made)
    pytest.skip(f"this machine was too slow in {ATTEMPTS} runs: {'; '.join(seen)}")
