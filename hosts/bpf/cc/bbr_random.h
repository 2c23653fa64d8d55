/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The lots that BBR draws, so that flows do not probe in step. */
#ifndef CLARION_CC_BBR_RANDOM_H
#define CLARION_CC_BBR_RANDOM_H

#include "arith.h"

/* A xorshift, whose states near one another a multiplication has set apart. */
CC_INLINE __u32 bbr_random_state(__u32 seed)
{
	seed = (seed ^ seed >> 16) * 0x85ebca6bU;
	seed = (seed ^ seed >> 13) * 0xc2b2ae35U;
	return (seed ^ seed >> 16) | 0x80000000U;
}

CC_INLINE __u32 bbr_random(__u32 *state, __u32 below)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state % below;
}

#endif /* CLARION_CC_BBR_RANDOM_H */
