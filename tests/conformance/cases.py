# SPDX-License-Identifier: Apache-2.0
"""The rules of docs/wire-format.md one by one, with outcomes worked out by hand.

Loss causes and recognition are here, feedback is in cases_xcp.py and cases_maxmin.py.
Frames go from port 0 to port 1.
"""

from __future__ import annotations

from collections.abc import Callable

from conformance import frames
from conformance.cases_maxmin import MAXMIN_CASES
from conformance.cases_xcp import XCP_CASES
from conformance.frames import ack, data, ipv4, ipv6, tag
from conformance.vectors import Case


def tags_on(case: Case, edge: bool = False) -> None:
    """Turn on both sequence checks, no XCP."""
    case.configure(0, check=True, edge=edge, wire=True)
    case.configure(1, stamp=True)


def wire(case: Case, numbers: list[int], totals: list[int]) -> None:
    """TAG packets of bucket 5 with these link numbers must leave with these totals, numbered from 0."""
    tags_on(case)
    for sent, (number, total) in enumerate(zip(numbers, totals, strict=True)):
        case.forward(ipv4(tag(5, number)), ipv4(tag(5, sent, corrupt=total)))


def wire_gap(case: Case) -> None:
    """Two packets are missing before the third: the path total of wire losses becomes 2 and stays."""
    wire(case, [10, 11, 14, 15], [0, 0, 2, 2])


def wire_late(case: Case) -> None:
    """A packet that was counted as lost arrives late and takes its count back."""
    wire(case, [10, 12, 11, 13], [0, 1, 0, 0])


def wire_duplicate(case: Case) -> None:
    """A duplicate reads as late: one less than nothing is 65535, modulo 2^16."""
    wire(case, [10, 10, 11], [0, 65535, 65535])


def wire_longest_gap(case: Case) -> None:
    """16383 missing packets are believed: expected 1, number 16384."""
    wire(case, [0, 16384, 16385], [0, 16383, 16383])


def wire_jump_ahead(case: Case) -> None:
    """16384 ahead of the expected 1 is a jump: nothing is counted, the next number is judged from there."""
    wire(case, [0, 16385, 16387], [0, 0, 1])


def wire_oldest_late(case: Case) -> None:
    """256 behind the expected 1001 is late: the expected number stays, so 1001 is in order."""
    wire(case, [1000, 745, 1001], [0, 65535, 65535])


def wire_jump_back(case: Case) -> None:
    """16384 behind the expected 20001 is a jump, as after a restart: 3619 follows 3617 with one lost."""
    wire(case, [20000, 3617, 3619], [0, 0, 1])
    case.state(0, wire_late=0, wire_rebased=1)


def wire_farthest_late(case: Case) -> None:
    """257 and 16383 behind the expected 20001 are late: overtaken, while 20001 comes in order."""
    wire(case, [20000, 19744, 3618, 20001], [0, 65535, 65534, 65534])
    case.state(0, wire_late=2, wire_rebased=0)


def wire_overtaken_by_300(case: Case) -> None:
    """299 are missing before 1300, then the first of them comes, 300 behind 1301: 298 stay lost."""
    wire(case, [1000, 1300, 1001, 1301], [0, 299, 298, 298])
    case.state(0, wire_lost=299, wire_late=1, wire_rebased=0)


def wire_restart_far_behind(case: Case) -> None:
    """From 0 again, 1001 behind: 63 are late, 65536 - 63 = 65473; the 64th is a new base, 65 is missing."""
    late = [65536 - n for n in range(1, 64)]
    wire(case, [1000, *range(63), 63, 64, 66], [0, *late, 65473, 65473, 65474])
    case.state(0, wire_lost=1, wire_late=63, wire_rebased=1)


def wire_far_in_turns(case: Case) -> None:
    """63 in a row far behind, then one in order, twice: no restart, 65536 - 126 = 65410."""
    late = [65536 - n for n in range(1, 127)]
    numbers = [1000, *range(63), 1001, *range(63, 126), 1002]
    wire(case, numbers, [0, *late[:63], 65473, *late[63:], 65410])
    case.state(0, wire_late=126, wire_rebased=0)


def wire_far_then_late(case: Case) -> None:
    """A packet late by 256 is not far behind: 63, it, and 63 more are all late, 65536 - 127 = 65409."""
    late = [65536 - n for n in range(1, 128)]
    wire(case, [1000, *range(63), 745, *range(63, 126), 1001], [0, *late, 65409])
    case.state(0, wire_late=127, wire_rebased=0)


