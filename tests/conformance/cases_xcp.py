# SPDX-License-Identifier: Apache-2.0
"""The rules of docs/datapath.md on feedback, with outcomes worked out by hand.

Most cases use an interval of exactly 2^28 ticks, one packet of 100 bytes per interval and sums that are
powers of two: the division by a power of two is the true quotient times (1 - 2^-18), since the table's entry
for a mantissa of 2^31 is 65408 and one Newton step makes it 65408 * 65664 = 2^32 - 2^14.

    rate  = 100 * 256 * (1 - 2^-18) = 25599.9                                   25599 q8
    pos   = (1000000 * 256 - 25599) / 2 with alpha one half                     127987200 q8
    Cp    = pos / 2^20 = (4095590400 * (1 - 2^-18)) * 2^-25 per tick            4095574776 * 2^-25
    p     = Cp * 2^20 for the x of 2^20                                         127986711 q8
"""

from __future__ import annotations

from conformance.frames import data, ipv4, tag
from conformance.vectors import Case

SECOND = 2**28
X = 2**20
MOST = 2**31 - 1


def packet(delta: int = MOST, x: int = X, rtt: int = 2**27, flags: int = 0) -> bytes:
    """Return a frame of 14 + 20 + 32 + 34 = 100 bytes."""
    return ipv4(data(rtt, x, delta, flags=flags) + bytes(34))


def left(delta: int, x: int = X, rtt: int = 2**27) -> bytes:
    """Return the same behind the first hop that regulates it: `hop` is 1."""
    return packet(delta, x, rtt, flags=0x02)


def start(case: Case, **config: int) -> None:
    """Switch on XCP at port 1 with intervals of one second; by default half the spare capacity is given."""
    values = {"capacity": 1_000_000, "alpha": 32768, "beta": 0, "gamma": 0, **config}
    case.configure(1, xcp=True, min_interval=SECOND, max_interval=SECOND, **values)


def one_interval(case: Case, frame: bytes) -> None:
    """One packet makes up the first interval, granted nothing; the next arrival, at one second, ends it."""
    case.ingress(0, frame)
    case.enqueue(1, pos=0, neg=0)


def grant(case: Case) -> None:
    """A flow that asks for a lot gets its share: 127986711 q8 = 499948 bytes/s and 23/256 over."""
    start(case)
    one_interval(case, packet())
    case.dequeue(1, left(0))
    case.ingress(0, packet(), SECOND)
    case.enqueue(1, SECOND, intervals=1, pos=127987200, neg=0, cp=4095574776, cp_shift=25, cn=0)
    case.dequeue(1, left(499948), SECOND, pos=489, carry=23)
    case.state(1, rate=25599, phi=127987200, elapsed=SECOND, avg_rtt=2**27 - 512, input=100, sum_x=X)


def grant_exactly(case: Case) -> None:
    """Asking for exactly the share counts as at least the share: it pays p, not 499948 * 256."""
    start(case)
    one_interval(case, packet())
    case.ingress(0, packet(499948), SECOND)
    case.enqueue(1, SECOND)
    case.dequeue(1, left(499948), SECOND, pos=489, carry=23)


def asks_for_less(case: Case) -> None:
    """A flow that asks for 1000 keeps it, and only 256000 q8 leave the pool."""
    start(case)
    one_interval(case, packet())
    case.ingress(0, packet(1000), SECOND)
    case.enqueue(1, SECOND)
    case.dequeue(1, left(1000), SECOND, pos=127987200 - 256000, neg=0, carry=0)


def gives_up_rate(case: Case) -> None:
    """A flow that gives up 1000 loses it, and with no decreases due its 256000 q8 go to the others."""
    start(case)
    one_interval(case, packet())
    case.ingress(0, packet(-1000), SECOND)
    case.enqueue(1, SECOND)
    case.dequeue(1, left(-1000), SECOND, pos=127987200 + 256000, neg=0)


def spent_pool(case: Case) -> None:
    """The second packet gets the rest, 489 + carry 23 = 512 q8 = 2 bytes/s; that closes the pool."""
    start(case)
    one_interval(case, packet())
    for granted, pos, cp in ((499948, 489, 4095574776), (2, 0, 0), (0, 0, 0)):
        case.ingress(0, packet(), SECOND)
        case.enqueue(1, SECOND)
        case.dequeue(1, left(granted), SECOND, pos=pos, cp=cp)


