// SPDX-License-Identifier: Apache-2.0
/* The laws of stack.h that leave the reduction to their transport: what stack_ops.h is for the kernel. VCP is
 * not among them: its routers answer in bits that QUIC does not hand on.
 */
#include "connection.h"

#include "cc/cubic.h"
#include "cc/reno.h"
#include "cc/stack_laws.h"
#include "cc/tahoe.h"

#define CHANGES(law_, name, function, declared, ...)                                                         \
	static void law_##_##name declared                                                                   \
	{                                                                                                    \
		struct cc_stack tcp = stack_of(c);                                                           \
                                                                                                             \
		function((struct law_ *)law->state, &law->params, &tcp __VA_ARGS__);                         \
		apply_stack(c, &tcp);                                                                        \
	}

#define COMMA ,

#define STACK_LAW(law_, name)                                                                                \
	CHANGES(law_, host_start, law_##_init, (struct law * law, struct law_connection * c))                \
	CHANGES(law_, host_grow, law_##_grow, (struct law * law, struct law_connection * c, __u32 acked),    \
		COMMA acked)                                                                                 \
	CHANGES(law_, host_acked, law_##_on_acked,                                                           \
		(struct law * law, struct law_connection * c, __u32 packets, __s64 rtt_us),                  \
		COMMA packets COMMA rtt_us)                                                                  \
	CHANGES(law_, host_state, law_##_on_state, (struct law * law, struct law_connection * c, __u8 next), \
		COMMA next)                                                                                  \
	CHANGES(law_, host_event, law_##_on_event,                                                           \
		(struct law * law, struct law_connection * c, __u8 event), COMMA event)                      \
	static __u32 law_##_host_ssthresh(struct law *law, struct law_connection *c)                         \
	{                                                                                                    \
		struct cc_stack tcp = stack_of(c);                                                           \
                                                                                                             \
		return law_##_ssthresh((struct law_ *)law->state, &law->params, &tcp);                       \
	}                                                                                                    \
	static __u32 law_##_host_undo(struct law *law, struct law_connection *c)                             \
	{                                                                                                    \
		struct cc_stack tcp = stack_of(c);                                                           \
                                                                                                             \
		return law_##_undo((struct law_ *)law->state, &law->params, &tcp);                           \
	}
#define RATE_LAW(law_, name)
#define SIMULATED_LAW(law_, name)
STACK_LAW(cubic, "cubic")
STACK_LAW(reno, "reno")
STACK_LAW(tahoe, "tahoe")
#include "cc/stack_laws.def"
#undef STACK_LAW

#define STACK_LAW(law_, name)                                                                                \
	{                                                                                                    \
	    .description = {#law_, name, #law_, LAW_STACK, sizeof(struct law_)},                             \
	    .start = law_##_host_start,                                                                      \
	    .grow = law_##_host_grow,                                                                        \
	    .on_acked = law_##_host_acked,                                                                   \
	    .on_state = law_##_host_state,                                                                   \
	    .on_event = law_##_host_event,                                                                   \
	    .ssthresh = law_##_host_ssthresh,                                                                \
	    .undo = law_##_host_undo,                                                                        \
	},

const struct law_calls law_stack_form[] = {
    STACK_LAW(cubic, "cubic") STACK_LAW(reno, "reno") STACK_LAW(tahoe, "tahoe")
#include "cc/stack_laws.def"
	{.description = {0}},
};
