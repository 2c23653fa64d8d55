# SPDX-License-Identifier: Apache-2.0
"""The programs that send and receive: transfers, bursts, datagrams."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

from clarion_lab.hosts.programs import DATAGRAMS, TRANSFER
from fakes.ports import free_port, wait_for_server

MS = 1_000_000  # ns


def start(*arguments: str, program: tuple[str, str] = TRANSFER) -> subprocess.Popen[str]:
    return subprocess.Popen([*program, *arguments], stdout=subprocess.PIPE, text=True)


def ends(size: int, at_ns: int) -> tuple[dict[str, float], dict[str, float]]:
    """What the sender and the receiver of a transfer on this machine say."""
    port, source_port = free_port(), free_port()
    receiver = start("receive", "--port", str(port))
    where = ["--to", "127.0.0.1", "--port", str(port), "--source-port", str(source_port), "--law", "reno"]
    amount = ["--bytes", str(size), "--at-ns", str(at_ns)]
    deadline = time.monotonic() + 20
    while True:
        sender = start("send", *where, *amount)
        said = json.loads(sender.communicate(timeout=20)[0])
        if "error" not in said or time.monotonic() > deadline:
            break
        time.sleep(0.1)  # the receiver does not listen yet
    return said, json.loads(receiver.communicate(timeout=20)[0])


def test_every_byte_comes_and_the_receiver_knows_when() -> None:
    at_ns = time.monotonic_ns() + 1_500_000_000
    sent, received = ends(3_000_001, at_ns)
    assert sent["sent_bytes"] == received["received_bytes"] == 3_000_001
    assert at_ns < received["last_byte_ns"] <= at_ns + sent["seconds"] * 1e9


def test_a_refusal_is_one_line() -> None:
    where = [
        "--to",
        "127.0.0.1",
        "--port",
        str(free_port()),
        "--source-port",
        str(free_port()),
        "--law",
        "reno",
    ]
    sender = subprocess.run(
        [sys.executable, TRANSFER[1], "send", *where, "--bytes", "1", "--at-ns", "0"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert sender.returncode == 1
    assert "refused" in json.loads(sender.stdout)["error"]


def test_bursts_end_in_time_and_the_connection_stays(tmp_path: Path) -> None:
    port = free_port()
    receiver = start("receive", "--port", str(port))
    bursts = tmp_path / "bursts.json"
    bursts.write_text("[[0, 50000], [200000, 250000]]")
    where = ["--to", "127.0.0.1", "--port", str(port), "--source-port", str(free_port()), "--law", "reno"]
    what = ["--bursts", str(bursts), "--unsent-bytes", "16384"]
    wait_for_server(port, "tcp")
    at_ns = time.monotonic_ns() + 1000 * MS
    sender = start("send", *where, *what, "--at-ns", str(at_ns))
    time.sleep(1.8)
    assert sender.poll() is None
    sender.send_signal(signal.SIGTERM)
    sent = json.loads(sender.communicate(timeout=20)[0])
    received = json.loads(receiver.communicate(timeout=20)[0])
    assert sent["sent_bytes"] == received["received_bytes"] > 0
    assert at_ns + 200 * MS < received["last_byte_ns"] < at_ns + 700 * MS


def test_datagrams_come_at_their_rate() -> None:
    port = free_port()
    receiver = start("receive", "--port", str(port), program=DATAGRAMS)
    wait_for_server(port, "udp")
    at_ns = time.monotonic_ns() + 500 * MS
    where = ["--to", "127.0.0.1", "--port", str(port), "--source-port", str(free_port())]
    rate = ["--rate-bps", "800000", "--packet-bytes", "1000", "--payload-bytes", "972"]
    times = ["--at-ns", str(at_ns), "--until-ns", str(at_ns + 500 * MS)]
    sender = start("send", *where, *rate, *times, program=DATAGRAMS)
    sent = json.loads(sender.communicate(timeout=20)[0])
    assert sent["sent_packets"] == 50  # 100 a second
    assert sent["sent_bytes"] == 50 * 972
    assert sent["seconds"] >= 0.48
    receiver.send_signal(signal.SIGTERM)
    lines = [json.loads(line) for line in receiver.communicate(timeout=20)[0].splitlines()]
    assert lines[-1]["received_packets"] == 50
    assert lines[-1]["received_bytes"] == 50 * 972
    counts = [line["received_bytes"] for line in lines]
    assert counts == sorted(counts)
    assert len(lines) >= 4  # one each 100 ms
