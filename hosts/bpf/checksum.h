/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The Internet checksum (RFC 1071). */
#ifndef CLARION_CHECKSUM_H
#define CLARION_CHECKSUM_H

#include <linux/types.h>

/* RFC 1624: the checksum after a 16-bit word changed. */
static inline __attribute__((always_inline, unused)) __u16 checksum_replace(__u16 checksum, __u16 from,
									    __u16 to)
{
	__u32 sum = (__u16)~checksum + (__u16)~from + to;

	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (__u16)~sum;
}

#endif /* CLARION_CHECKSUM_H */
