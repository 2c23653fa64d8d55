/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Random numbers that a seed determines, so that a run can be repeated: a xorshift. */
#ifndef CLARION_CC_RANDOM_H
#define CLARION_CC_RANDOM_H

#include "arith.h"

/* Its first state; a multiplication sets apart the states of seeds near one another. */
CC_INLINE __u32 random_seeded(__u32 seed)
{
	seed = (seed ^ seed >> 16) * 0x85ebca6bU;
	seed = (seed ^ seed >> 13) * 0xc2b2ae35U;
	return (seed ^ seed >> 16) | 0x80000000U;
}

CC_INLINE __u32 random_below(__u32 *state, __u32 below)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state % below;
}

#endif /* CLARION_CC_RANDOM_H */
