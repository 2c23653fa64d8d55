# SPDX-License-Identifier: Apache-2.0
"""Datagrams at a constant rate, as a program of its own in a host's namespace.

The receiver writes what has come so far as lines of JSON, so that its rate over time is known, too. Standard
library only: it runs by its path.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import signal
import socket
import sys
import time
from types import FrameType
from typing import Any

REPORT_S = 0.1  # between two lines, at least
ANSWER_S = 60.0  # so often the receiver sends something: switches forget hosts that never do
BUFFER_BYTES = 8 << 20  # what comes while this program waits for its processor
_SO_RCVBUFFORCE = 33
_IP_MTU_DISCOVER, _IP_PMTUDISC_PROBE = 10, 3


class _StoppedError(Exception):
    """SIGTERM has come."""


def _stop(_number: int, _frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise _StoppedError


def receive(port: int) -> None:
    """Takes datagrams until SIGTERM; times are CLOCK_MONOTONIC."""
    bytes_ = packets = 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as here, contextlib.suppress(_StoppedError):
        with contextlib.suppress(OSError):  # without root the kernel's bound stays
            here.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, BUFFER_BYTES)
        here.bind(("", port))
        here.settimeout(REPORT_S)
        reported, report_at, answer_at = -1, 0.0, 0.0
        while True:
            with contextlib.suppress(TimeoutError):
                data, sender = here.recvfrom(1 << 16)
                bytes_ += len(data)
                packets += 1
                if time.monotonic() >= answer_at:
                    answer_at = time.monotonic() + ANSWER_S
                    here.sendto(b"", sender)
            if time.monotonic() >= report_at and packets > reported:
                reported, report_at = packets, time.monotonic() + REPORT_S
                _say(time_ns=time.monotonic_ns(), received_bytes=bytes_, received_packets=packets)
    _say(time_ns=time.monotonic_ns(), received_bytes=bytes_, received_packets=packets)


def send(
    to: tuple[str, int], source_port: int, rate_bps: int, packet_bytes: int, payload_bytes: int, times_ns: Any
) -> None:
    """Sends from one time to the other, each datagram at its own time, counted from the first, so that
    roundings do not add up. `packet_bytes` is what `rate_bps` counts of each.
    """
    begin_ns, end_ns = times_ns
    payload = bytes(payload_bytes)
    sent = 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as here, contextlib.suppress(_StoppedError):
        # Datagrams keep their size, whatever a router says of its MTU: it loses them.
        here.setsockopt(socket.IPPROTO_IP, _IP_MTU_DISCOVER, _IP_PMTUDISC_PROBE)
        here.bind(("", source_port))
        while (due_ns := begin_ns + sent * packet_bytes * 8 * 10**9 // rate_bps) < end_ns:
            wait_ns = due_ns - time.monotonic_ns()
            if wait_ns > 0:
                time.sleep(wait_ns / 1e9)
            here.sendto(payload, to)
            sent += 1
    _say(sent_packets=sent, sent_bytes=sent * payload_bytes, seconds=(time.monotonic_ns() - begin_ns) / 1e9)


def _say(**fields: float) -> None:
    print(json.dumps(fields), flush=True)


def main(arguments: list[str]) -> int:
    """One end, and its results as lines of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    ends = parser.add_subparsers(dest="end", required=True)
    receiver = ends.add_parser("receive")
    receiver.add_argument("--port", type=int, required=True)
    sender = ends.add_parser("send")
    sender.add_argument("--to", required=True)
    for name in ("port", "source-port", "rate-bps", "packet-bytes", "payload-bytes", "at-ns", "until-ns"):
        sender.add_argument(f"--{name}", type=int, required=True)
    given = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, _stop)
    try:
        if given.end == "receive":
            receive(given.port)
        else:
            to, times_ns = (given.to, given.port), (given.at_ns, given.until_ns)
            send(to, given.source_port, given.rate_bps, given.packet_bytes, given.payload_bytes, times_ns)
    except OSError as error:
        print(json.dumps({"error": str(error)}))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
