/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Between the kernel's TCP and the laws in the second form: what they see of a socket, and what they change.
 */
#ifndef CLARION_CC_STACK_GLUE_H
#define CLARION_CC_STACK_GLUE_H

#include "glue.h"
#include "stack.h"

/* tcp_is_cwnd_limited() of the kernel. */
CC_INLINE __u8 is_cwnd_limited(const struct tcp_sock *tp)
{
	if (BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited))
		return 1;
	return tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out;
}

/* Without what no law on a host has asked for: when something was sent last, and how far pacing is ahead. */
CC_INLINE struct cc_stack stack_of(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct cc_stack tcp = {};

	tcp.cwnd = tp->snd_cwnd;
	tcp.ssthresh = tp->snd_ssthresh;
	tcp.cwnd_count = tp->snd_cwnd_cnt;
	tcp.pacing_bytes_per_s = sk->sk_pacing_rate;
	tcp.max_pacing_bytes_per_s = sk->sk_max_pacing_rate;
	tcp.cwnd_clamp = tp->snd_cwnd_clamp;
	tcp.mss_bytes = tp->mss_cache;
	tcp.now_us = tp->tcp_mstamp;
	tcp.delivered_us = tp->delivered_mstamp;
	tcp.srtt_us = tp->srtt_us >> 3;
	tcp.min_rtt_us = tp->rtt_min.s[0].v;
	tcp.una = tp->snd_una;
	tcp.next = tp->snd_nxt;
	tcp.delivered = tp->delivered;
	tcp.delivered_ce = tp->delivered_ce;
	tcp.lost = tp->lost;
	tcp.in_flight = tp->packets_out - tp->sacked_out - tp->lost_out + tp->retrans_out;
	tcp.ca_state = BPF_CORE_READ_BITFIELD(&tp->inet_conn, icsk_ca_state);
	tcp.is_cwnd_limited = is_cwnd_limited(tp);
	tcp.is_app_limited = tp->app_limited != 0;
	tcp.is_paced = sk->sk_pacing_status == SK_PACING_NEEDED;
	return tcp;
}

CC_INLINE void apply_stack(struct sock *sk, const struct cc_stack *tcp)
{
	struct tcp_sock *tp = tcp_sk(sk);

	tp->snd_cwnd = (__u32)max_u64(tcp->cwnd, 1);
	tp->snd_ssthresh = tcp->ssthresh;
	tp->snd_cwnd_cnt = tcp->cwnd_count;
}

#endif /* CLARION_CC_STACK_GLUE_H */
