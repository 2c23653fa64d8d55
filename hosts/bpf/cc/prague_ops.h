/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Prague's callbacks and ops table. It has cong_control, so that window and pacing are its own; what TCP does
 * on its own (cc.bpf.c) goes by cwnd_event, ssthresh and undo_cwnd.
 *
 * It asks for ECT on all packets. The kernel's is ECT(0), which the shim turns into ECT(1) where `ect1` says
 * so: behind the handshake, whose packets the peer reports as they came (RFC 9768, 3.2.2). A connection
 * without accurate ECN is the kernel's Reno, in the classic queue, as one that does not know its marks has
 * to be (RFC 9331, section 4.3).
 *
 * Linux 6.18 has accurate ECN and refuses net.ipv4.tcp_ecn = 3, by which it would ask for it. With
 * `prague_assume_accurate_ecn` the mode is switched on after the handshake if both ends have a shim.
 */
#ifndef CLARION_CC_PRAGUE_OPS_H
#define CLARION_CC_PRAGUE_OPS_H

#include "stack_glue.h"

#include <linux/tcp.h>

#include "ace_marks.h"
#include "prague.h"

#define FALLBACK "reno" /* which every kernel has */

#define SOL_TCP 6

/* include/net/tcp.h, since Linux 6.18; both bits: still to be settled. */
#define TCP_ECN_MODE_RFC3168 (1 << 0)
#define TCP_ECN_MODE_ACCECN  (1 << 4)

struct prague_flow {
	struct prague law;
	struct ace_marks marks;
};

_Static_assert(sizeof(struct prague_flow) <= CLARION_LAW_BYTES, "the law's state does not fit struct flow");

CC_INLINE struct prague_flow *prague_of(struct flow *flow)
{
	return flow ? (struct prague_flow *)flow->law : NULL;
}

CC_INLINE __u8 has_accurate_ecn(const struct tcp_sock *tp)
{
	return (tp->ecn_flags & (TCP_ECN_MODE_RFC3168 | TCP_ECN_MODE_ACCECN)) == TCP_ECN_MODE_ACCECN;
}

/* Switches accurate ECN on if that is wanted, and both ends do. Kernels that negotiate it themselves are
 * later ones, and count better.
 */
CC_INLINE int assume_accurate_ecn(struct sock *sk, const struct flow *flow)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!params_of(sk)->prague_assume_accurate_ecn || !bpf_core_field_exists(tp->received_ce))
		return 0;
	if (!flow->id.aware)
		return 0;
	tp->ecn_flags = TCP_ECN_MODE_ACCECN;
	return 1;
}

CC_INLINE struct cc_stack prague_stack_of(struct sock *sk, struct prague_flow *p)
{
	struct cc_stack tcp = stack_of(sk);

	tcp.delivered_ce = ace_marks_count(&p->marks, tcp.delivered_ce);
	return tcp;
}

CC_INLINE void apply_prague(struct sock *sk, const struct cc_stack *tcp)
{
	apply_stack(sk, tcp);
	apply_pacing(sk, tcp->pacing_bytes_per_s, 1);
}

/* Reports that the law has made its window smaller. */
CC_INLINE void report_prague(struct sock *sk, struct flow *flow, __u64 before_q20, enum flow_reason reason)
{
	flow_decide(flow, reason);
	report_decision(sk, flow, prague_packets(before_q20),
			prague_packets(prague_of(flow)->law.window_q20));
}

CC_INLINE void fall_back(struct sock *sk)
{
	char name[] = FALLBACK;

	bpf_setsockopt(sk, SOL_TCP, TCP_CONGESTION, name, sizeof(name));
}

SEC("struct_ops/init")
void clarion_prague_init(unsigned long long *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	struct flow *flow = flow_start(sk);
	struct prague_flow *p = prague_of(flow);
	struct cc_stack tcp;
	__u8 is_negotiated;

	if (!flow || !p)
		return;
	is_negotiated = has_accurate_ecn(tcp_sk(sk));
	if (!is_negotiated && !assume_accurate_ecn(sk, flow)) {
		fall_back(sk);
		return;
	}
	flow->request.ect1 = 1;
	ace_marks_init(&p->marks, tcp_sk(sk)->delivered_ce, is_negotiated);
	tcp = prague_stack_of(sk, p);
	prague_init(&p->law, &tcp);
	apply_prague(sk, &tcp);
}

