/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Manners on a path with a queue that no router of ours speaks for.
 *
 * Where losses come unexplained, contradict their tags, or where an unknown queue marks packets, the routers'
 * grants and the laws' own fast growth say nothing about that queue. One such reduction may be chance; a
 * second one soon after it puts the flow under guard: it halves and grows as Reno does (RFC 5681), whatever
 * else it is offered, for a number of round trips that grows each time.
 */
#ifndef CLARION_CC_GUARD_H
#define CLARION_CC_GUARD_H

#include "params.h"
#include "sample.h"

/* Round trips within which a second strike puts the flow under guard. */
#define GUARD_STRIKE_ROUNDS 64
/* ... of which it grows as under guard in so many, lest what it is offered undoes the first at once. */
#define GUARD_WARY_ROUNDS 4
/* Under guard: what a reduction leaves, and packets added per round trip, in percent. */
#define GUARD_BETA_PERCENT  70
#define GUARD_ALPHA_PERCENT 53
/* Factor from one guard to the next, and the longest. */
#define GUARD_GROWTH	 4
#define GUARD_ROUNDS_MAX 4096

struct cc_guard {
	__u16 rounds_left;
	__u16 rounds;	    /* length of the guard that is on, or was last; 0: none, or lifted */
	__u8 strike_rounds; /* left for a second strike */
	__u8 distrust;	    /* under guard: corruption is not believed either */
	__u8 pad[2];
};

CC_INLINE int guard_is_on(const struct cc_guard *guard)
{
	return guard->rounds_left > 0;
}

CC_INLINE int guard_has_been_on(const struct cc_guard *guard)
{
	return guard->rounds > 0;
}

CC_INLINE int guard_is_wary(const struct cc_guard *guard)
{
	return guard_is_on(guard) || guard->strike_rounds > GUARD_STRIKE_ROUNDS - GUARD_WARY_ROUNDS;
}

CC_INLINE void guard_begin(struct cc_guard *guard, const struct cc_params *p)
{
	__u64 rounds = guard_has_been_on(guard) ? (__u64)guard->rounds * GUARD_GROWTH : p->guard_rounds;

	guard->rounds = (__u16)min_u64(rounds, GUARD_ROUNDS_MAX);
	guard->rounds_left = guard->rounds;
}

/* A reduction by a queue that no router of ours speaks for. */
CC_INLINE void guard_strike(struct cc_guard *guard, const struct cc_params *p, int is_contradiction)
{
	int is_second = guard->strike_rounds > 0 || (is_contradiction && guard_has_been_on(guard));

	if (!p->guard_rounds)
		return;
	guard->strike_rounds = GUARD_STRIKE_ROUNDS;
	if (guard_is_on(guard))
		guard->rounds_left = guard->rounds;
	else if (is_second)
		guard_begin(guard, p);
	if (guard_is_on(guard) && is_contradiction)
		guard->distrust = 1;
}

/* Losses that are no chance: under guard at once, and for long. */
CC_INLINE void guard_confirm(struct cc_guard *guard, const struct cc_params *p)
{
	if (!p->guard_rounds)
		return;
	guard->rounds = (__u16)max_u64(guard->rounds, p->guard_rounds * (__u64)GUARD_GROWTH);
	guard_begin(guard, p);
	guard->distrust = 1;
}

CC_INLINE void guard_lift(struct cc_guard *guard)
{
	guard->rounds_left = 0;
	guard->rounds = 0;
	guard->strike_rounds = 0;
	guard->distrust = 0;
}

CC_INLINE void guard_round(struct cc_guard *guard)
{
	if (guard->strike_rounds)
		guard->strike_rounds--;
	if (!guard->rounds_left)
		return;
	if (!--guard->rounds_left)
		guard->distrust = 0;
}

#endif /* CLARION_CC_GUARD_H */
