// SPDX-License-Identifier: Apache-2.0
// The state of the controllers, one cell per port. xcp_arrival and xcp_interval run in ingress, xcp_departure in
// egress.

// The interval and the window that run: ingress.
@id(0x16000006)
register<bit<8>>(PORTS) xcp_epoch;  // of the running state; 0: never started
@id(0x16000007)
register<duration_t>(PORTS) avg_rtt;
@id(0x16000008)
register<ticks_t>(PORTS) interval_start;
@id(0x16000009)
register<ticks_t>(PORTS) window_start;
@id(0x1600000a)
register<bit<40>>(PORTS) persistent_queue;
@id(0x1600000b)
register<bit<48>>(PORTS) input;  // bytes
@id(0x1600000c)
register<bit<48>>(PORTS) sum_x;  // ticks
@id(0x1600000d)
register<bit<64>>(PORTS) sum_x_rtt;  // 2^-48 s^2
@id(0x1600000e)
register<bit<32>>(PORTS) intervals;  // ended since the start

// Watched in ingress and egress, of the running window.
@id(0x1600000f)
register<bit<40>>(PORTS) least_queue;

// What is left to hand out, and the gains: filled in ingress, spent in egress.
@id(0x16000010)
register<bit<48>>(PORTS) pos;  // q8 bytes/s
@id(0x16000011)
register<bit<48>>(PORTS) neg;
@id(0x16000012)
register<bit<32>>(PORTS) cp;  // q8 bytes/s per tick of x: mantissa and right shift
@id(0x16000013)
register<bit<8>>(PORTS) cp_shift;
@id(0x16000014)
register<bit<32>>(PORTS) cn;  // q8 bytes/s per byte
@id(0x16000015)
register<bit<8>>(PORTS) cn_shift;
@id(0x16000016)
register<bit<8>>(PORTS) carry;  // q8: what the last grant left over, below one byte/s
