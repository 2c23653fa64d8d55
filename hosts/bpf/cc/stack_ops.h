/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Callbacks and ops table of one law in the second form (stack.h): included by stack_laws.bpf.c once per law
 * with LAW set to its prefix and LAW_NAME to what the kernel calls it, hence no include guard.
 */
#define PASTE_(a, b)	       a##b
#define PASTE(a, b)	       PASTE_(a, b)
#define STRING_(a)	       #a
#define STRING(a)	       STRING_(a)
#define LAW_FN(function)       PASTE(LAW, _##function)	    /* hstcp_init */
#define LAW_CALLBACK(callback) PASTE(LAW_NAME, _##callback) /* clarion_hstcp_init */
#define LAW_STATE(flow)	       ((struct LAW *)(flow)->law)
#define LAW_SAMPLE(arg)	       ((const struct ack_sample *)(arg))

_Static_assert(sizeof(struct LAW) <= CLARION_LAW_BYTES, "the law's state does not fit struct flow");
_Static_assert(sizeof(STRING(LAW_NAME)) <= 16, "the kernel takes names of at most 15 characters");

SEC("struct_ops/init")
void LAW_CALLBACK(init)(unsigned long long *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	struct flow *flow = flow_start(sk);
	struct cc_stack tcp;

	if (!flow)
		return;
	tcp = stack_of(sk);
	LAW_FN(init)(LAW_STATE(flow), params_of(sk), &tcp);
}

/* A callback that may change the window: the law's function, with what it is told beside the connection,
 * which is in `arg`, the callback's argument of that index. `is_known` is false where laws have no such case.
 */
#define LAW_MAY_CHANGE(callback, index, is_known, function, ...)                                             \
	SEC("struct_ops/" #callback)                                                                         \
	void LAW_CALLBACK(callback)(unsigned long long *ctx)                                                 \
	{                                                                                                    \
		struct sock *sk = (struct sock *)ctx[0];                                                     \
		unsigned long long arg = ctx[index];                                                         \
		struct flow *flow = flow_of(sk);                                                             \
		struct cc_stack tcp;                                                                         \
                                                                                                             \
		if (!flow || !(is_known))                                                                    \
			return;                                                                              \
		tcp = stack_of(sk);                                                                          \
		LAW_FN(function)(LAW_STATE(flow), params_of(sk), &tcp, __VA_ARGS__);                         \
		apply_stack(sk, &tcp);                                                                       \
	}

LAW_MAY_CHANGE(cong_avoid, 2, 1, grow, (__u32)arg)
LAW_MAY_CHANGE(pkts_acked, 1, 1, on_acked, LAW_SAMPLE(arg)->pkts_acked, LAW_SAMPLE(arg)->rtt_us)
LAW_MAY_CHANGE(set_state, 1, 1, on_state, (__u8)arg)
LAW_MAY_CHANGE(cwnd_event, 1, (int)arg <= STACK_LOSS, on_event, (__u8)arg)

SEC("struct_ops/ssthresh")
__u32 LAW_CALLBACK(ssthresh)(unsigned long long *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	struct flow *flow = flow_of(sk);
	struct cc_stack tcp;

	if (!flow)
		return (__u32)max_u64(tcp_sk(sk)->snd_cwnd / 2, 2);
	tcp = stack_of(sk);
	return LAW_FN(ssthresh)(LAW_STATE(flow), params_of(sk), &tcp);
}

SEC("struct_ops/undo_cwnd")
__u32 LAW_CALLBACK(undo_cwnd)(unsigned long long *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	struct flow *flow = flow_of(sk);
	struct cc_stack tcp;

	if (!flow)
		return tcp_sk(sk)->snd_cwnd;
	tcp = stack_of(sk);
	return LAW_FN(undo)(LAW_STATE(flow), params_of(sk), &tcp);
}

SEC(".struct_ops")
struct tcp_congestion_ops LAW_NAME = {
    .init = (void *)LAW_CALLBACK(init),
    .cong_avoid = (void *)LAW_CALLBACK(cong_avoid),
    .pkts_acked = (void *)LAW_CALLBACK(pkts_acked),
    .set_state = (void *)LAW_CALLBACK(set_state),
    .cwnd_event = (void *)LAW_CALLBACK(cwnd_event),
    .ssthresh = (void *)LAW_CALLBACK(ssthresh),
    .undo_cwnd = (void *)LAW_CALLBACK(undo_cwnd),
    .name = STRING(LAW_NAME),
    .flags = TCP_CONG_NON_RESTRICTED,
};

#undef PASTE_
#undef PASTE
#undef STRING_
#undef STRING
#undef LAW_FN
#undef LAW_CALLBACK
#undef LAW_STATE
#undef LAW_SAMPLE
#undef LAW_MAY_CHANGE
