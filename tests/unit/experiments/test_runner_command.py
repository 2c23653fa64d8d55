# SPDX-License-Identifier: Apache-2.0
"""`clarion runner`: what it listens on, for whom, and where results go."""

from __future__ import annotations

import os
import socket
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from clarion import cli
from clarion_base.errors import UserError
from clarion_control.commands import runner


@pytest.fixture(autouse=True)
def umask() -> Iterator[None]:
    """The command has one of its own, which is this process's here."""
    before = os.umask(0o022)
    os.umask(before)
    yield
    os.umask(before)


@pytest.fixture
def path() -> Iterator[Path]:
    """Of a socket: tmp_path may be longer than an address, which has 107 bytes."""
    with tempfile.TemporaryDirectory(prefix="runner-") as directory:
        yield Path(directory, "run", "runner.sock")


def test_the_socket_is_for_its_owner(path: Path) -> None:
    with runner._listener(path, None):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_socket_that_a_killed_runner_left_is_taken_over(path: Path) -> None:
    runner._listener(path, None).close()
    with runner._listener(path, None), socket.socket(socket.AF_UNIX) as asker:
        asker.connect(str(path))


def test_a_runner_does_not_take_the_place_of_another(path: Path) -> None:
    with runner._listener(path, None), pytest.raises(UserError, match="another runner listens there"):
        runner._listener(path, None)


@pytest.mark.parametrize("name", ["x" * 150, "file"])
def test_a_path_that_can_be_no_socket(path: Path, name: str) -> None:
    path.parent.mkdir()
    path.with_name("file").touch()
    with pytest.raises(UserError, match=r"--socket: .*; choose another path"):
        runner._listener(path.with_name(name), None)


def test_users(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("nobody-at-all", str(2**31 - 2), "9" * 30):
        assert cli.main(["runner", "--user", name, "--results", str(tmp_path / "results")]) == 2
        assert capsys.readouterr().err == f"clarion: --user: {name}: there is no such user\n"
    assert not (tmp_path / "results").exists()


def test_results_that_cannot_be(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    assert cli.main(["runner", "--results", str(tmp_path / "file/results")]) == 2
    assert "/file/results: Not a directory; choose another directory" in capsys.readouterr().err


@pytest.mark.parametrize(("mode", "refused"), [(0o755, False), (0o1777, False), (0o775, True), (0o757, True)])
def test_directories_that_others_can_change(tmp_path: Path, mode: int, refused: bool) -> None:
    above = tmp_path / "above"
    above.mkdir()
    above.chmod(mode)
    if not refused:
        runner._check_owners(above / "results")
        return
    with pytest.raises(UserError, match=f"--results: {above} can be changed by other users"):
        runner._check_owners(above / "results")


def test_results_through_a_link_are_where_it_leads(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert runner._prepared(tmp_path / "link/results", None) == Path(
        os.path.realpath(tmp_path), "real/results"
    )
