/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* What PCC maximises: u = T sigmoid(L - 0.05) - x L, where x is the sending rate, L the share that is lost,
 * T = x (1 - L) and sigmoid(y) = 1 / (1 + e^(100 y)) (PCC, NSDI 2015, 2.2).
 */
#ifndef CLARION_CC_PCC_UTILITY_H
#define CLARION_CC_PCC_UTILITY_H

#include "arith.h"

#define PCC_ALPHA	   100U
#define PCC_ALPHA_STEP_Q16 (5U << 16) /* 100 * 0.05 */

/* e^16 is more than Q16 numbers tell from infinity where 1 is divided by it. */
#define PCC_MAX_EXPONENT_Q16 (16U << 16)
#define PCC_LOG2_E_Q16	     94548U

/* 2^f for f < 1 by a cubic, at most 1.5e-4 of it off; its coefficients sum up to 1, so that it is continuous.
 */
CC_INLINE __u64 pcc_exp2_fraction_q16(__u64 f_q16)
{
	__u64 inner_q16 = 14824 + scale_q16(f_q16, 5121); /* 0.2262, 0.0781 */

	return Q16_ONE + scale_q16(f_q16, 45591 + scale_q16(f_q16, inner_q16)); /* 0.6957 */
}

/* e^z for z <= 16. */
CC_INLINE __u64 pcc_exp_q16(__u64 z_q16)
{
	__u64 exponent_q16 = scale_q16(z_q16, PCC_LOG2_E_Q16);

	return pcc_exp2_fraction_q16(exponent_q16 & 0xffff) << (exponent_q16 >> 16);
}

/* sigmoid(L - 0.05), at most 5e-5 off. */
CC_INLINE __u32 pcc_sigmoid_q16(__u32 loss_q16)
{
	__u64 z_q16 = (__u64)PCC_ALPHA * loss_q16;
	int is_above = z_q16 > PCC_ALPHA_STEP_Q16;
	__u64 distance_q16 = is_above ? z_q16 - PCC_ALPHA_STEP_Q16 : PCC_ALPHA_STEP_Q16 - z_q16;
	__u64 e_q16 = pcc_exp_q16(min_u64(distance_q16, PCC_MAX_EXPONENT_Q16));
	__u64 numerator_q16 = is_above ? Q16_ONE : e_q16;

	return (__u32)((numerator_q16 << 16) / (Q16_ONE + e_q16));
}

/* Of `bytes_per_s`, below 2^46. */
CC_INLINE __s64 pcc_utility(__u64 bytes_per_s, __u32 lost, __u32 delivered)
{
	__u32 loss_q16 = (__u32)div_u64((__u64)lost << 16, (__u64)lost + delivered);
	__u64 gain_q16 = scale_q16(Q16_ONE - loss_q16, pcc_sigmoid_q16(loss_q16));

	return (__s64)(bytes_per_s * gain_q16) - (__s64)(bytes_per_s * loss_q16);
}

#endif /* CLARION_CC_PCC_UTILITY_H */
