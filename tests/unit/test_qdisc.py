# SPDX-License-Identifier: Apache-2.0
"""Drops of queueing disciplines, from rtnetlink's messages."""

from __future__ import annotations

import struct

from clarion_lab.hosts import qdisc

ROOT = 0xFFFFFFFF


def attribute(kind: int, content: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(content), kind) + content + bytes(-len(content) % 4)


def message(index: int, parent: int, drops: int, nested: int = 0) -> bytes:
    """RTM_NEWQDISC with its kind (an odd length) and, nested, basic and queue statistics."""
    queue = attribute(3, struct.pack("=IIIII", 3000, 2, drops, 1, 9))
    statistics = attribute(nested | 7, attribute(1, bytes(16)) + queue)
    return struct.pack("=B3xiIII", 0, index, 1 << 16, parent, 2) + attribute(1, b"tbf\0x") + statistics


def test_the_drops_of_a_root_are_read() -> None:
    assert qdisc.root_drops(message(2, ROOT, 77)) == 77
    assert qdisc.root_drops(message(2, ROOT, 77, nested=0x8000)) == 77


def test_the_loopback_and_inner_disciplines_do_not_count() -> None:
    assert qdisc.root_drops(message(1, ROOT, 77)) == 0
    assert qdisc.root_drops(message(2, 1 << 16, 77)) == 0


def test_what_is_cut_short_counts_nothing() -> None:
    whole = message(2, ROOT, 77)
    for length in range(len(whole)):
        assert qdisc.root_drops(whole[:length]) in (0, 77)
    assert qdisc.root_drops(whole[:40]) == 0


def test_a_datagram_holds_several_messages() -> None:
    one = struct.pack("=IHHII", 16 + 5, 36, 0, 0, 0) + b"hello" + bytes(3)
    assert list(qdisc.messages(one + one[:16])) == [(36, b"hello"), (36, b"")]
    assert list(qdisc.messages(struct.pack("=IHHII", 3, 36, 0, 0, 0))) == []
