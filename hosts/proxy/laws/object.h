/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a law's object, and what is called of one law. */
#ifndef CLARION_PROXY_OBJECT_H
#define CLARION_PROXY_OBJECT_H

#include "cc/params.h"
#include "flow.h"
#include "law.h"

/* What a law has no use for is NULL. */
struct law_calls {
	struct law_description description;
	void (*start)(struct law *law, struct law_connection *connection);
	void (*on_ack)(struct law *law, struct law_connection *connection, const struct law_ack *ack);
	void (*grow)(struct law *law, struct law_connection *connection, __u32 acked);
	void (*on_acked)(struct law *law, struct law_connection *connection, __u32 packets, __s64 rtt_us);
	void (*on_state)(struct law *law, struct law_connection *connection, __u8 next);
	void (*on_event)(struct law *law, struct law_connection *connection, __u8 event);
	void (*on_lost)(struct law *law, struct law_connection *connection, const struct law_lost *lost);
	__u32 (*ssthresh)(struct law *law, struct law_connection *connection);
	__u32 (*undo)(struct law *law, struct law_connection *connection);
};

struct law {
	const struct law_calls *calls;
	struct cc_params params;
	__u32 seed;
	struct flow flow;
	__u64 state[];
};

/* The laws of each form, ended by an entry without a name. */
extern const struct law_calls law_first_form[];
extern const struct law_calls law_stack_form[];
extern const struct law_calls law_rate_form[];

#endif /* CLARION_PROXY_OBJECT_H */
