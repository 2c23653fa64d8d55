# SPDX-License-Identifier: Apache-2.0
"""The rules of docs/datapath.md on generation 2, with outcomes worked out by hand.

As in cases_xcp.py an interval has exactly 2^28 ticks and the sums are powers of two, so that a quotient is
the true one times (1 - 2^-18). Packets have 128 bytes. Most cases start with one packet of x = 2^20:

    own   = 128 * 256 * (1 - 2^-18) = 32767.9                                   32767 q8
    R     = 2^15 / 2^20 = (2^31 * (1 - 2^-18)) * 2^-36 q8 bytes per tick        2147475456 * 2^-36
    gap   = R * x - 2^15: x = 2^19 has 16383 - 32768 = -16385 (rich), 2^20 has -1, 2^21 has 32767 (poor)
    cap   = avg_rtt / (2 * max_rtt) = 0.49999, so 22938 q16; of 32767 that is 11468

Without alpha and gamma all of that is lift:

    H     = 11468 / 2^15 = (3006267392 * (1 - 2^-18)) * 2^-33                   3006255924 * 2^-33
    lift  = H * 16385 = 5734.3 for the rich, H * 32767 = 11467.6 for the poor

With a capacity of 1 Mbyte/s and an alpha of one half it is pools:

    pos   = (256000000 - 32767) / 2                                             127983616 q8
    Cp    = pos / 2^20 = (4095475712 * (1 - 2^-18)) * 2^-25                     4095460089 * 2^-25
    p     = Cp * 2^20 = 127983127.8, Cp * 2^21 = 255966255.6
"""

from __future__ import annotations

from conformance.frames import data, ipv4
from conformance.vectors import Case

SECOND = 2**28
X = 2**20
RICH, POOR = X // 2, 2 * X
MOST = 2**31 - 1
RTT = 2**20
POS = 127983616
# Of a pool of which an own packet has taken 127983127: that less 256000000 / 32 is unusual, and a quarter of
# it is missing in the next one.
QUARTER_OF_POOL = (127983127 - 8_000_000) // 2 // 2
CREDIT_MAX = 30


def packet(
    delta: int = MOST, x: int = X, field: int = 0, rtt: int = RTT, hop: int = 0, length: int = 128
) -> bytes:
    """Return a frame; 14 + 20 + 32 bytes of it are headers."""
    return ipv4(data(rtt + field, x, delta, flags=2 * hop) + bytes(length - 66))


def left(delta: int, x: int = X, field: int = 1, rtt: int = RTT, hop: int = 1, length: int = 128) -> bytes:
    """Return the same behind this hop, the first of the path; it limits a flow that asks for more."""
    return packet(delta, x, field, rtt, hop, length)


def start(case: Case, **config: int) -> None:
    """Switch on generation 2 at port 1; by default nothing but the lift changes hands."""
    values = {"generation": 2, "capacity": 0, "alpha": 0, "beta": 0, "gamma": 0, **config}
    case.configure(1, xcp=True, min_interval=SECOND, max_interval=SECOND, **values)


def start_with_pool(case: Case, **config: int) -> None:
    """Likewise, but half the spare capacity of 1 Mbyte/s is handed out."""
    start(case, **{"capacity": 1_000_000, "alpha": 32768, **config})


def pass_by(case: Case, sent: bytes, out: bytes, time: int = SECOND, **expect: int) -> None:
    """A packet comes and leaves at once; its departure leaves these shares."""
    case.ingress(0, sent, time)
    case.enqueue(1, time)
    case.dequeue(1, out, time, **expect)


def first_interval(case: Case, *xs: int, rtt: int = RTT) -> None:
    """Packets of the first interval: there is no fair share yet that one could lack, nothing is granted."""
    for x in xs or (X,):
        pass_by(case, packet(x=x, rtt=rtt), left(0, x, rtt=rtt), time=0)


def next_interval(case: Case, time: int, **expect: int) -> None:
    """A packet that the queue drops ends the interval; the next one starts with these shares."""
    case.ingress(0, packet(), time, slot=9)
    case.enqueue(1, time, slot=9, **expect)


# --- Lift and bank ------------------------------------------------------------------------------------


