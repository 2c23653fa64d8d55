# SPDX-License-Identifier: Apache-2.0
"""A transfer knows when its last byte came."""

from __future__ import annotations

import json
import subprocess
import sys
import time

from clarion_lab.hosts.traffic import TRANSFER
from fakes.ports import free_port


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen([*TRANSFER, *arguments], stdout=subprocess.PIPE, text=True)


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
