// SPDX-License-Identifier: Apache-2.0
// The state of the controllers: words of one cell per port, because reading a register costs BMv2 much more than
// taking a word apart. The members of a word, by the bits that they have.

// The interval and the window that run: ingress.
@id(0x1600001c)
register<bit<240>>(PORTS) interval_clock;
#define XCP_EPOCH 239:232  // of the running state; 0: never started
#define AVG_RTT 231:200
#define INTERVAL_START 199:136  // ticks
#define WINDOW_START 135:72
#define PERSISTENT_QUEUE 71:32
#define INTERVALS 31:0  // ended since the start

// What the interval has collected: ingress.
@id(0x1600001d)
register<bit<200>>(PORTS) interval_sums;
#define INPUT 199:152    // bytes
#define SUM_X 151:104    // ticks
#define SUM_X_RTT 103:40  // 2^-48 s^2
#define LEAST_QUEUE 39:0  // of the running window, seen by arrivals; here and in `shares`
// The highest bits of the three sums: while all are 0, no packet can bring one beyond its width.
const bit<200> SUMS_HALF_FULL = (1 << 199) | (1 << 151) | (1 << 103);

// What is left to hand out, and the gains: filled in ingress, spent in egress.
@id(0x1600001e)
register<bit<224>>(PORTS) shares;
#define POS 223:176  // q8 bytes/s
#define NEG 175:128
#define CP 127:96  // q8 bytes/s per tick of x: mantissa and right shift
#define CP_SHIFT 95:88
#define CN 87:56  // q8 bytes/s per byte
#define CN_SHIFT 55:48
#define CARRY 47:40  // q8: what the last grant left over, below one byte/s