def wire_far_with_a_gap(case: Case) -> None:
    """A gap ends the row as well: 63 far behind, one of 10 lost, 63 more; 65536 - 126 + 10 = 65420."""
    late = [65536 - n for n in range(1, 64)]
    totals = [0, *late, 65483, *(total - 53 for total in late), 65420]
    wire(case, [1000, *range(63), 1011, *range(63, 126), 1012], totals)
    case.state(0, wire_lost=10, wire_late=126, wire_rebased=0)


def wire_restarts_twice(case: Case) -> None:
    """The row begins anew behind a restart: 63 of the next sender are late too, 65536 - 126 = 65410."""
    late = [65536 - n for n in range(1, 127)]
    numbers = [4000, *range(2000, 2064), *range(64), 64]
    wire(case, numbers, [0, *late[:63], 65473, *late[63:], 65410, 65410])
    case.state(0, wire_lost=0, wire_late=126, wire_rebased=2)


def wire_far_in_two_buckets(case: Case) -> None:
    """Each bucket has a row of its own: 63 far behind in bucket 5 and one in bucket 6 are late."""
    wire(case, [1000, *range(63)], [0, *(65536 - n for n in range(1, 64))])
    for sent, (number, total) in enumerate([(1000, 0), (0, 65535), (1001, 65535)]):
        case.forward(ipv4(tag(6, number)), ipv4(tag(6, sent, total)))
    case.state(0, wire_late=64, wire_rebased=0)


def wire_far_before_a_new_base(case: Case) -> None:
    """A packet that only sets the base ends the row: on a link that is no wire, and as `check` comes back."""
    wire(case, [1000, *range(63)], [0, *(65536 - n for n in range(1, 64))])
    case.configure(0, check=True)
    case.forward(ipv4(tag(5, 5000)), ipv4(tag(5, 64, 65473)))
    case.configure(0, check=True, wire=True)
    for number in range(63):
        case.forward(ipv4(tag(5, number)), ipv4(tag(5, 65 + number, 65472 - number)))
    case.configure(0)
    case.configure(0, check=True, wire=True)
    case.forward(ipv4(tag(5, 9000)), ipv4(tag(5, 128, 65410)))
    case.forward(ipv4(tag(5, 8000)), ipv4(tag(5, 129, 65409)))
    case.state(0, wire_late=127, wire_rebased=0)


def wire_number_wraps(case: Case) -> None:
    """Numbers wrap at 2^16: 65535, 0 are neighbours; between 0 and 2 one is lost."""
    wire(case, [65534, 65535, 0, 2], [0, 0, 0, 1])


def wire_total_wraps(case: Case) -> None:
    """4 * 16383 = 65532 lost, then 5 more: 65537 is 1 modulo 2^16."""
    numbers = [0, 16384, 32768, 49152, 0, 6]
    wire(case, numbers, [0, 16383, 32766, 49149, 65532, 1])


def header_total_wraps(case: Case) -> None:
    """The header's total from earlier hops wraps too: 65535 + 2 is 1; the queue's total likewise stays 9."""
    tags_on(case)
    case.forward(ipv4(tag(5, 10, 65535, 9)), ipv4(tag(5, 0, 65535, 9)))
    case.forward(ipv4(tag(5, 13, 65535, 9)), ipv4(tag(5, 1, 1, 9)))


def queue_drop(case: Case) -> None:
    """Three packets join the queue, the second and third are dropped: the fourth carries 2 queue drops."""
    tags_on(case)
    case.forward(ipv4(tag(5, 0)), ipv4(tag(5, 0)))
    for number in (1, 2):
        case.ingress(0, ipv4(tag(5, number)))
        case.enqueue(1, number=number, numbered=1)
    case.forward(ipv4(tag(5, 3, congest=100)), ipv4(tag(5, 1, congest=102)))
    case.state(1, queue_lost=2, wire_lost=0)


def data_carries_causes(case: Case) -> None:
    """DATA has the same block of tags 16 bytes further: gap of 3 on the wire, bucket 9."""
    tags_on(case)
    case.forward(ipv4(data(1, 2, 3, 4, 9, 100)), ipv4(data(1, 2, 3, 4, 9, 0)))
    before = data(1, 2, 3, 4, 9, 104, 1, 2, 7, 8, flags=0xA5)
    after = data(1, 2, 3, 4, 9, 1, 4, 2, 7, 8, flags=0xA5)
    case.forward(ipv4(before), ipv4(after))


def buckets(case: Case) -> None:
    """Each bucket counts for itself; with 4096 buckets, 4101 is 5 again and shares its numbers and losses."""
    tags_on(case)
    case.forward(ipv4(tag(5, 10)), ipv4(tag(5, 0)))
    case.forward(ipv4(tag(6, 77)), ipv4(tag(6, 0)))
    case.forward(ipv4(tag(5, 12)), ipv4(tag(5, 1, 1)))
    case.forward(ipv4(tag(6, 78)), ipv4(tag(6, 1, 0)))
    case.forward(ipv4(tag(4101, 13)), ipv4(tag(4101, 2, 1)))


