/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* How many packets of a connection were marked, from the kernel's count (`delivered_ce` of tcp_sock).
 *
 * For an ACK of eight packets or more Linux 6.18 takes the largest number of marks that the three bits of ACE
 * allow, whatever the option with byte counts says. Most such ACKs are several that it has merged itself,
 * which it does only if their bits are the same: each would be eight marks too many. So there the least
 * number counts (RFC 9768, A.2.1, leaves the choice). It is exact while no acknowledgement is lost: a
 * receiver acknowledges at once what has been its sixth mark since the last one.
 */
#ifndef CLARION_CC_ACE_MARKS_H
#define CLARION_CC_ACE_MARKS_H

#include "arith.h"

#define ACE_MASK 7

struct ace_marks {
	__u32 counted; /* marks of the connection, modulo 2^32 */
	__u32 kernel;  /* what the kernel has counted */
	__u32 acked;   /* and had, up to the ACK before the one at hand */
	__u8 is_exact; /* the kernel is taken at its word */
};

CC_INLINE void ace_marks_init(struct ace_marks *m, __u32 kernel, __u8 is_exact)
{
	m->counted = m->kernel = m->acked = kernel;
	m->is_exact = is_exact;
}

/* Returns the marks, with those that the ACK at hand has brought. */
CC_INLINE __u32 ace_marks_count(struct ace_marks *m, __u32 kernel)
{
	__u32 news = kernel - m->kernel;

	m->kernel = kernel;
	m->counted += m->is_exact ? news : news & ACE_MASK;
	return m->counted;
}

/* Does the kernel reduce for marks of this ACK that there were none of, as the law has `seen` all? */
CC_INLINE int ace_marks_is_false_alarm(const struct ace_marks *m, __u32 seen)
{
	return m->kernel != m->acked && m->counted == seen;
}

/* The law is done with the ACK. */
CC_INLINE void ace_marks_end_ack(struct ace_marks *m)
{
	m->acked = m->kernel;
}

#endif /* CLARION_CC_ACE_MARKS_H */
