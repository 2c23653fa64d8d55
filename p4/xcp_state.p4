// SPDX-License-Identifier: Apache-2.0
// The state of the controllers: words of one cell per port, because reading a register costs BMv2 much more than
// taking a word apart. The members of a word, by the bits that they have.

// The interval and the window that run: ingress, where something ends or starts.
@id(0x1600001c)
register<bit<312>>(PORTS) interval_clock;
typedef bit<312> clock_t;
#define XCP_EPOCH 311:304  // of the running state; 0: never started
#define PHI 303:240  // q8 bytes/s, two's complement: of the last control step
#define AVG_RTT 239:208
#define INTERVAL_START 207:144  // ticks
#define WINDOW_START 143:80
#define PERSISTENT_QUEUE 79:40
#define INTERVALS 39:8  // ended since the start
#define CREDIT 7:0  // of generation 2

// What the interval has collected: ingress, with every packet. So what tells whether something ends is here, too: no
// packet needs the clock that arrives before `next_turn`, under the settings by which that was computed.
@id(0x1600001d)
register<bit<336>>(PORTS) interval_sums;
#define TURN_EPOCH 335:328
#define TURN_MIN_INTERVAL 327:296
#define TURN_MAX_INTERVAL 295:264
#define NEXT_TURN 263:200  // ticks
#define INPUT 199:152    // bytes
#define SUM_X 151:104    // ticks
#define SUM_X_RTT 103:40  // 2^-48 s^2
#define LEAST_QUEUE 39:0  // of the running window, seen by arrivals
#define TURN_SETTINGS 335:264  // the first three
// The highest bits of the three sums: while all are 0, no packet can bring one beyond its width.
const bit<336> SUMS_HALF_FULL = (1 << 199) | (1 << 151) | (1 << 103);

// What is left to hand out, the gains, and what departures have counted. Ingress fills and takes, egress spends and
// counts.
@id(0x1600001e)
register<bit<608>>(PORTS) shares;
typedef bit<608> shares_t;
#define CARRY 607:600  // q8: what the last grant left over, below one byte/s
#define CP 599:568  // q8 bytes/s per tick of x: mantissa and right shift
#define CP_SHIFT 567:560
#define CN 559:528  // q8 bytes/s per byte
#define CN_SHIFT 527:520
#define FAIR 519:488  // generation 2: R, q8 bytes per tick
#define FAIR_SHIFT 487:480
#define LIFT 479:448  // generation 2: H, q8 bytes/s per q8 byte
#define LIFT_SHIFT 447:440
#define GROWTH 439:408  // generation 2: G, q8 bytes/s per byte
#define GROWTH_SHIFT 407:400
#define MAX_RTT 399:368  // ticks
#define LIMITED 367:328  // bytes/s, two's complement
#define POOR_SUM_X 327:280  // ticks
#define OWN_SUM_X 279:232
#define OWN_INPUT 231:184  // bytes
#define BANK 183:136  // q8 bytes/s
#define POS 135:88
#define NEG 87:40
// LEAST_QUEUE 39:0 is that seen by departures.
#define BELOW_CARRY 599:0
#define COUNTED 399:184  // by generation 2: MAX_RTT to OWN_INPUT
#define NOT_COUNTED_ABOVE 607:400
#define NOT_COUNTED_BELOW 183:0
// Zeros for the bits below a sum.
const bit<600> AT_CARRY = 0;
const bit<184> AT_OWN_INPUT = 0;
const bit<136> AT_BANK = 0;
const bit<88> AT_POS = 0;
const bit<40> AT_NEG = 0;
const shares_t ONE_OWN_X = 1 << 232;
const shares_t ONE_POOR_X = (1 << 280) | ONE_OWN_X;
// The highest bit of each sum that departures change. Where one is 1 behind a change, the sum has become negative, or so
// great that it may leave its width with the next: then the change is computed member by member.
const shares_t DOUBTFUL =
    (1 << 327) | (1 << 279) | (1 << 231) | (1 << 183) | (1 << 135) | (1 << 87);
const bit<40> LIMITED_SIGN = 1 << 39;
const bit<64> LIMITED_ZERO = 1 << 39;  // what 0 becomes without a sign