def carry(case: Case) -> None:
    """Shares of 192/256 byte/s add up: 3 in 4 packets get 1. Cp = pos / 2^28, times x = 403 is 192.1."""
    start(case)
    one_interval(case, packet(x=2**28))
    for granted, left_over in ((0, 192), (1, 128), (1, 64), (1, 0), (0, 192)):
        case.ingress(0, packet(x=403), SECOND)
        case.enqueue(1, SECOND)
        case.dequeue(1, left(granted, x=403), SECOND, carry=left_over)


def overload(case: Case) -> None:
    """No capacity: phi = -25599/2 = -12799; a packet of 100 bytes pays 12798 q8: -50 bytes/s, 2/256 over."""
    start(case, capacity=0)
    one_interval(case, packet())
    case.ingress(0, packet(), SECOND)
    case.enqueue(1, SECOND, pos=0, neg=12799)
    case.dequeue(1, left(-50), SECOND, neg=1, carry=2)
    case.ingress(0, packet(), SECOND)
    case.enqueue(1, SECOND)
    case.dequeue(1, left(0), SECOND, neg=0, carry=1, cn=0)
    case.state(1, phi=-12799)


def slows_down_more(case: Case) -> None:
    """Asked -100 when -50 was due: n = all 12799 that is left, p = -25600 + 12799 goes to the others."""
    start(case, capacity=0)
    one_interval(case, packet())
    case.ingress(0, packet(-100), SECOND)
    case.enqueue(1, SECOND)
    case.dequeue(1, left(-100), SECOND, pos=12801, neg=0)