def maxmin_bank(case: Case) -> None:
    """A rich packet pays 5734 q8 into the bank, -23 bytes/s and 154/256 over; a poor one gets them, 23."""
    start(case)
    first_interval(case)
    case.ingress(0, packet(x=RICH), SECOND)
    case.enqueue(1, SECOND, pos=0, neg=0, cp=0, cn=0, fair=2147475456, fair_shift=36, bank=0)
    case.dequeue(1, left(-23, RICH), SECOND, bank=5734, carry=154, lift=3006255924, lift_shift=33)
    pass_by(case, packet(x=POOR), left(23, POOR), bank=0, carry=0, pos=0, neg=0)
    pass_by(case, packet(x=POOR), left(0, POOR), bank=0, carry=0)
    sum_x = RICH + 2 * POOR
    case.state(1, own_input=384, own_sum_x=sum_x, poor_sum_x=2 * POOR, max_rtt=RTT, limited=0, credit=30)


def maxmin_bank_pays_the_lift(case: Case) -> None:
    """Three rich packets pay 3 * 5734 = 17202; a poor one takes its 11467 only, 5735 stay."""
    start(case)
    first_interval(case)
    # -5734 each: -23 and 154 over, -5734 + 154 = -5580 = -22 * 256 + 52, -5734 + 52 = -5682 = -23 * 256 + 206
    for granted, bank, carry in ((-23, 5734, 154), (-22, 11468, 52), (-23, 17202, 206)):
        pass_by(case, packet(x=RICH), left(granted, RICH), bank=bank, carry=carry)
    # 11467 + 206 = 11673 = 45 * 256 + 153
    pass_by(case, packet(x=POOR), left(45, POOR), bank=5735, carry=153)


def maxmin_empty_bank(case: Case) -> None:
    """The poor packet comes first: nobody has paid anything in, so it gets nothing."""
    start(case)
    first_interval(case)
    pass_by(case, packet(x=POOR), left(0, POOR), bank=0, carry=0)
    pass_by(case, packet(x=RICH), left(-23, RICH), bank=5734, carry=154)


def maxmin_bank_of_one_interval(case: Case) -> None:
    """What is left in the bank is gone with the interval; the carry of 154 stays."""
    start(case)
    first_interval(case)
    pass_by(case, packet(x=RICH), left(-23, RICH), bank=5734)
    case.ingress(0, packet(x=4 * X), 2 * SECOND)
    case.enqueue(1, 2 * SECOND, bank=0, carry=154)
    case.dequeue(1, left(0, 4 * X), 2 * SECOND, bank=0, carry=154)


def maxmin_no_lift_past_the_limit(case: Case) -> None:
    """A poor flow that hop 2 limits gets no lift, the bank stays; a rich one pays. Hop 2 stays the limit."""
    start(case)
    first_interval(case)
    pass_by(case, packet(x=RICH, field=2), left(-23, RICH, 2), bank=5734, carry=154)
    pass_by(case, packet(x=POOR, field=2), left(0, POOR, 2), bank=5734, carry=154)
    case.state(1, own_input=128, own_sum_x=RICH, limited=0)
    pass_by(case, packet(x=POOR, field=1), left(23, POOR), bank=0, carry=0)


# --- Flows that another hop limits --------------------------------------------------------------------


def maxmin_later_hop_limits(case: Case) -> None:
    """Hop 2 will give less: the offer is all there is, twice, and costs nothing.

    pos = (2560000 - 32767) / 2 = 1263616; Cp * 2^21 = 2 * 1263616 * (1 - 2^-18) = 2527222.4 = 9871.9 * 256.
    """
    start_with_pool(case, capacity=10_000)
    first_interval(case)
    for _ in range(2):
        pass_by(case, packet(x=POOR, field=2), left(9871, POOR, 2), pos=1263616, carry=0)
    case.state(1, own_input=0, own_sum_x=0, limited=0, max_rtt=RTT)


def maxmin_doubles_at_most(case: Case) -> None:
    """Hop 2 will give less: of an offer of 999868 no more than G * 128 = 8388632.1 = 32768.1 * 256.

    The mean RTT is 2^20 * (1 - 2^-18) = 1048572: G = 2^36 / 1048572, 2^-20 below it: 1073744904 * 2^-14.
    """
    start_with_pool(case)
    first_interval(case)
    growth = {"growth": 1073744904, "growth_shift": 14}
    for asked, granted in ((MOST, 32768), (32769, 32768), (32768, 32768), (32767, 32767), (-5, -5)):
        out = left(granted, POOR, 2)
        pass_by(case, packet(asked, POOR, field=2), out, pos=POS, carry=0, **growth)
    case.state(1, own_input=0, own_sum_x=0, limited=0, max_rtt=RTT)


