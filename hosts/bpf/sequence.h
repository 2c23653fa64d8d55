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

struct clarion_sequence {
	__u16 expected; /* next number if nothing is lost */
	__u16 total;	/* packets lost since the base, modulo 2^16 */
	__u32 based;	/* `expected` means something */
};

/* Takes number `seq` into account and returns the change of `total`: lost packets, or -1 for a late one. */
static inline __s32 clarion_sequence_check(struct clarion_sequence *sequence, __u16 seq)
{
	__s32 step = (__s16)(__u16)(seq - sequence->expected);
	__s32 change = 0;

	if (sequence->based && step < 0 && step >= -CLARION_LATE_LIMIT) {
		sequence->total--;
		return -1;
	}
	if (sequence->based && step > 0 && step < CLARION_GAP_LIMIT)
		change = step;
	sequence->based = 1;
	sequence->total += change;
	sequence->expected = seq + 1;
	return change;
}

#endif /* CLARION_SEQUENCE_H */
