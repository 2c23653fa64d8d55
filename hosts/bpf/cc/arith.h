/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Integer arithmetic that compiles for eBPF (no signed division, no 128-bit type) and natively.
 *
 * Windows are counted in packets as Q16 fixed point: the share of one ACK is far below one packet.
 */
#ifndef CLARION_CC_ARITH_H
#define CLARION_CC_ARITH_H

#include <linux/types.h>

#define CC_INLINE static inline __attribute__((always_inline, unused))

/* A part with many branches. In eBPF it is a program of its own, verified once and not along each path that
 * leads to it; so its arguments are pointers to whole structures, which it has to find non-null, and numbers.
 */
#ifdef __bpf__
#define CC_SUBPROGRAM __attribute__((noinline))
#else
#define CC_SUBPROGRAM CC_INLINE
#endif

#define Q16_ONE	     65536ULL
#define USEC_PER_SEC 1000000ULL

CC_INLINE __u64 min_u64(__u64 a, __u64 b)
{
	return a < b ? a : b;
}

CC_INLINE __u64 max_u64(__u64 a, __u64 b)
{
	return a > b ? a : b;
}

/* `v` forced into [lo, hi]; needs lo <= hi. */
CC_INLINE __u64 clamp_u64(__u64 v, __u64 lo, __u64 hi)
{
	return min_u64(max_u64(v, lo), hi);
}

/* a - b, or 0 when b is larger. */
CC_INLINE __u64 sub_floor_u64(__u64 a, __u64 b)
{
	return a > b ? a - b : 0;
}

/* a + b, or 2^64 - 1 when that does not fit. */
CC_INLINE __u64 add_sat_u64(__u64 a, __u64 b)
{
	return a > ~0ULL - b ? ~0ULL : a + b;
}

/* a * b, or 2^64 - 1 when that does not fit. The empty asm keeps the compiler from seeing an overflow check:
 * it would call a 128-bit multiplication, which eBPF does not have.
 */
CC_INLINE __u64 mul_sat_u64(__u64 a, __u64 b)
{
	__u64 a_max = b ? ~0ULL / b : ~0ULL;

	__asm__ volatile("" : "+r"(a_max));
	return a > a_max ? ~0ULL : a * b;
}

/* a / b rounded down; 0 when b is 0, as eBPF defines it (a native division would trap). */
CC_INLINE __u64 div_u64(__u64 a, __u64 b)
{
	return b ? a / b : 0;
}

/* a * b / c rounded down with a saturating product; 0 when c is 0. */
CC_INLINE __u64 mul_div_u64(__u64 a, __u64 b, __u64 c)
{
	return div_u64(mul_sat_u64(a, b), c);
}

/* a / b as Q16, rounded down: no bit of `a` is lost, but needs b < 2^48. 0 when b is 0. */
CC_INLINE __u64 ratio_q16(__u64 a, __u64 b)
{
	__u64 whole = div_u64(a, b);

	if (!b)
		return 0;
	if (whole >> 48)
		return ~0ULL;
	return (whole << 16) + ((a - whole * b) << 16) / b;
}

/* v * q / 2^16 rounded down: exact for v < 2^48 and q < 2^17, saturating elsewhere. */
CC_INLINE __u64 scale_q16(__u64 v, __u64 q)
{
	return mul_sat_u64(v, q) >> 16;
}

/* v * percent / 100 rounded down. */
CC_INLINE __u64 scale_percent(__u64 v, __u64 percent)
{
	return mul_sat_u64(v, percent) / 100;
}

/* The square root, rounded down. */
CC_SUBPROGRAM __u32 root_u32(__u32 v)
{
	__u32 root = 0;

	for (__u32 bit = 1U << 15; bit; bit >>= 1) {
		__u64 tried = root | bit;

		if (tried * tried <= v)
			root |= bit;
	}
	return root;
}

/* Distance from b to a of counters that wrap at 2^32 and 2^16: positive when a is the later one. */
CC_INLINE __s32 wrap_diff_u32(__u32 a, __u32 b)
{
	return (__s32)(a - b);
}

CC_INLINE __s32 wrap_diff_u16(__u16 a, __u16 b)
{
	return (__s16)(__u16)(a - b);
}

/* Microseconds as Q4.28 seconds, the unit of the header; saturates at 2^32 - 1, just under 16 s.
 * 2^44 / 10^6 = 17592186.04, so the error is below 3e-9 of the value.
 */
CC_INLINE __u32 us_to_q28(__u32 us)
{
	__u64 q28 = ((__u64)us * 17592186ULL) >> 16;

	return (__u32)min_u64(q28, 0xffffffffULL);
}

#endif /* CLARION_CC_ARITH_H */
