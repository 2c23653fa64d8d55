# SPDX-License-Identifier: Apache-2.0
"""`clarion run --capture`: the captures of a run hold the losses of its truth, each with its cause."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from scapy.layers.l2 import Ether
from scapy.utils import RawPcapNgReader

from clarion_scapy import Clarion

CLARION = (sys.executable, "-m", "clarion")
LINK = "s1.s1-right--s2.s2-left.pcapng"
LOSSY = (
    "--set",
    "algorithm=xcp",
    "--set",
    "links.bottleneck.loss.forward.rate=0.01",
    "--set",
    "duration=4 s",
)


def run(*arguments: str, engine: str = "sim") -> subprocess.CompletedProcess[str]:
    command = [*CLARION, "run", "smoke", "--engine", engine, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)


Read = tuple[bytes, Any]  # a frame, and what the file says of it


def packets(path: Path) -> list[Read]:
    """The packets of a capture. scapy takes half a millisecond to dissect one: `dissected` does some."""
    with RawPcapNgReader(str(path)) as reader:
        return list(reader)


def time_s(packet: Read) -> float:
    of = packet[1]
    return int((of.tshigh << 32) + of.tslow) / int(of.tsresol)


def dissected(found: list[Read]) -> list[Ether]:
    return [Ether(frame) for frame, _ in found[:: len(found) // 500]]


def comments(found: list[Read]) -> Counter[str]:
    return Counter(each.decode() for _, of in found for each in of.comments or ())


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("captured") / "out"
    done = run("--capture", "--out", str(out), "--set", "measure-from=1 s", *LOSSY)
    assert done.returncode == 0, done.stderr
    return out


def assert_of_the_truth(out: Path) -> None:
    """Every loss is in a capture, with its cause."""
    files = sorted((out / "captures").iterdir())
    assert LINK in [path.name for path in files]
    found = sum((comments(packets(path)) for path in files), Counter[str]())
    causes = pq.read_table(out / "losses.parquet")["cause"].to_pylist()
    assert found == Counter(f"lost: {cause}" for cause in causes)
    assert found["lost: wire"] > 0


def test_every_loss_of_the_truth_is_in_a_capture_with_its_cause(captured: Path) -> None:
    assert_of_the_truth(captured)


@pytest.mark.root
def test_real_tcp_is_captured_in_unix_time(tmp_path: Path) -> None:
    began = time.time()
    done = run("--capture", "--out", str(tmp_path / "out"), "--set", "measure-from=1 s", *LOSSY, engine="emu")
    assert done.returncode == 0, done.stderr
    assert_of_the_truth(tmp_path / "out")
    found = packets(tmp_path / "out" / "captures" / LINK)
    assert began < time_s(found[0]) < time_s(found[-1]) < time.time()
    sample = dissected(found)
    assert sum(packet.haslayer(Clarion) for packet in sample) > len(sample) / 2


def test_packets_are_in_order_with_the_header_and_their_link_as_interface(captured: Path) -> None:
    found = packets(captured / "captures" / LINK)
    times = [time_s(packet) for packet in found]
    assert times == sorted(times)
    assert {of.ifname for _, of in found} == {b"s1:s1-right > s2:s2-left", b"s2:s2-left > s1:s1-right"}
    sample = dissected(found)
    assert sum(packet.haslayer(Clarion) for packet in sample) > len(sample) / 2
    frame, of = max(found, key=lambda packet: packet[1].wirelen)
    assert of.wirelen == 1546 > len(frame)


def test_captures_are_results_of_a_run_which_another_replaces(captured: Path) -> None:
    done = run("--out", str(captured), "--set", "measure-from=1 s", *LOSSY)
    assert done.returncode == 0, done.stderr
    assert not (captured / "captures").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--cache",), "--cache: captures are not in it; leave out --capture"),
        (("--cluster", "tcp://127.0.0.1:1"), "--cluster: captures stay where they are made"),
    ],
)
def test_what_cannot_be_kept_with_captures_is_refused(
    options: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    done = run("--capture", *options, "--out", str(tmp_path / "out"))
    assert done.returncode == 2
    assert message in done.stderr
    assert not (tmp_path / "out").exists()
