/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* HighSpeed TCP (Floyd, RFC 3649): per window of ACKs a(w) packets more, per loss b(w) of the window less. Up
 * to 38 packets that is Reno; above, a(w) rises and b(w) falls so that 83000 packets are kept at one loss in
 * 10^7 packets (section 5). The table of appendix B, and how it is applied, as in Linux.
 */
#ifndef CLARION_CC_HSTCP_H
#define CLARION_CC_HSTCP_H

#include "stack.h"

#define HSTCP_ROWS 72U
/* b(w) is counted in 1 / 256. */
#define HSTCP_DECREASE_SHIFT 8

/* Up to this window a(w) is the number of the row, counted from 1. */
struct hstcp_row {
	__u32 cwnd;
	__u32 decrease; /* b(w), rounded down */
};

static const struct hstcp_row HSTCP_TABLE[HSTCP_ROWS] = {
    {38, 128},	 {118, 112},  {221, 104},  {347, 98},	{495, 93},   {663, 89},	  {851, 86},   {1058, 83},
    {1284, 81},	 {1529, 78},  {1793, 76},  {2076, 74},	{2378, 72},  {2699, 71},  {3039, 69},  {3399, 68},
    {3778, 66},	 {4177, 65},  {4596, 64},  {5036, 62},	{5497, 61},  {5979, 60},  {6483, 59},  {7009, 58},
    {7558, 57},	 {8130, 56},  {8726, 55},  {9346, 54},	{9991, 53},  {10661, 52}, {11358, 52}, {12082, 51},
    {12834, 50}, {13614, 49}, {14424, 48}, {15265, 48}, {16137, 47}, {17042, 46}, {17981, 45}, {18955, 45},
    {19965, 44}, {21013, 43}, {22101, 43}, {23230, 42}, {24402, 41}, {25618, 41}, {26881, 40}, {28193, 39},
    {29557, 39}, {30975, 38}, {32450, 38}, {33986, 37}, {35586, 36}, {37253, 36}, {38992, 35}, {40808, 35},
    {42707, 34}, {44694, 33}, {46776, 33}, {48961, 32}, {51258, 32}, {53677, 31}, {56230, 30}, {58932, 30},
    {61799, 29}, {64851, 28}, {68113, 28}, {71617, 27}, {75401, 26}, {79517, 26}, {84035, 25}, {89053, 24},
};

struct hstcp {
	__u32 prior_cwnd; /* before the last reduction */
	__u32 row;	  /* of the window when it last grew outside slow start */
};

/* The first row whose window is not below `cwnd`, the last one above all of them. */
CC_INLINE __u32 hstcp_row_of(__u32 cwnd)
{
	__u32 row = 0;

	for (__u32 step = 64; step; step >>= 1) {
		__u32 tried = row + step;

		if (tried < HSTCP_ROWS && HSTCP_TABLE[tried - 1].cwnd < cwnd)
			row = tried;
	}
	return row;
}

CC_INLINE void hstcp_init(struct hstcp *l, const struct cc_params *p, const struct cc_stack *tcp)
{
	(void)p;
	l->prior_cwnd = tcp->cwnd;
	l->row = 0;
}

/* w += a(w) / w for each ACK, however many packets it acknowledges. */
CC_INLINE void hstcp_grow(struct hstcp *l, const struct cc_params *p, struct cc_stack *tcp, __u32 acked)
{
	(void)p;
	if (!tcp->is_cwnd_limited)
		return;
	if (stack_is_slow_start(tcp)) {
		stack_slow_start(tcp, acked);
		return;
	}
	l->row = hstcp_row_of(tcp->cwnd);
	if (tcp->cwnd >= tcp->cwnd_clamp)
		return;
	tcp->cwnd_count += l->row + 1;
	if (tcp->cwnd_count >= tcp->cwnd) {
		tcp->cwnd_count -= tcp->cwnd;
		tcp->cwnd++;
	}
}

/* A window that has never grown outside slow start is halved, whatever its size: its row is the first. */
CC_INLINE __u32 hstcp_ssthresh(struct hstcp *l, const struct cc_params *p, const struct cc_stack *tcp)
{
	__u32 row = l->row < HSTCP_ROWS ? l->row : HSTCP_ROWS - 1;
	__u32 less = (__u32)((__u64)tcp->cwnd * HSTCP_TABLE[row].decrease >> HSTCP_DECREASE_SHIFT);

	(void)p;
	l->prior_cwnd = tcp->cwnd;
	return (__u32)max_u64(tcp->cwnd - less, 2);
}

STACK_UNDO_TO_PRIOR(hstcp)
STACK_IGNORES_ACKED(hstcp)
STACK_IGNORES_STATES(hstcp)
STACK_IGNORES_EVENTS(hstcp)

#endif /* CLARION_CC_HSTCP_H */
