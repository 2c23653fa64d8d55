/* SPDX-License-Identifier: Apache-2.0 */
/* The laws of hosts/bpf/cc as a flat C interface, for the proxy's QUIC. A law with its parameters, its state
 * and the flow that it reads is one opaque object; what it sees of its connection and what it answers are the
 * plain structures below, which src/law/ffi.rs repeats and a test compares.
 */
#ifndef CLARION_PROXY_LAW_H
#define CLARION_PROXY_LAW_H

#include <linux/types.h>

enum law_form {
	LAW_FIRST = 1, /* calls.h: at every ACK the law sets window and rate, and it knows the header */
	LAW_STACK = 2, /* stack.h: the transport reduces to what the law says, and the law grows the window */
	LAW_RATE = 3,  /* stack.h with stack_ack: the law sets window and rate itself */
};

/* What a law sees of its connection. Packets are full datagrams. It may change the first five. */
struct law_connection {
	__u64 pacing_bytes_per_s; /* of datagrams; ~0: no rate */
	__u32 cwnd;		  /* packets */
	__u32 ssthresh;		  /* packets */
	__u32 cwnd_count;	  /* packets acknowledged towards the next one of growth */
	__u32 counts_as_limited;  /* out: from now on the application counts as the limit */
	__u64 now_us;
	__u64 last_sent_us;
	__u64 delivered_us;
	__u32 cwnd_clamp;
	__u32 mss_bytes;      /* UDP payload of a full packet */
	__u32 full_len_bytes; /* its frame without FCS, with the Clarion header */
	__u32 srtt_us;	      /* 0: none yet */
	__u32 min_rtt_us;     /* ~0: none yet */
	__u32 una;	      /* number of the oldest packet in flight, counted in the order of sending */
	__u32 next;	      /* of the next packet */
	__u32 delivered;      /* packets, modulo 2^32, as the next two */
	__u32 delivered_ce;
	__u32 lost;
	__u32 in_flight;
	__u32 outstanding;
	__u8 ca_state;
	__u8 is_open;
	__u8 in_recovery;
	__u8 is_cwnd_limited;	/* as a law of the second form has it: with what slow start makes of it */
	__u8 has_filled_window; /* the flag that TCP keeps */
	__u8 is_app_limited;
	__u8 saw_reordering;
	__u8 pad;
};

/* What an acknowledgement says (struct rate_sample). */
struct law_ack {
	__s64 interval_us; /* 0 or less: no sample */
	__s64 rtt_us;	   /* of the newest packet; negative: none */
	__s32 delivered;   /* packets over the interval; negative: no sample */
	__u32 prior_delivered;
	__u32 prior_in_flight;
	__u32 losses;
	__u32 acked_packets;
	__u32 sent_in_flight;
	__u32 lost;
	__u8 is_app_limited;
	__u8 has_echo; /* of a congestion mark */
	__u8 pad[2];
};

/* A packet that has been declared lost. */
struct law_lost {
	__u32 sent_in_flight;
	__u32 lost;
	__u32 is_app_limited;
};

/* What the peer's headers have echoed (struct flow_echo and flow_stats). */
struct law_echo {
	__u32 reverse_feedback;
	__u32 nr_echoes;
	__u32 corrupt;
	__u32 congest;
	__u32 local_drops;
	__u16 rev_corrupt;
	__u16 rev_congest;
	__u8 regulated;
	__u8 field;
	__u8 tags;
	__u8 is_aware; /* 0: packets go without header */
};

/* What the law wants of its packets' headers (struct flow_request). */
struct law_request {
	__u32 rtt;
	__u32 x;
	__s32 delta_throughput;
	__u32 full_len;
	__u8 wanted;
	__u8 field;
	__u8 ect1;
	__u8 pad;
};

struct law_parameter {
	const char *name;
	__u32 value;
	__u32 min;
	__u32 max;
};

struct law_description {
	const char *name;      /* of the proxy's registry */
	const char *host_name; /* of the kernel's, or of the simulator's */
	const char *prefix;    /* of its parameters */
	__u32 form;	       /* enum law_form */
	__u32 state_bytes;
};

struct law;

/* The registry. NULL: no such index. */
const struct law_description *law_describe(__u32 index);
const struct law_parameter *law_parameter(__u32 index);

/* NULL: no memory, or no such law. */
struct law *law_new(__u32 index, __u32 seed);
struct law *law_clone(const struct law *law);
void law_free(struct law *law);

/* `index` of law_parameter(). False: no such parameter, or out of its range. */
int law_set_parameter(struct law *law, __u32 index, __u32 value);
__u32 law_get_parameter(const struct law *law, __u32 index);

/* Headers. */
void law_hear(struct law *law, const struct law_echo *echo);
void law_request(const struct law *law, struct law_request *request);

/* Reductions so far by enum flow_reason; 0 for other reasons. law_note_reduction: one that the transport
 * made. */
__u32 law_reductions(const struct law *law, __u32 reason);
void law_note_reduction(struct law *law, __u32 reason);

/* What a law is called for, in the words of stack.h. What it has no use for does nothing. */
void law_start(struct law *law, struct law_connection *connection);
void law_on_ack(struct law *law, struct law_connection *connection, const struct law_ack *ack);
void law_grow(struct law *law, struct law_connection *connection, __u32 acked);
void law_on_acked(struct law *law, struct law_connection *connection, __u32 packets, __s64 rtt_us);
void law_on_state(struct law *law, struct law_connection *connection, __u32 next);
void law_on_event(struct law *law, struct law_connection *connection, __u32 event);
void law_on_lost(struct law *law, struct law_connection *connection, const struct law_lost *lost);
__u32 law_ssthresh(struct law *law, struct law_connection *connection);
__u32 law_undo(struct law *law, struct law_connection *connection);

/* sizeof and offsetof of the structures above, for the test: see layout.c. ~0: no such index. */
__u32 law_layout(__u32 index);

#endif /* CLARION_PROXY_LAW_H */
