/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The largest value of a window of time, in three samples: the filter of Kathleen Nichols. The second is the
 * largest of what came a quarter of the window after the first and later, the third likewise half of it, so
 * that something recent remains when the first becomes too old.
 */
#ifndef CLARION_CC_WINDOWED_MAX_H
#define CLARION_CC_WINDOWED_MAX_H

#include "arith.h"

struct windowed_sample {
	__u32 at;
	__u32 value;
};

struct windowed_max {
	struct windowed_sample best[3]; /* falling */
};

CC_INLINE __u32 windowed_max_value(const struct windowed_max *m)
{
	return m->best[0].value;
}

CC_INLINE void windowed_max_reset(struct windowed_max *m, struct windowed_sample s)
{
	m->best[0] = m->best[1] = m->best[2] = s;
}

CC_INLINE void windowed_max_shift(struct windowed_max *m, struct windowed_sample s)
{
	m->best[0] = m->best[1];
	m->best[1] = m->best[2];
	m->best[2] = s;
}

CC_INLINE void windowed_max_age(struct windowed_max *m, __u32 window, struct windowed_sample s)
{
	__u32 age = s.at - m->best[0].at;

	if (age > window) {
		windowed_max_shift(m, s);
		if (s.at - m->best[0].at > window)
			windowed_max_shift(m, s);
	} else if (m->best[1].at == m->best[0].at && age > window / 4) {
		m->best[1] = m->best[2] = s;
	} else if (m->best[2].at == m->best[1].at && age > window / 2) {
		m->best[2] = s;
	}
}

CC_INLINE void windowed_max_update(struct windowed_max *m, __u32 window, __u32 at, __u32 value)
{
	struct windowed_sample s = {at, value};

	if (value >= m->best[0].value || at - m->best[2].at > window) {
		windowed_max_reset(m, s);
		return;
	}
	if (value >= m->best[1].value)
		m->best[1] = m->best[2] = s;
	else if (value >= m->best[2].value)
		m->best[2] = s;
	windowed_max_age(m, window, s);
}

#endif /* CLARION_CC_WINDOWED_MAX_H */