def edge_zeroes(case: Case) -> None:
    """A host claims 500 and 600 earlier losses. An edge port drops the claims, then adds its own finding."""
    tags_on(case, edge=True)
    case.forward(ipv4(tag(5, 10, 500, 600, 7, 8)), ipv4(tag(5, 0, 0, 0, 7, 8)))
    case.forward(ipv4(tag(5, 14, 500, 600, 7, 8)), ipv4(tag(5, 1, 3, 0, 7, 8)))


def hop_that_does_not_stamp(case: Case) -> None:
    """Without stamp and check the header passes unchanged, the number of the previous stamper included."""
    case.configure(0)
    case.configure(1)
    for number in (10, 20):
        same = ipv4(tag(5, number, 3, 4))
        case.forward(same, same)


def check_switched_on_later(case: Case) -> None:
    """Switching `check` off discards the expected numbers; the total stays."""
    tags_on(case)
    case.forward(ipv4(tag(5, 10)), ipv4(tag(5, 0)))
    case.forward(ipv4(tag(5, 12)), ipv4(tag(5, 1, 1)))
    case.configure(0, wire=True)
    case.forward(ipv4(tag(5, 13)), ipv4(tag(5, 2, 0)))
    case.configure(0, check=True, wire=True)
    case.forward(ipv4(tag(5, 200)), ipv4(tag(5, 3, 1)))


def ack_untouched(case: Case) -> None:
    """ACK has no fields for a router: it passes unchanged, whatever is switched on."""
    case.configure(0, check=True, edge=True)
    case.configure(1, stamp=True, xcp=True, capacity=1)
    for packet in (ipv4(ack(0xFFFFFFFF, 0xFFFF, 0xFFFF, flags=0xFF)), ipv6(ack(1, 2, 3))):
        case.forward(packet, packet)
    case.state(1, input=len(ipv4(ack())) + len(ipv6(ack())), sum_x=0)


def placement(case: Case) -> None:
    """The header is found behind IPv4, its options up to 60 bytes, IPv6, and one VLAN tag before either."""
    tags_on(case)
    carriers: list[Callable[[bytes], bytes]] = [
        lambda header: ipv4(header),
        lambda header: ipv6(header),
        lambda header: ipv4(header, vlan=0xFFFF),
        lambda header: ipv6(header, vlan=100),
        lambda header: ipv4(header, options=bytes([1] * 4)),
        lambda header: ipv4(header, options=bytes([1] * 40)),
        lambda header: ipv4(header, options=bytes([1] * 40), vlan=5),
    ]
    for bucket, carry in enumerate(carriers):
        case.forward(carry(tag(bucket, 9) + b"tail"), carry(tag(bucket, 0) + b"tail"))


def malformed(case: Case) -> None:
    """Every kind of malformed header: forwarded byte for byte, counted once each."""
    tags_on(case)
    good = tag(5, 9)
    bad = [
        ipv4(good, flags=0x2000),  # first fragment
        ipv4(good, flags=0x0001),  # later fragment
        ipv4(good[:0]),  # nothing behind IP
        ipv4(good[:11]),  # shorter than any format
        ipv4(good[:15]),  # shorter than TAG, by the frame
        ipv4(good, total=35),  # by the IPv4 total length
        ipv4(good, total=0),  # total length below the IPv4 header
        ipv6(good[:15]),
        ipv6(good, length=15),
        ipv4(data()[:31]),
        ipv4(ack()[:11]),
        ipv4(good[:2] + b"\x03" + good[3:]),  # version 0
        ipv4(good[:2] + b"\x23" + good[3:]),  # version 2
        ipv4(good[:2] + b"\x10" + good[3:]),  # format 0
        ipv4(good[:2] + b"\x14" + good[3:]),  # format 4
        ipv4(good[:1] + b"\x0c" + good[2:]),  # the length of ACK
        ipv4(b"\x06\x00" + good[2:]),  # no length
        ipv4(b"\x06\x20" + good[2:] + bytes(16)),  # the length of DATA
    ]
    for packet in bad:
        case.forward(packet, packet)
    case.state(0, malformed=18, wire_rebased=0)


