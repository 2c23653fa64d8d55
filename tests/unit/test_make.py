# SPDX-License-Identifier: Apache-2.0
"""What `make build` makes of a compiler that fails; nothing is compiled here."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from clarion_lab.tasks import sources

ROOT = Path(__file__).resolve().parents[2]
READY = ("build/stamps/packages", "build/stamps/cmake", ".venv/.clarion-packages")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A checkout that is set up, without sources."""
    for name in ("Makefile", "nic/nic.mk"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(ROOT / name, tmp_path / name)
    for name in READY:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


def build(tree: Path, **statuses: int) -> int:
    """The exit status of `make build` with these of the tools."""
    tools = tree / "bin"
    tools.mkdir(exist_ok=True)
    for tool in ("cmake", "cargo"):
        (tools / tool).write_text(
            f"#!/bin/sh\necho 'FAILED: or not'\ntouch made-by-{tool}\nexit {statuses.get(tool, 0)}\n"
        )
        (tools / tool).chmod(0o755)
    done = [option for name in READY for option in ("--old-file", name)]
    path = f"{tools}:{os.environ['PATH']}"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    run = subprocess.run(
        ["make", *done, "build"],
        cwd=tree,
        env={**environment, "PATH": path},
        capture_output=True,
        check=False,
    )
    return run.returncode


@pytest.mark.parametrize("tool", ["cmake", "cargo"])
def test_a_build_that_fails_says_so(tool: str, tree: Path) -> None:
    assert build(tree, **{tool: 1}) != 0
    assert build(tree) == 0


@pytest.mark.parametrize("tool", ["cmake", "cargo"])
def test_the_stamp_of_a_whole_build_is_of_its_beginning_and_not_of_one_that_fails(
    tool: str, tree: Path
) -> None:
    """A source that changes while compilers run is newer."""
    stamp = tree / "build" / sources.STAMP
    assert build(tree, **{tool: 1}) != 0
    assert not stamp.exists()
    assert build(tree) == 0
    begun_ns = stamp.stat().st_mtime_ns
    assert begun_ns <= (tree / "made-by-cmake").stat().st_mtime_ns
    assert build(tree, **{tool: 1}) != 0
    assert stamp.stat().st_mtime_ns == begun_ns
    assert build(tree) == 0
    assert stamp.stat().st_mtime_ns > begun_ns
