# SPDX-License-Identifier: Apache-2.0
"""Results are read from the experiment's directory and from nowhere else."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clarion_control.experiments.files import ResultFile, listing, open_result

SECRET = b"not for everybody"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory with results and with all kinds of links out of it."""
    made = tmp_path / "experiment"
    (made / "iperf3").mkdir(parents=True)
    (made / "summary.json").write_bytes(b"{}")
    (made / "iperf3" / "flow-1.json").write_bytes(b"[1]")
    (tmp_path / "secret").write_bytes(SECRET)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "secret").write_bytes(SECRET)
    (made / "link").symlink_to(tmp_path / "secret")
    (made / "relative").symlink_to("../secret")
    (made / "inside").symlink_to("summary.json")
    (made / "directory").symlink_to(tmp_path / "elsewhere")
    (made / "loop").symlink_to("loop")
    os.mkfifo(made / "fifo")
    return made


def read(place: Path, path: str) -> bytes | None:
    opened = open_result(place, path)
    if opened is None:
        return None
    with opened:
        return opened.read()


def test_results_are_listed_without_links_and_devices(place: Path) -> None:
    assert listing(place) == [ResultFile("iperf3/flow-1.json", 3), ResultFile("summary.json", 2)]
    assert listing(place / "nothing") == []


def test_results_are_read(place: Path) -> None:
    assert read(place, "summary.json") == b"{}"
    assert read(place, "iperf3/flow-1.json") == b"[1]"


@pytest.mark.parametrize(
    "path",
    [
        "", ".", "..", "/", "../secret", "iperf3/../../secret", "/etc/passwd", "//etc/passwd", "iperf3",
        "iperf3/", "./summary.json", "iperf3//flow-1.json", "summary.json/", "summary.json/x", "link",
        "relative", "inside", "directory/secret", "directory", "loop", "loop/x", "fifo", "nothing", "a\0b",
        "\ud800", "..\\secret", "%2e%2e/secret", "x" * 5000, "/".join(["iperf3"] * 3000),
    ],
)  # fmt: skip
def test_there_is_no_way_out(place: Path, path: str) -> None:
    assert read(place, path) is None


def test_a_socket_is_no_result(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("socket")
        assert read(place, "socket") is None


PARTS = st.sampled_from(["..", ".", "", "iperf3", "link", "directory", "secret", "elsewhere", "summary.json"])


@given(st.lists(PARTS, min_size=1, max_size=6))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_combination_leads_out(place: Path, parts: list[str]) -> None:
    assert read(place, "/".join(parts)) in (None, b"{}", b"[1]")


def test_descriptors_are_not_lost(place: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for path in ("summary.json", "iperf3/flow-1.json", "directory/secret", "nothing/x", "fifo", "link"):
        read(place, path)
    assert len(os.listdir("/proc/self/fd")) <= before