def ordinary(case: Case) -> None:
    """A frame without Clarion's protocol number in the expected place is ordinary: unchanged, not counted."""
    tags_on(case)
    good = tag(5, 9)
    hop_by_hop = bytes([frames.PROTOCOL, 0, 1, 4, 0, 0, 0, 0])
    untouched = [
        b"",
        frames.MACS,
        frames.MACS + b"\x08\x06" + bytes(28),  # ARP
        ipv4(good, protocol=6),
        ipv6(good, protocol=6),
        ipv6(hop_by_hop + good, protocol=0),
        ipv4(good, first=0x65),  # IP version of the other kind
        ipv6(good, first=0x40),
        ipv4(good, first=0x44),  # IPv4 header of 16 bytes
        frames.MACS + b"\x81\x00\x00\x01\x81\x00\x00\x02" + ipv4(good)[12:],  # two VLAN tags
        ipv4(b"")[:33],  # cut inside the IPv4 header
        ipv6(b"")[:53],
    ]
    for packet in untouched:
        case.forward(packet, packet)
    case.state(0, malformed=0)


def padding(case: Case) -> None:
    """Ethernet padding behind the IP packet is not part of it and is ignored."""
    tags_on(case)
    case.forward(ipv4(tag(5, 9)) + bytes(10), ipv4(tag(5, 0)) + bytes(10))
    short = ipv4(tag(5, 9)[:12], total=32) + bytes(14)
    case.forward(short, short)
    case.state(0, malformed=1)


def flooding(case: Case) -> None:
    """One frame leaves by two ports: each copy is numbered and checked by its own port."""
    case.configure(0, check=True, wire=True)
    case.configure(1, stamp=True)
    case.configure(2, stamp=True)
    case.forward(ipv4(tag(5, 0)), ipv4(tag(5, 0)))
    case.ingress(0, ipv4(tag(5, 2)))
    case.copy(0, 1)
    case.enqueue(1, slot=0, number=1)
    case.enqueue(2, slot=1, number=0)
    case.dequeue(1, ipv4(tag(5, 1, 1)), slot=0)
    case.dequeue(2, ipv4(tag(5, 0, 1)), slot=1)


def stamp_switched_while_queued(case: Case) -> None:
    """A packet numbered when it joined the queue is checked and stamped when it leaves; others are not."""
    tags_on(case)
    case.ingress(0, ipv4(tag(5, 10, congest=7)), slot=0)
    case.enqueue(1, slot=0, numbered=1, number=0)
    case.configure(1)
    case.ingress(0, ipv4(tag(5, 12, congest=7)), slot=1)
    case.enqueue(1, slot=1, numbered=0)
    case.configure(1, stamp=True)
    case.dequeue(1, ipv4(tag(5, 0, 0, 7)), slot=0)
    case.dequeue(1, ipv4(tag(5, 12, 1, 7)), slot=1)
    case.forward(ipv4(tag(5, 13)), ipv4(tag(5, 1, 1)))


def wire_unknown(case: Case) -> None:
    """Unless the link is known to be a bare wire, gaps, late packets and jumps count nothing."""
    case.configure(0, check=True)
    case.configure(1, stamp=True)
    for sent, number in enumerate((10, 14, 12, 12, 40000, 41000)):
        case.forward(ipv4(tag(5, number, 7)), ipv4(tag(5, sent, 7)))
    case.state(0, wire_lost=0, wire_late=0, wire_rebased=0)


def wire_proven_later(case: Case) -> None:
    """No gap from before the proof counts when it comes; the total stays and goes on when it ends."""
    tags_on(case)
    case.forward(ipv4(tag(5, 10)), ipv4(tag(5, 0)))
    case.forward(ipv4(tag(5, 13)), ipv4(tag(5, 1, 2)))
    case.configure(0, check=True)
    case.forward(ipv4(tag(5, 100)), ipv4(tag(5, 2, 2)))
    case.forward(ipv4(tag(5, 90)), ipv4(tag(5, 3, 2)))
    case.configure(0, check=True, wire=True)
    case.forward(ipv4(tag(5, 91)), ipv4(tag(5, 4, 2)))
    case.forward(ipv4(tag(5, 93)), ipv4(tag(5, 5, 3)))
    case.state(0, wire_lost=3, wire_late=0, wire_rebased=0)


CASES = [
    wire_unknown,
    wire_proven_later,
    wire_gap,
    wire_late,
    wire_duplicate,
    wire_longest_gap,
    wire_jump_ahead,
    wire_oldest_late,
    wire_jump_back,
    wire_farthest_late,
    wire_overtaken_by_300,
    wire_restart_far_behind,
    wire_far_in_turns,
    wire_far_then_late,
    wire_far_with_a_gap,
    wire_restarts_twice,
    wire_far_in_two_buckets,
    wire_far_before_a_new_base,
    wire_number_wraps,
    wire_total_wraps,
    header_total_wraps,
    queue_drop,
    data_carries_causes,
    buckets,
    edge_zeroes,
    hop_that_does_not_stamp,
    check_switched_on_later,
    ack_untouched,
    placement,
    malformed,
    ordinary,
    padding,
    flooding,
    stamp_switched_while_queued,
    *XCP_CASES,
    *MAXMIN_CASES,
]