def maxmin_limited_elsewhere(case: Case) -> None:
    """Flows with less than the offer keep it; what hops before this one, or unknown, give is 1000 - 500.

    The third packet is limited by hop 2 and counts there. The own one gets 127983127: 499934 and 23/256. The
    next interval has 512 bytes, 131071 q8: phi = (256000000 - 131071) / 2 - 256 * 500 - QUARTER_OF_POOL.
    """
    phi = 127806464 - QUARTER_OF_POOL
    start_with_pool(case)
    first_interval(case)
    pass_by(case, packet(1000, POOR), left(1000, POOR, 0), pos=POS, carry=0)
    pass_by(case, packet(-500, POOR, 1), left(-500, POOR, 1), pos=POS)
    pass_by(case, packet(700, POOR, 2, rtt=2**28), left(700, POOR, 2, rtt=2**28), pos=POS)
    case.state(1, limited=500, own_input=0, own_sum_x=0, poor_sum_x=0, max_rtt=2**28)
    pass_by(case, packet(), left(499934), pos=489, carry=23)
    case.state(1, limited=500, own_input=128, own_sum_x=X)
    next_interval(case, 2 * SECOND, pos=phi, neg=0, input=128, sum_x=X)
    case.state(1, phi=phi, rate=131071, limited=0, own_input=0, own_sum_x=0, max_rtt=0)


def maxmin_own_flows_share(case: Case) -> None:
    """Pools are measured by the own flows' traffic and shared among them, the input of others is no matter.

    Shuffle of one interval: 6554 * 32767 / 2^16 = 3276, most is 11468, so H = 8192 / 2^15 and the offer to
    the poor flow is 6551 - 3275 + 8191 = 11467 q8: more than the one byte/s that it has elsewhere. Then
    phi = -256, shuffle = 3276 - 256, most - 256 - 3020 = 8192 again.
    """
    start(case, gamma=6554)
    first_interval(case)
    pass_by(case, packet(1, POOR), left(1, POOR, 0), pos=3276, neg=3276, lift=2147475456, lift_shift=33)
    pass_by(case, packet(), left(0), pos=1, neg=1)
    # 3020 * 2^20 and 3276 * 2^20, each less 2^-18 of it
    gains = {"cp": 3166687440, "cp_shift": 40, "cn": 3435121872, "cn_shift": 27}
    fair = {"fair": 2147475456, "fair_shift": 36, "lift": 2147475456, "lift_shift": 33}
    next_interval(case, 2 * SECOND, pos=3020, neg=3276, **gains, **fair)
    case.state(1, rate=65535, phi=-256)


def maxmin_poor_by_a_32nd(case: Case) -> None:
    """Above 8 * 128 = 1024 q8 bytes a packet is poor: R * 1081349 = 33792.03, R * 1081381 = 33793.03."""
    start_with_pool(case)
    first_interval(case)
    pass_by(case, packet(1, 1081349), left(1, 1081349, 0), pos=POS - 256)
    case.state(1, own_input=128, own_sum_x=1081349, limited=0)
    pass_by(case, packet(1, 1081381), left(1, 1081381, 0), pos=POS - 256)
    case.state(1, own_input=128, own_sum_x=1081349, limited=1, poor_sum_x=0)


def maxmin_very_poor(case: Case) -> None:
    """Above 20 * 128 = 2560 q8 bytes it asks for speed: R * 1130501 = 35328.02, R * 1130533 = 35329.02."""
    start(case)
    first_interval(case)
    pass_by(case, packet(x=1130501), left(0, 1130501))
    case.state(1, own_input=128, own_sum_x=1130501, poor_sum_x=0)
    pass_by(case, packet(x=1130533), left(0, 1130533))
    case.state(1, own_input=256, own_sum_x=1130501 + 1130533, poor_sum_x=1130533)