def shuffle(case: Case) -> None:
    """At phi = 0 half the input rate changes hands: the usual x breaks even, a flow twice as fast pays 25."""
    start(case, alpha=0, gamma=32768)
    one_interval(case, packet())
    case.ingress(0, packet(x=X // 2), SECOND)
    case.enqueue(1, SECOND, pos=12799, neg=12799)
    # p = 12798.95 / 2 = 6399, n = 12798.98, floored 12798; -6399 is -25 * 256 + 1
    case.dequeue(1, left(-25, x=X // 2), SECOND, pos=6400, neg=1, carry=1)


def shuffle_breaks_even(case: Case) -> None:
    """At phi = 0 a flow with the mean x and size gets what it pays: p = n = 12798."""
    start(case, alpha=0, gamma=32768)
    one_interval(case, packet())
    case.ingress(0, packet(), SECOND)
    case.enqueue(1, SECOND)
    case.dequeue(1, left(0), SECOND, pos=1, neg=1, carry=0)


def standing_queue(case: Case) -> None:
    """The least queue of half a second is what beta drains; windows end at 2^27, 2^28, the interval at 2^28.

    avg_rtt = 2^26 - 256 = 67108608; drain = 4000 * 2^36 / 67108608 = 4096015.6, less 9.5e-7 of it: 4096011.
    """
    start(case, alpha=0, beta=65536)
    case.ingress(0, packet(rtt=2**26))
    case.enqueue(1, 0, queue=5000, persistent_queue=0, least_queue=5000)
    case.enqueue(1, 2**26, queue=3000, persistent_queue=0, least_queue=3000)
    case.dequeue(1, left(0, rtt=2**26), 2**26, queue=2000)
    case.ingress(0, packet(rtt=2**26))
    case.enqueue(1, 2**27 - 1, queue=4000, persistent_queue=0, least_queue=2000)
    case.enqueue(1, 2**27, queue=4000, persistent_queue=2000, least_queue=4000)
    case.enqueue(1, 2**28, queue=9000, persistent_queue=4000, least_queue=9000, neg=4096011)
    case.state(1, phi=-4096011)


def rtt_unknown(case: Case) -> None:
    """RTT 0 is in no sum; without sums nothing is shared, the RTT stays the assumed 26843546 ticks."""
    start(case)
    one_interval(case, packet(rtt=0))
    case.ingress(0, packet(rtt=0), SECOND)
    case.enqueue(1, SECOND, sum_x=0, sum_x_rtt=0, input=100, pos=127987200, cp=0, avg_rtt=26843546)
    case.dequeue(1, left(0, rtt=0), SECOND)


def rtt_extreme(case: Case) -> None:
    """An RTT of 16 s counts as the longest interval: 2^20 * 2^28 / 2^8 = 2^40; avg_rtt is 2^28 - 2^10."""
    start(case)
    case.ingress(0, packet(rtt=0xFFFFFFFF))
    case.enqueue(1, sum_x=X, sum_x_rtt=2**40)
    case.ingress(0, packet(), SECOND)
    case.enqueue(1, SECOND, avg_rtt=2**28 - 1024)


def rtt_shortest(case: Case) -> None:
    """1 * 120 rounds to 0 and 1 * 128 to 1 of 2^-48 s^2; an average of 0 becomes 1 tick."""
    start(case)
    case.ingress(0, packet(x=1, rtt=120))
    case.enqueue(1, sum_x=1, sum_x_rtt=0)
    case.ingress(0, packet(x=1, rtt=128), SECOND)
    case.enqueue(1, SECOND, avg_rtt=1, sum_x_rtt=1)


def x_zero(case: Case) -> None:
    """x = 0 with an RTT adds nothing; sum_x = 0 is no division by zero."""
    start(case)
    one_interval(case, packet(x=0))
    case.ingress(0, packet(x=0), SECOND)
    case.enqueue(1, SECOND, cp=0, avg_rtt=26843546)
    case.dequeue(1, left(0, x=0), SECOND)


def sums_saturate(case: Case) -> None:
    """Each (2^32 - 1) * (2^32 - 8) adds 2^56 - 9 * 2^24; 256 of them fit 64 bits, the next one saturates."""
    longest = 2**32 - 1
    case.configure(1, xcp=True, capacity=1, min_interval=longest, max_interval=longest)
    case.ingress(0, packet(x=longest, rtt=longest))
    for count in range(1, 258):
        if count == 256:
            case.enqueue(1, sum_x=256 * longest, sum_x_rtt=2**64 - 9 * 2**32)
        elif count == 257:
            case.enqueue(1, sum_x=257 * longest, sum_x_rtt=2**64 - 1)
        else:
            case.enqueue(1)


def share_of_a_packet_saturates(case: Case) -> None:
    """However much there is, one packet gets at most 2^31 - 1 bytes/s: the most that the header can say."""
    start(case, capacity=2**38 - 1, alpha=65536)
    one_interval(case, packet())
    case.ingress(0, packet(), SECOND)
    case.enqueue(1, SECOND, pos=2**46 - 256 - 25599)
    case.dequeue(1, left(MOST), SECOND, pos=2**46 - 256 - 25599 - MOST * 256, carry=0)


def gain_saturates(case: Case) -> None:
    """2^46 q8 over a sum of one tick: Cp stops at 2^32 - 1 per tick, 16777215 bytes/s and 255/256."""
    start(case, capacity=2**38 - 1, alpha=65536)
    one_interval(case, packet(x=1))
    case.ingress(0, packet(x=1), SECOND)
    case.enqueue(1, SECOND, cp=2**32 - 1, cp_shift=0)
    case.dequeue(1, left(16777215, x=1), SECOND, carry=255)


def limits_of_configuration(case: Case) -> None:
    """A value out of range becomes the nearest legal one: capacity 2^38 - 1, alpha just below 4, 1 tick.

    The first interval lasts 1 tick: rate = 1500 * 2^36 is above 2^46 - 1, so the spare capacity is
    2^46 - 256 - (2^46 - 1) = -255 and phi = -(2^18 - 1) * 255 / 2^16 = -1019.99, towards zero: -1019.
    """
    case.configure(1, xcp=True, capacity=2**60, alpha=2**31, beta=0, gamma=0, min_interval=0, max_interval=0)
    case.ingress(0, ipv4(data(2**27, X) + bytes(1434)))
    case.enqueue(1)
    case.enqueue(1, 1, intervals=1, neg=1019)
    case.state(1, rate=2**46 - 1, phi=-1019)


def first_interval(case: Case) -> None:
    """Before any RTT is known an interval lasts 100 ms from the first arrival: 26843546 ticks."""
    case.configure(1, xcp=True, capacity=1_000_000)
    case.ingress(0, packet())
    case.enqueue(1, 1000, intervals=0)
    case.enqueue(1, 1000 + 26843545, intervals=0, input=200)
    case.enqueue(1, 1000 + 26843546, intervals=1, input=100)


def interval_follows_rtt(case: Case) -> None:
    """The next interval is the average RTT, 2^27 - 512 ticks, and starts at the real end of the last one."""
    case.configure(1, xcp=True, capacity=1_000_000)
    case.ingress(0, packet())
    case.enqueue(1, 0)
    case.enqueue(1, 30_000_000, intervals=1, avg_rtt=2**27 - 512)
    case.enqueue(1, 30_000_000 + 2**27 - 513, intervals=1)
    case.enqueue(1, 30_000_000 + 2**27 - 512, intervals=2)


def idle_port(case: Case) -> None:
    """The next arrival comes after 100 s, counted as 2^32 - 1 ticks: 100 bytes are 6.2 bytes/s, 1599 q8."""
    start(case)
    one_interval(case, packet())
    case.ingress(0, packet(), 100 * SECOND)
    case.enqueue(1, 100 * SECOND, input=100)
    case.state(1, elapsed=2**32 - 1, rate=1599, intervals=1)


def clock_goes_back(case: Case) -> None:
    """An earlier time counts as no time: nothing ends, the packet counts."""
    start(case)
    case.ingress(0, packet())
    case.enqueue(1, 2 * SECOND)
    case.enqueue(1, 0, intervals=0, input=200)
    case.enqueue(1, 3 * SECOND, intervals=1, input=100)


def xcp_off(case: Case) -> None:
    """Without XCP at the port the request passes unchanged, and nothing is counted."""
    case.configure(1, xcp=False, capacity=1)
    for delta in (MOST, 0, -5):
        case.forward(packet(delta), packet(delta))
    case.state(1, input=0, sum_x=0, intervals=0)


def xcp_on_again(case: Case) -> None:
    """Switching on starts from a clean state with the next packet; a change while on keeps the state."""
    start(case)
    one_interval(case, packet())
    case.enqueue(1, SECOND, pos=127987200)
    start(case, capacity=5)
    case.state(1, pos=127987200, avg_rtt=2**27 - 512)
    case.configure(1, xcp=False)
    start(case)
    case.state(1, pos=127987200, avg_rtt=2**27 - 512)
    case.enqueue(1, 5 * SECOND, pos=0, cp=0, input=100, intervals=0, avg_rtt=26843546)


def xcp_switched_while_queued(case: Case) -> None:
    """A packet that joined the queue under XCP is granted when it leaves; one that did not is not."""
    start(case)
    one_interval(case, packet())
    case.ingress(0, packet(1000), SECOND)
    case.enqueue(1, SECOND, queue=100, least_queue=100, pos=127987200)
    case.configure(1)
    case.ingress(0, packet(), SECOND, slot=1)
    case.enqueue(1, SECOND, slot=1, queue=200, input=100)
    case.dequeue(1, left(1000), SECOND, queue=100, pos=127987200 - 256000)
    start(case)
    case.dequeue(1, packet(), SECOND, slot=1, pos=127987200 - 256000)


def hop_counts(case: Case) -> None:
    """Every hop with XCP is one more, 7 at most; the other flags pass unchanged, and an RTT is not needed."""
    start(case)
    for hop, after in ((0, 1), (1, 2), (5, 6), (6, 7), (7, 7)):
        for others in (0x00, 0xF1):
            case.ingress(0, packet(rtt=0, flags=hop << 1 | others))
            case.enqueue(1)
            case.dequeue(1, packet(0, rtt=0, flags=after << 1 | others))


def hop_of_data_only(case: Case) -> None:
    """TAG has no hop for a router to count, and DATA has none at a port without XCP."""
    start(case)
    case.forward(ipv4(tag(5, 9, flags=0xF5) + bytes(50)), ipv4(tag(5, 9, flags=0xF5) + bytes(50)))
    case.configure(1)
    case.forward(packet(flags=0xF5), packet(flags=0xF5))


def rtt_low_bits(case: Case) -> None:
    """The low three bits of the RTT's word are no time: 7 is an unknown RTT, 2^27 + 5 counts as 2^27."""
    start(case)
    case.ingress(0, packet(rtt=7))
    case.enqueue(1, sum_x=0, sum_x_rtt=0)
    case.dequeue(1, left(0, rtt=7))
    case.ingress(0, packet(rtt=2**27 + 5))
    case.enqueue(1, sum_x=X, sum_x_rtt=2**39)
    case.dequeue(1, left(0, rtt=2**27 + 5))


XCP_CASES = [
    hop_counts,
    hop_of_data_only,
    rtt_low_bits,
    grant,
    grant_exactly,
    asks_for_less,
    gives_up_rate,
    spent_pool,
    carry,
    overload,
    slows_down_more,
    shuffle,
    shuffle_breaks_even,
    standing_queue,
    rtt_unknown,
    rtt_extreme,
    rtt_shortest,
    x_zero,
    sums_saturate,
    share_of_a_packet_saturates,
    gain_saturates,
    limits_of_configuration,
    first_interval,
    interval_follows_rtt,
    idle_port,
    clock_goes_back,
    xcp_off,
    xcp_on_again,
    xcp_switched_while_queued,
]
