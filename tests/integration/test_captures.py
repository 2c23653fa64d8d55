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
from scapy.utils import PcapNgReader

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


def packets(path: Path) -> list[Any]:
    with PcapNgReader(str(path)) as reader:
        return list(reader)


def comments(found: list[Any]) -> Counter[str]:
    return Counter(each.decode() for packet in found for each in packet.comments or ())


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
    assert began < found[0].time < found[-1].time < time.time()
    assert sum(packet.haslayer(Clarion) for packet in found) > len(found) / 2


def test_packets_are_in_order_with_the_header_and_their_link_as_interface(captured: Path) -> None:
    found = packets(captured / "captures" / LINK)
    times = [packet.time for packet in found]
    assert times == sorted(times)
    assert {packet.sniffed_on for packet in found} == {
        "s1:s1-right > s2:s2-left", "s2:s2-left > s1:s1-right",
    }  # fmt: skip
    assert all(isinstance(packet, Ether) for packet in found)
    assert sum(packet.haslayer(Clarion) for packet in found) > len(found) / 2
    longest = max(found, key=lambda packet: packet.wirelen)
    assert longest.wirelen == 1546 > len(longest)


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