def maxmin_not_arrived(case: Case) -> None:
    """Of what is handed out beyond 1/32 of the capacity, 31250 bytes/s, a quarter is awaited."""
    start_with_pool(case)
    first_interval(case)
    pass_by(case, packet(31250), left(31250, field=0), pos=POS - 8_000_000)
    pass_by(case, packet(31251), left(31251, field=0), time=2 * SECOND, pos=POS - 8_000_256)
    next_interval(case, 3 * SECOND, pos=POS - 64, neg=0)
    case.state(1, phi=POS - 64)


def maxmin_spent_pool(case: Case) -> None:
    """A spent pool keeps its gain: nothing is left for own flows, others still hear what they could have.

    The flow of hop 2 at most doubles: 32768, as in maxmin_doubles_at_most.
    """
    start_with_pool(case)
    first_interval(case)
    pass_by(case, packet(x=POOR), left(499936, POOR), pos=0, carry=0, cp=4095460089, cp_shift=25)
    pass_by(case, packet(x=POOR), left(0, POOR), pos=0, carry=0, cp=4095460089)
    pass_by(case, packet(x=POOR, field=2), left(32768, POOR, 2), pos=0, cp=4095460089)
    pass_by(case, packet(999867, POOR), left(999867, POOR, 0), pos=0, cp=4095460089)
    case.state(1, limited=999867, own_input=256)


# --- Requests and `field` -----------------------------------------------------------------------------


def maxmin_asks_for_less(case: Case) -> None:
    """Who has its share and asks for less pays for that only, and this hop is no more its limit."""
    start_with_pool(case)
    first_interval(case)
    pass_by(case, packet(1000, field=1), left(1000, field=0), pos=POS - 256000, neg=0, carry=0)
    pass_by(case, packet(-1000), left(-1000, field=0), pos=POS, neg=0, carry=0)
    case.state(1, own_input=256, limited=0)


def maxmin_slows_down_more(case: Case) -> None:
    """Overload, neg = 16383: n = 16382, -64 is due, -100 is asked. n is all 16383, 9217 go to the others."""
    start(case, alpha=32768)
    first_interval(case)
    pass_by(case, packet(-100), left(-100, field=0), pos=9217, neg=0, carry=0)


def maxmin_field(case: Case) -> None:
    """This hop writes its number if it gives less than asked, clears only that, leaves hops further on."""
    start(case)
    for hop, h in ((0, 1), (2, 3), (6, 7), (7, 7)):
        for field in range(8):
            beyond = field > h
            more = left(0, field=field if beyond else h, hop=h)
            pass_by(case, packet(5, field=field, hop=hop), more, time=0)
            enough = left(0, field=0 if field == h else field, hop=h)
            pass_by(case, packet(0, field=field, hop=hop), enough, time=0)


def maxmin_rtt_unknown(case: Case) -> None:
    """Without an RTT a packet takes part in pools and bank, but is in no sum, and its field stays.

    The bank has 5734 for the poor ones. The first asks for 0 and is not taken for limited elsewhere.
    """
    start(case)
    first_interval(case)
    pass_by(case, packet(x=RICH, rtt=0, field=5), left(-23, RICH, 5, rtt=0), bank=5734, carry=154)
    pass_by(case, packet(0, POOR, rtt=0), left(0, POOR, 0, rtt=0), bank=5734, carry=154)
    pass_by(case, packet(0, POOR, rtt=0, field=1), left(0, POOR, 1, rtt=0), bank=5734, carry=154)
    pass_by(case, packet(x=POOR, rtt=0), left(23, POOR, 0, rtt=0), bank=0, carry=0)
    case.state(1, own_input=0, own_sum_x=0, poor_sum_x=0, limited=0, max_rtt=0)


# --- No flows of its own ------------------------------------------------------------------------------


