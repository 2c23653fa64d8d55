# SPDX-License-Identifier: Apache-2.0
"""The controller beside `clarion demo`: it serves while the demo runs, and leaves nothing behind."""

from __future__ import annotations

import json
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from clarion_base.errors import RunFailedError
from clarion_lab.controller import demo
from clarion_lab.controller.demo import DemoController


def switches(url: str, token: str) -> list[object]:
    request = urllib.request.Request(f"{url}/v1/switches", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, timeout=60) as reply:
        listed: list[object] = json.load(reply)["items"]
        return listed


def test_the_demo_has_a_controller_for_as_long_as_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with DemoController() as controller:
        token = controller.token_file.read_text().strip()
        assert controller.token_file.stat().st_mode & 0o077 == 0
        assert switches(controller.url, token) == []
        assert controller.sign_in.startswith(controller.url)
        assert token not in controller.sign_in
    with pytest.raises(urllib.error.URLError):
        switches(controller.url, token)
    assert list(tmp_path.iterdir()) == []


def test_a_controller_that_does_not_start_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(demo, "HOST", "192.0.2.1")  # not an address of any machine
    with pytest.raises(RunFailedError, match=r"192\.0\.2\.1"), DemoController():
        pass
    assert list(tmp_path.iterdir()) == []