SEC("struct_ops/cong_control")
void clarion_prague_cong_control(unsigned long long *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	const struct rate_sample *rs = cong_control_sample(ctx);
	struct flow *flow = flow_of(sk);
	struct prague_flow *p = prague_of(flow);
	__u64 before_q20, before_us;
	struct stack_ack ack = {};
	struct cc_stack tcp;

	if (!flow || !p)
		return;
	tcp = prague_stack_of(sk, p);
	before_q20 = p->law.window_q20;
	before_us = p->law.reduced_us;
	ack.acked_packets = rs->acked_sacked;
	prague_on_ack(&p->law, params_of(sk), &tcp, &ack);
	if (p->law.reduced_us != before_us)
		report_prague(sk, flow, before_q20, FLOW_ECN);
	ace_marks_end_ack(&p->marks);
	apply_prague(sk, &tcp);
}

SEC("struct_ops/set_state")
void clarion_prague_set_state(unsigned long long *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	__u8 next = (__u8)ctx[1];
	struct flow *flow = flow_of(sk);
	struct prague_flow *p = prague_of(flow);
	struct cc_stack tcp;
	__u64 before_q20;

	if (!flow || !p)
		return;
	tcp = prague_stack_of(sk, p);
	if (next == CA_STATE_CWR && ace_marks_is_false_alarm(&p->marks, p->law.seen_ce))
		return;
	before_q20 = p->law.window_q20;
	prague_on_state(&p->law, &tcp, next);
	if (p->law.window_q20 < before_q20)
		report_prague(sk, flow, before_q20, FLOW_LOSS);
	apply_stack(sk, &tcp);
}

SEC("struct_ops/cwnd_event")
void clarion_prague_cwnd_event(unsigned long long *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	int event = (int)ctx[1];
	struct flow *flow = flow_of(sk);
	struct prague_flow *p = prague_of(flow);
	struct cc_stack tcp;
	__u64 before_q20;

	if (!flow || !p || event > STACK_LOSS)
		return;
	tcp = prague_stack_of(sk, p);
	before_q20 = p->law.window_q20;
	prague_on_event(&p->law, &tcp, (__u8)event);
	if (p->law.window_q20 < before_q20)
		report_prague(sk, flow, before_q20, FLOW_TIMEOUT);
	apply_stack(sk, &tcp);
}

SEC("struct_ops/ssthresh")
__u32 clarion_prague_ssthresh(unsigned long long *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	struct prague_flow *p = prague_of(flow_of(sk));
	struct cc_stack tcp;

	if (!p)
		return (__u32)max_u64(tcp_sk(sk)->snd_cwnd / 2, 2);
	tcp = prague_stack_of(sk, p);
	if (ace_marks_is_false_alarm(&p->marks, p->law.seen_ce))
		return (__u32)max_u64(tcp.ssthresh, tcp.cwnd);
	return prague_ssthresh(&p->law, params_of(sk), &tcp);
}

SEC("struct_ops/undo_cwnd")
__u32 clarion_prague_undo_cwnd(unsigned long long *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	struct prague_flow *p = prague_of(flow_of(sk));
	struct cc_stack tcp;

	if (!p)
		return tcp_sk(sk)->snd_cwnd;
	tcp = prague_stack_of(sk, p);
	return prague_undo(&p->law, &tcp);
}

/* The socket is closed, or takes another law, whose packets are not for the low-latency queue. */
SEC("struct_ops/release")
void clarion_prague_release(unsigned long long *ctx)
{
	struct flow *flow = flow_of((struct sock *)ctx[0]);

	if (flow)
		flow->request.ect1 = 0;
}

SEC(".struct_ops")
struct tcp_congestion_ops clarion_prague = {
    .init = (void *)clarion_prague_init,
    .release = (void *)clarion_prague_release,
    .cong_control = (void *)clarion_prague_cong_control,
    .set_state = (void *)clarion_prague_set_state,
    .cwnd_event = (void *)clarion_prague_cwnd_event,
    .ssthresh = (void *)clarion_prague_ssthresh,
    .undo_cwnd = (void *)clarion_prague_undo_cwnd,
    .name = "clarion_prague",
    .flags = TCP_CONG_NON_RESTRICTED | TCP_CONG_NEEDS_ECN,
};

#endif /* CLARION_CC_PRAGUE_OPS_H */