def crowd(case: Case, delta: int) -> None:
    """One interval of an own packet and 64 that another hop limits, of x = 2^27 - 2^20 together.

    8320 bytes, 2129911 q8 (2129920 * (1 - 2^-18)): half the spare capacity is 126935044. 29995781 of it, a
    quarter of what the own packet has taken, are still to arrive.
    """
    start_with_pool(case)
    first_interval(case)
    for x in [POOR] * 62 + [3 * X // 2] * 2:
        pass_by(case, packet(delta, x), left(delta, x, 0))
    pass_by(case, packet(), left(499934))


def maxmin_no_own_flows(case: Case) -> None:
    """Own flows have less than 1/64 of bytes (128 of 8320) and x: everyone gets of the spare capacity.

    Cp = 96939263 / 2^27 = (3102056416 * (1 - 2^-18)) * 2^-32, where 2^-18 of it is 11833.4. A share is
    the capacity: R = 256000000 / 2^28 = (4096000000 * (1 - 2^-18)) * 2^-32, where 2^-18 of it is 15625.
    """
    crowd(case, delta=0)
    case.state(1, own_input=128, own_sum_x=X, input=8320, sum_x=2**27, limited=0)
    gains = {"cp": 3102044582, "cp_shift": 32, "cn": 0, "lift": 0}
    next_interval(case, 2 * SECOND, pos=96939263, neg=0, fair=4095984375, fair_shift=32, **gains)
    case.state(1, phi=96939263, rate=2129911, credit=30)


def maxmin_no_own_flows_overload(case: Case) -> None:
    """What earlier hops give, 64 * 700000, is too much for a link without own flows: everyone pays.

    Namely all of its 8320 bytes: 2129920 q8, less 2^-18 of it. The offers are 999868 bytes/s, and 749901 to
    the two with the smaller x.
    """
    crowd(case, delta=700_000)
    phi = 96939263 - 256 * 64 * 700_000
    next_interval(case, 2 * SECOND, pos=0, neg=2129911, cp=0, fair=4095984375, fair_shift=32, lift=0)
    case.state(1, phi=phi, rate=2129911)


def maxmin_no_more_than_is_sent(case: Case) -> None:
    """What earlier hops give, 1400000, is too much: own flows are to slow down by all that they send, 32767.

    384 bytes are 98303 q8: phi = (256000000 - 98303) / 2 - 256 * 1400000 - QUARTER_OF_POOL. The next packet
    gives up n = Cn * 128 = 32766.9, and 23 come over: 32743 q8, which are 127 * 256 + 231.
    """
    start_with_pool(case)
    first_interval(case)
    pass_by(case, packet(700_000, POOR), left(700_000, POOR, 0), pos=POS, carry=0)
    pass_by(case, packet(700_000, POOR), left(700_000, POOR, 0), pos=POS, carry=0)
    pass_by(case, packet(), left(499934), pos=489, carry=23)
    phi = 127950848 - 256 * 1_400_000 - QUARTER_OF_POOL
    next_interval(case, 2 * SECOND, pos=0, neg=32767, cp=0)
    case.state(1, phi=phi)
    pass_by(case, packet(), left(-128), time=2 * SECOND, neg=1, carry=25)


def maxmin_one_flow_at_least(case: Case) -> None:
    """A packet of a flow with 128 per RTT: the pool is spread as if all had come.

    p is about POS / 128 = 999872. The mean RTT is 2^27 * (1 - 2^-18), so that the true p
    is 999875.8; Cp is 2047743729 * 2^-31, 2^-20 below that. 999874 are 3905 * 256 + 194.
    """
    start_with_pool(case)
    first_interval(case, rtt=2**27)
    sent, out = packet(rtt=2**27), left(3905, rtt=2**27)
    pass_by(case, sent, out, pos=POS - 999874, carry=194, cp=2047743729, cp_shift=31)


def maxmin_without_x(case: Case) -> None:
    """Among flows that state no x nothing can be spread: the pool stays."""
    start_with_pool(case)
    first_interval(case, 0)
    pass_by(case, packet(), left(0), pos=POS, cp=0, fair=0)


def wait_and_leave(case: Case, waiting: int, x: int) -> None:
    """Of the packets of an interval, all of 128 bytes, only one has left when it ends, an own one."""
    start(case)
    first_interval(case)
    case.ingress(0, packet(x=POOR), SECOND)
    for _ in range(waiting):
        case.enqueue(1, SECOND)
    pass_by(case, packet(x=x), left(0, x))


def maxmin_own_bytes(case: Case) -> None:
    """128 of 64 * 128 bytes are a 64th, so there are own flows, however small their x: R is their mean."""
    wait_and_leave(case, 63, X)
    next_interval(case, 2 * SECOND, fair=2147475456, fair_shift=36)


def maxmin_own_x(case: Case) -> None:
    """128 of 65 * 128 bytes are less than a 64th, 2^26 of 64 * 2^21 + 2^26 ticks are not: R = 2^15 / 2^26."""
    wait_and_leave(case, 64, 2**26)
    next_interval(case, 2 * SECOND, fair=2147475456, fair_shift=42)


# --- Speed --------------------------------------------------------------------------------------------


def maxmin_fast(case: Case) -> None:
    """Poor flows have 2^28 / 4 + 2^28 / 16 + 1 ticks: shuffle is all of 11468, which costs a credit of 2."""
    start(case, gamma=6554)
    first_interval(case)
    pass_by(case, packet(x=83886081), left(0, 83886081), pos=0, neg=1, carry=1)
    next_interval(case, 2 * SECOND, pos=11468, neg=11468, lift=0)
    case.state(1, credit=28, poor_sum_x=0)


def maxmin_not_quite_fast(case: Case) -> None:
    """Poor flows have 2^28 / 4 + 2^28 / 16 ticks: shuffle is gamma's, the rest of 11468, 8192, is lift."""
    start(case, gamma=6554)
    first_interval(case)
    pass_by(case, packet(x=83886080), left(0, 83886080), pos=0, neg=1, carry=1)
    next_interval(case, 2 * SECOND, pos=3276, neg=3276, lift=2147475456, lift_shift=33)
    case.state(1, credit=30)


def maxmin_full_enough(case: Case) -> None:
    """As maxmin_fast, but of 137 bytes/s 2305 q8 are free: phi = 31163 / 2^16 of it = 1096 = 137 * 256 / 32.

    The pool is 3276 in the first interval: p is all of it, n is Cn * 128 = 2180 * (1 - 2^-18), and 1097 is
    4 * 256 + 73. Then 11468 - 1096 are shuffled. Of the 1097 that were handed out 1 is unusual, half of it
    is nothing.
    """
    start(case, capacity=137, alpha=31163, gamma=6554)
    first_interval(case)
    pass_by(case, packet(x=83886081), left(4, 83886081), pos=0, neg=1, carry=73)
    next_interval(case, 2 * SECOND, pos=11468, neg=10372, lift=0)
    case.state(1, phi=1096, credit=28)


def maxmin_not_full_enough(case: Case) -> None:
    """phi = 31191 / 2^16 of 2305 = 1097: what is free will do. Gamma's 3276 is the most, and costs 2, too."""
    start(case, capacity=137, alpha=31191, gamma=6554)
    first_interval(case)
    pass_by(case, packet(x=83886081), left(4, 83886081), pos=0, neg=1, carry=74)
    next_interval(case, 2 * SECOND, pos=3276, neg=2179, lift=0)
    case.state(1, phi=1097, credit=28)


SLOW_X, QUICK_X, EVEN_X = 2**27 - 2**20, 2**20, 2**26


def maxmin_credit(case: Case) -> None:
    """15 fast intervals use up the credit, the next ones are like generation 1; two slow ones pay for one.

    Two packets per interval, x = 2^27 in all: own is 65535, gamma's part of it 6553, the most 22937. A pool
    of 6553 gives the slow flow 6501 - 3276 and the quick one 51 - 3276, one of 22937 gives 22757 - 11468 and
    179 - 11468; both even ones get 0. With H = 16384 / 2^16 the quick one also pays 8064 for its gap of
    32257, after the slow one has found the bank empty.
    """
    start(case, gamma=6554)
    gamma = {"pos": 6553, "neg": 6553}
    with_lift = {**gamma, "lift": 2147475456, "lift_shift": 33}
    only_gamma = {**gamma, "lift": 0}
    fast = {"pos": 22937, "neg": 22937, "lift": 0}
    uneven, even = (SLOW_X, QUICK_X), (EVEN_X, EVEN_X)
    now = 0

    def interval(xs: tuple[int, int], granted: tuple[int, int], credit: int, **expect: int) -> None:
        """One interval that starts with these shares and credit."""
        nonlocal now
        for x, delta in zip(xs, granted, strict=True):
            case.ingress(0, packet(x=x), now)
            case.enqueue(1, now, **expect)
            expect = {}
            case.dequeue(1, left(delta, x), now)
        case.state(1, credit=credit)
        now += SECOND

    interval(uneven, (0, 0), 30)
    # 3225 = 12 * 256 + 153; -11289 + 153 = -44 * 256 + 128
    interval(uneven, (12, -44), 30, **with_lift)
    for used in range(1, 15):
        # 11289 + 128 = 44 * 256 + 153; -11289 + 153 = -44 * 256 + 128
        interval(uneven, (44, -44), 30 - 2 * used, carry=128, **fast)
    interval(uneven, (44, -44), 0, carry=128, **fast)
    interval(even, (0, 0), 0, carry=128, **only_gamma)
    # 3225 + 128 = 13 * 256 + 25; 51 - 3276 - 8064 + 25 = -44 * 256
    interval(uneven, (13, -44), 1, carry=128, **with_lift)
    interval(even, (0, 0), 0, carry=0, **only_gamma)
    interval(even, (0, 0), 1, **with_lift)
    interval(uneven, (12, -44), 2, **with_lift)
    interval(uneven, (44, -44), 0, carry=128, **fast)
    case.configure(1)
    start(case)
    case.enqueue(1, now)
    case.state(1, credit=CREDIT_MAX)


def maxmin_longest_rtt(case: Case) -> None:
    """RTTs of 2^26 and 2^24, mean 41942880: cap = 41942880 / 2^27 = 20479 q16, of 65535 that is 20478.

    6553 of them are shuffled. H = 13925 / 2^16 = (3650355200 * (1 - 2^-18)) * 2^-34, 2^-18 of it is 13925.
    """
    start(case, gamma=6554)
    first_interval(case, RICH, rtt=2**26)
    first_interval(case, RICH, rtt=2**24)
    case.state(1, max_rtt=2**26)
    shares = {"pos": 6553, "neg": 6553, "lift": 3650341275, "lift_shift": 34}
    next_interval(case, SECOND, avg_rtt=41942880, **shares)
    case.state(1, max_rtt=0)


def maxmin_gamma_above_cap(case: Case) -> None:
    """A fast interval shuffles no less than gamma, half of 65535, where the mean RTT is 1/4 of the longest.

    32510 - 16383 = 62 * 256 + 255; 255 - 16383 + 255 = -63 * 256 + 255.
    """
    start(case, gamma=32768)
    first_interval(case, SLOW_X, rtt=2**26)
    first_interval(case, QUICK_X, rtt=2**28)
    case.ingress(0, packet(x=SLOW_X, rtt=2**26), SECOND)
    case.enqueue(1, SECOND, pos=32767, neg=32767, lift=0)
    case.dequeue(1, left(62, SLOW_X, rtt=2**26), SECOND, carry=255)
    pass_by(case, packet(x=QUICK_X, rtt=2**28), left(-63, QUICK_X, rtt=2**28), carry=255)
    next_interval(case, 2 * SECOND, pos=32767, neg=32767, lift=0)
    case.state(1, credit=28)


# --- Limits -------------------------------------------------------------------------------------------


def maxmin_gap_saturates(case: Case) -> None:
    """R = 2^15 per tick; times 2^28 it stops at 2^32 - 1, so gap = 2^32 - 1 - 2^15 and lift is H times that.

    H * gap = 3006255924 * 4294934527 / 2^33 = 1503116493.7, that is 5871548.8 bytes/s: who asks for 5871548
    has less elsewhere, who asks for one more is own, gets nothing of the empty bank, and knows its limit.
    """
    start(case)
    first_interval(case, 1)
    x = 2**28
    pass_by(case, packet(5871548, x), left(5871548, x, 0), bank=0, fair=2147475456, fair_shift=16)
    case.state(1, limited=5871548, own_input=0)
    pass_by(case, packet(5871549, x), left(0, x), bank=0)
    case.state(1, limited=5871548, own_input=128, poor_sum_x=x)


def maxmin_most_of_a_packet(case: Case) -> None:
    """Intervals of 8 ticks: p and n stop at 2^31 - 1 bytes/s, a lift has only the room that is left beside.

    own = 2^43 * (1 - 2^-18) for 1024 bytes: shuffle = 6554 * (2^27 - 2^9), so that p and n of the next 1024
    are at the limit. Its lift is 0, and its request of 0 is not less than the offer. The rich packet has 512
    bytes and no x: Cn = 3436157336 / 4, n = 439828139008, and H * 2^17 = 2^40 is more than the room for lift,
    109927674624. Of `neg` only 329903820032 are left: 439831494656 = 1718091776 * 256 in all.
    """
    shuffle = 6554 * (2**27 - 2**9)
    most = MOST * 256
    shares = {"pos": shuffle, "neg": shuffle, "lift": 2**32 - 2**15, "lift_shift": 9, "cn": 3436157336}
    case.configure(1, xcp=True, generation=2, alpha=0, gamma=6554, min_interval=8, max_interval=8)
    pass_by(case, packet(rtt=8, length=1024), left(0, rtt=8, length=1024), time=0)
    case.ingress(0, packet(0, POOR, rtt=8, length=1024), 8)
    case.enqueue(1, 8, cn_shift=2, bank=0, **shares)
    out = left(0, POOR, 0, rtt=8, length=1024)
    case.dequeue(1, out, 8, pos=shuffle - most, neg=shuffle - most, bank=0, carry=0)
    case.state(1, own_input=1024, limited=0, poor_sum_x=POOR)
    sent, out = packet(x=0, rtt=8, length=512), left(-1718091776, 0, rtt=8, length=512)
    pass_by(case, sent, out, time=8, neg=0, bank=109927674624, carry=0)


# --- Generation 1 -------------------------------------------------------------------------------------


def maxmin_switched_while_queued(case: Case) -> None:
    """A packet is treated by the generation of its arrival; that of an interval's end decides about shares.

    The first packet gets 127983127, its limit is known then. The second has come under generation 1, gets the
    rest, 489 + 23 = 2 * 256, keeps its field and closes the pool. Then generation 1 shares (256000000 -
    65535) / 2 by all 2^21 ticks: 4094951424 * (1 - 2^-18) * 2^-26, and grants 63983371, 249935 and 11/256, to
    a packet that leaves after the switch back.
    """
    start_with_pool(case)
    first_interval(case)
    case.ingress(0, packet(field=0), SECOND, slot=0)
    case.enqueue(1, SECOND, slot=0, pos=POS)
    start_with_pool(case, generation=1)
    case.ingress(0, packet(field=5), SECOND, slot=1)
    case.enqueue(1, SECOND, slot=1, pos=POS, fair=2147475456)
    case.dequeue(1, left(499934), SECOND, slot=0, pos=489, carry=23, cp=4095460089)
    case.state(1, own_input=128)
    case.dequeue(1, left(2, field=5), SECOND, slot=1, pos=0, carry=0, cp=0)
    case.state(1, own_input=128, credit=30)
    case.ingress(0, packet(field=1), 2 * SECOND, slot=2)
    shares = {"pos": 127967232, "neg": 0, "cp": 4094935803, "cp_shift": 26, "fair": 0, "lift": 0}
    case.enqueue(1, 2 * SECOND, slot=2, growth=0, **shares)
    start_with_pool(case)
    case.dequeue(1, left(249935, field=1), 2 * SECOND, slot=2, carry=11)
    case.state(1, own_input=0, own_sum_x=0, max_rtt=0, credit=30)


MAXMIN_CASES = [
    maxmin_bank,
    maxmin_bank_pays_the_lift,
    maxmin_empty_bank,
    maxmin_bank_of_one_interval,
    maxmin_no_lift_past_the_limit,
    maxmin_later_hop_limits,
    maxmin_doubles_at_most,
    maxmin_limited_elsewhere,
    maxmin_own_flows_share,
    maxmin_poor_by_a_32nd,
    maxmin_very_poor,
    maxmin_not_arrived,
    maxmin_spent_pool,
    maxmin_asks_for_less,
    maxmin_slows_down_more,
    maxmin_field,
    maxmin_rtt_unknown,
    maxmin_no_own_flows,
    maxmin_no_own_flows_overload,
    maxmin_no_more_than_is_sent,
    maxmin_one_flow_at_least,
    maxmin_without_x,
    maxmin_own_bytes,
    maxmin_own_x,
    maxmin_fast,
    maxmin_not_quite_fast,
    maxmin_full_enough,
    maxmin_not_full_enough,
    maxmin_credit,
    maxmin_longest_rtt,
    maxmin_gamma_above_cap,
    maxmin_gap_saturates,
    maxmin_most_of_a_packet,
    maxmin_switched_while_queued,
]
