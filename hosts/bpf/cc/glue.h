/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Between the kernel's TCP and the laws: fills the sample, finds flow and parameters, applies the answer. */
#ifndef CLARION_CC_GLUE_H
#define CLARION_CC_GLUE_H

#include "../kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "../header.h"
#include "../maps.h"
#include "../observe.h"
#include "ca_state.h"
#include "params.h"
#include "sample.h"

#define ETHERNET_HEADER_BYTES 14

/* include/net/tcp.h */
enum {
	CA_EVENT_TX_START = 0,
};

/* include/net/sock.h */
enum {
	SK_PACING_NONE = 0,
	SK_PACING_NEEDED = 1,
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, __u64);
	__type(value, struct cc_params);
} params SEC(".maps");

/* Reductions of the window, for `clarion-host decisions`. While nobody reads it fills up, and new ones are
 * lost. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
} decisions SEC(".maps");

/* The one source of defaults and of the legal ranges; the agent reads them from this object. */
const struct cc_params default_params = {
#define CC_PARAM(name, value, min, max) .name = value,
#include "params.def"
#undef CC_PARAM
};
const struct cc_params params_min = {
#define CC_PARAM(name, value, min, max) .name = min,
#include "params.def"
#undef CC_PARAM
};
const struct cc_params params_max = {
#define CC_PARAM(name, value, min, max) .name = max,
#include "params.def"
#undef CC_PARAM
};

/* 1: cong_control(sk, ack, flag, rs), since Linux 6.10; 0: cong_control(sk, rs). Set before load, from BTF.
 */
const volatile __u8 cong_control_has_ack = 1;

CC_INLINE struct tcp_sock *tcp_sk(struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

CC_INLINE struct flow *flow_of(struct sock *sk)
{
	return bpf_sk_storage_get(&flows, sk, 0, 0);
}

CC_INLINE const struct cc_params *params_of(struct sock *sk)
{
	__u64 cookie = sk->__sk_common.skc_net.net->net_cookie;
	const struct cc_params *p = bpf_map_lookup_elem(&params, &cookie);

	return p ? p : &default_params;
}

/* A flow of its own when the handshake made none, so that the laws also run on hosts without the shim. */
CC_INLINE struct flow *flow_start(struct sock *sk)
{
	struct flow *flow = bpf_sk_storage_get(&flows, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);

	if (flow)
		__builtin_memset(flow->law, 0, sizeof(flow->law));
	return flow;
}

/* The sample of cong_control, from the argument list that the kernel has: the verifier prunes the other
 * branch. Assembly, because a compiler merges the two loads into one at a computed offset, and the verifier
 * refuses that.
 */
CC_INLINE const struct rate_sample *cong_control_sample(unsigned long long *ctx)
{
	const struct rate_sample *rs;

	if (cong_control_has_ack)
		__asm__ volatile("%0 = *(u64 *)(%1 + 24)" : "=r"(rs) : "r"(ctx));
	else
		__asm__ volatile("%0 = *(u64 *)(%1 + 8)" : "=r"(rs) : "r"(ctx));
	return rs;
}

/* A dual-stack socket may speak IPv4, with v4-mapped addresses (RFC 4291, 2.5.5.2). */
CC_INLINE __u32 ip_header_bytes(const struct sock *sk)
{
	const struct sock_common *common = &sk->__sk_common;
	const struct in6_addr *to = &common->skc_v6_daddr;

	if (common->skc_family != AF_INET6)
		return 20;
	return to->in6_u.u6_addr32[0] || to->in6_u.u6_addr32[1] || to->in6_u.u6_addr32[2] != bpf_htonl(0xffff)
		   ? 40
		   : 20;
}

/* Bytes that the receiver's window still takes; none beyond a window that it has shrunk. */
CC_INLINE __u32 window_room_bytes(const struct tcp_sock *tp)
{
	__s32 room = wrap_diff_u32(tp->snd_una + tp->snd_wnd, tp->snd_nxt);

	return room > 0 ? (__u32)room : 0;
}

/* Everything but what an ACK adds. */
CC_INLINE void sample_socket(struct cc_sample *s, struct sock *sk, const struct flow *flow, __u8 ca_state)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	__builtin_memset(s, 0, sizeof(*s));
	s->now_us = tp->tcp_mstamp;
	s->mss_bytes = tp->mss_cache;
	s->full_len_bytes = ETHERNET_HEADER_BYTES + ip_header_bytes(sk) + CLARION_DATA_BYTES +
			    tp->tcp_header_len + s->mss_bytes;
	s->srtt_us = tp->srtt_us >> 3;
	s->min_rtt_us = tp->rtt_min.s[0].v;
	if (s->min_rtt_us == ~0U)
		s->min_rtt_us = s->srtt_us;
	s->delivered_packets = tp->delivered;
	s->lost_packets = tp->lost;
	s->in_flight_packets = tp->packets_out - tp->sacked_out - tp->lost_out + tp->retrans_out;
	s->outstanding_packets = tp->packets_out;
	s->ce_packets = tp->delivered_ce;
	s->local_drops = flow->stats.local_drops;
	s->is_limited = window_room_bytes(tp) < tp->mss_cache;
	s->is_open = ca_state == CA_STATE_OPEN && !tp->sacked_out && !tp->lost_out;
	s->in_recovery = ca_state == CA_STATE_RECOVERY || ca_state == CA_STATE_CWR;
	s->has_to_resend = ca_state == CA_STATE_RECOVERY && tp->lost_out && !tp->retrans_out;
	s->saw_reordering = tp->reord_seen != 0;
	s->has_feedback = flow->id.aware && !flow->id.plain;
	s->has_tags = s->has_feedback && flow->id.tags && flow->echo.nr_echoes;
}

