# SPDX-License-Identifier: Apache-2.0
"""kill -9 of a controller in the middle of a real run, and that run at the next controller."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from clarion_base.paths import run_root

pytestmark = [pytest.mark.root, pytest.mark.timeout(240)]
CLARION = [sys.executable, "-m", "clarion"]
DEADLINE_S = 60.0


@contextlib.contextmanager
def controller(place: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A controller on this store, and its address."""
    process = subprocess.Popen(
        [*CLARION, "controller", "serve", "--listen", "127.0.0.1:0", "--store", str(place / "controller.db"),
         "--no-dashboard", "--no-tuner"],
        stdout=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found
        yield process, found[0].rstrip("/")
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def until(http: httpx.Client, path: str, wanted: Any) -> dict[str, Any]:
    """Polls the experiment until the condition holds; returns it."""
    deadline = time.monotonic() + DEADLINE_S
    while True:
        shown: dict[str, Any] = http.get(path).json()
        if wanted(shown):
            return shown
        assert time.monotonic() < deadline, shown
        time.sleep(0.1)


def test_a_run_does_not_outlive_its_controller(tmp_path: Path) -> None:
    made = subprocess.run(
        [
            *CLARION,
            "token",
            "create",
            "bob",
            "--role",
            "experimenter",
            "--store",
            str(tmp_path / "controller.db"),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    bearer = {"Authorization": f"Bearer {made.stdout.strip()}"}
    with (
        controller(tmp_path) as (process, url),
        httpx.Client(base_url=url, headers=bearer, timeout=DEADLINE_S) as http,
    ):
        body = {"scenario": "smoke", "settings": {"duration": "60 s"}}
        path = http.post("/v1/experiments", json=body).headers["location"]
        waiting = http.post("/v1/experiments", json={"scenario": "smoke"}).headers["location"]
        until(http, path, lambda shown: "/ 60 s" in (shown["progress"] or ""))
        process.kill()
        process.wait()
    with (
        controller(tmp_path) as (_, url),
        httpx.Client(base_url=url, headers=bearer, timeout=DEADLINE_S) as http,
    ):
        shown = http.get(path).json()
        assert (shown["state"], shown["error"]) == ("failed", "controller restarted")
        done = until(http, waiting, lambda shown: shown["ended_us"] is not None)
        assert done["state"] == "complete", done
        assert "summary.json" in done["files"]
    assert not list(run_root().glob("run-*"))
    assert not [name for name in os.listdir("/sys/class/net") if name.startswith(("s1-", "s2-"))]
