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

SEC("struct_ops/cong_avoid")
void LAW_CALLBACK(cong_avoid)(unsigned long long *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	__u32 acked = (__u32)ctx[2];
	struct flow *flow = flow_of(sk);
	struct cc_stack tcp;

	if (!flow)
		return;
	tcp = stack_of(sk);
	LAW_FN(grow)(LAW_STATE(flow), params_of(sk), &tcp, acked);
	apply_stack(sk, &tcp);
}

SEC("struct_ops/pkts_acked")
void LAW_CALLBACK(pkts_acked)(unsigned long long *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	const struct ack_sample *sample = (const struct ack_sample *)ctx[1];
	struct flow *flow = flow_of(sk);
	struct cc_stack tcp;

	if (!flow)
		return;
	tcp = stack_of(sk);
	LAW_FN(on_acked)(LAW_STATE(flow), params_of(sk), &tcp, sample->pkts_acked, sample->rtt_us);
	apply_stack(sk, &tcp);
}

SEC("struct_ops/set_state")
void LAW_CALLBACK(set_state)(unsigned long long *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	__u8 next = (__u8)ctx[1];
	struct flow *flow = flow_of(sk);
	struct cc_stack tcp;

	if (!flow)
		return;
	tcp = stack_of(sk);
	LAW_FN(on_state)(LAW_STATE(flow), params_of(sk), &tcp, next);
	apply_stack(sk, &tcp);
}

SEC("struct_ops/cwnd_event")
void LAW_CALLBACK(cwnd_event)(unsigned long long *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	int event = (int)ctx[1];
	struct flow *flow = flow_of(sk);
	struct cc_stack tcp;

	if (!flow || event > STACK_LOSS)
		return;
	tcp = stack_of(sk);
	LAW_FN(on_event)(LAW_STATE(flow), params_of(sk), &tcp, (__u8)event);
	apply_stack(sk, &tcp);
}

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
