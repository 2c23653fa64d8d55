/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The sequence check of one bucket of one link: how many packets did the wire lose?
 *
 * The same arithmetic as the wire check of core/, in C that also compiles natively. Sequence numbers and
 * totals are 16 bits wide and wrap.
 */
#ifndef CLARION_SEQUENCE_H
#define CLARION_SEQUENCE_H

#include <linux/types.h>

#define CLARION_GAP_LIMIT  16384 /* a step of this much or more is a restart, not a loss */
#define CLARION_LATE_LIMIT 256	 /* a packet at most this far behind was overtaken, not restarted */
#define CLARION_FAR_LIMIT  64 /* so many in a row further behind are a restart; fewer were overtaken, too */

struct clarion_sequence {
	__u16 expected; /* next number if nothing is lost */
	__u16 total;	/* packets lost since the base, modulo 2^16 */
	__u16 far;	/* packets in a row further behind than CLARION_LATE_LIMIT */
	__u8 based;	/* `expected` means something */
	__u8 pad;
};

static inline int clarion_sequence_is_late(struct clarion_sequence *sequence, __s32 step)
{
	if (step >= 0 || step <= -CLARION_GAP_LIMIT)
		return 0;
	if (step >= -CLARION_LATE_LIMIT)
		sequence->far = 0;
	else
		sequence->far++;
	return sequence->far < CLARION_FAR_LIMIT;
}

/* Takes number `seq` into account and returns the change of `total`: lost packets, or -1 for a late one.
 * Unless the wire is known to be bare (`counts`), the check only follows: each number is a new base.
 */
static inline __s32 clarion_sequence_check(struct clarion_sequence *sequence, __u16 seq, int counts)
{
	__s32 step = (__s16)(__u16)(seq - sequence->expected);
	__s32 change = 0;

	if (!counts)
		sequence->based = 0;
	if (sequence->based && clarion_sequence_is_late(sequence, step)) {
		sequence->total--;
		return -1;
	}
	if (sequence->based && step > 0 && step < CLARION_GAP_LIMIT)
		change = step;
	sequence->based = 1;
	sequence->far = 0;
	sequence->total += change;
	sequence->expected = seq + 1;
	return change;
}

#endif /* CLARION_SEQUENCE_H */
