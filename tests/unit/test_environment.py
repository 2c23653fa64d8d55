# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest

from clarion_lab.machine import environment


def test_the_programs_are_told_apart_by_their_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "clarion-switch"
    program.write_text("abc")
    program.chmod(0o755)
    monkeypatch.setenv("CLARION_SWITCH_BIN", str(program))
    monkeypatch.setenv("CLARION_HOST_BIN", str(tmp_path / "none"))
    environment._unchanging.cache_clear()
    versions = environment.describe()["versions"]
    # the example of FIPS 180-4: SHA-256 of "abc" is ba7816bf 8f01cfea ...
    assert versions["clarion-switch"] == "ba7816bf8f01"
    assert versions["clarion-host"] is None
    environment._unchanging.cache_clear()