CC_INLINE void sample_ack(struct cc_sample *s, struct sock *sk, const struct rate_sample *rs,
			  const struct flow *flow, __u8 ca_state)
{
	sample_socket(s, sk, flow, ca_state);
	s->acked_packets = rs->acked_sacked;
	s->outstanding_packets += s->acked_packets;
	s->has_delivery = rs->delivered > 0;
	s->prior_delivered = rs->prior_delivered;
	s->is_retransmitted = rs->is_retrans;
	s->rtt_us = rs->rtt_us > 0 ? (__u32)rs->rtt_us : 0;
	/* The kernel takes all of a flow's first window, and of the first after a pause, for limited by the
	 * application. Where it has filled the window, the window is what limits: without growth for its ACKs
	 * a flow would lose two round trips at each start.
	 */
	s->is_limited |= rs->is_app_limited && !BPF_CORE_READ_BITFIELD(tcp_sk(sk), is_cwnd_limited);
}

/* Reports a reduction that the law has just made, if it has. */
CC_INLINE void report_decision(struct sock *sk, struct flow *flow, __u32 before_packets, __u32 after_packets)
{
	struct decision decision = {};

	if (flow->decision == FLOW_NOT_REDUCED)
		return;
	decision.reason = flow->decision;
	flow->decision = FLOW_NOT_REDUCED;
	decision.cookie = flow->id.cookie;
	decision.cwnd_before = before_packets;
	decision.cwnd_after = after_packets;
	decision_observe(&decision, tcp_sk(sk));
	bpf_ringbuf_output(&decisions, &decision, sizeof(decision), 0);
}

/* Pacing by timers is switched on with the first paced window (fq takes precedence) and off for windows that
 * are not paced. The rate stands in both cases: TCP's small queues let a socket have at most a millisecond of
 * it in the queues of this host.
 */
CC_INLINE void apply_pacing(struct sock *sk, __u64 bytes_per_s, int is_paced)
{
	if (is_paced && sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
	else if (!is_paced && sk->sk_pacing_status == SK_PACING_NEEDED)
		sk->sk_pacing_status = SK_PACING_NONE;
	sk->sk_pacing_rate = min_u64(bytes_per_s, sk->sk_max_pacing_rate);
}

/* Writes window and rate. */
CC_INLINE void apply_control(struct sock *sk, struct cc_control c)
{
	struct tcp_sock *tp = tcp_sk(sk);

	tp->snd_cwnd = (__u32)clamp_u64(c.cwnd_packets, 1, max_u64(tp->snd_cwnd_clamp, 1));
	apply_pacing(sk, c.bytes_per_s, c.is_paced);
}

#endif /* CLARION_CC_GLUE_H */
