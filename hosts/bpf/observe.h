/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Filling records from a TCP socket: of a flow, for the iterator while it lives and for the handshake as it
 * closes; and of a reduction of its window.
 */
#ifndef CLARION_OBSERVE_H
#define CLARION_OBSERVE_H

#include "kernel.h"
#include "record.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

static __always_inline void observe_addresses(struct flow_record *record, const struct sock_common *common)
{
	record->family = common->skc_family;
	record->sport = common->skc_num;
	record->dport = bpf_ntohs(common->skc_dport);
	record->state = common->skc_state;
	if (record->family == AF_INET6) {
		BPF_CORE_READ_INTO(&record->src, common, skc_v6_rcv_saddr);
		BPF_CORE_READ_INTO(&record->dst, common, skc_v6_daddr);
		return;
	}
	*(__be32 *)record->src = common->skc_rcv_saddr;
	*(__be32 *)record->dst = common->skc_daddr;
}

static __always_inline void observe_transport(struct flow_record *record, const struct tcp_sock *tp)
{
	const struct inet_connection_sock *icsk = &tp->inet_conn;
	__u32 min_rtt_us = tp->rtt_min.s[0].v;

	record->pacing_rate_bytes_per_s = icsk->icsk_inet.sk.sk_pacing_rate;
	record->srtt_us = tp->srtt_us >> 3; /* the kernel keeps it times 8 */
	record->min_rtt_us = min_rtt_us == ~0U ? 0 : min_rtt_us;
	record->cwnd_packets = tp->snd_cwnd;
	record->delivered = tp->delivered;
	record->lost = tp->lost;
	BPF_CORE_READ_STR_INTO(&record->cc, icsk, icsk_ca_ops, name);
}

/* Fills `record`, which is zero. */
static __always_inline void observe(struct flow_record *record, const struct tcp_sock *tp,
				    const struct flow *flow)
{
	observe_addresses(record, &tp->inet_conn.icsk_inet.sk.__sk_common);
	observe_transport(record, tp);
	record->id = flow->id;
	record->seen = flow->seen;
	record->echo = flow->echo;
	record->stats = flow->stats;
	record->wanted = flow->request.wanted;
}

/* Fills in when it was made and by whom; reason, windows and cookie are the caller's. */
static __always_inline void decision_observe(struct decision *decision, const struct tcp_sock *tp)
{
	const struct inet_connection_sock *icsk = &tp->inet_conn;
	const struct sock_common *common = &icsk->icsk_inet.sk.__sk_common;

	decision->time_ns = bpf_ktime_get_ns();
	decision->netns_cookie = BPF_CORE_READ(common, skc_net.net, net_cookie);
	decision->family = common->skc_family;
	decision->sport = common->skc_num;
	decision->dport = bpf_ntohs(common->skc_dport);
	BPF_CORE_READ_STR_INTO(&decision->cc, icsk, icsk_ca_ops, name);
}

#endif /* CLARION_OBSERVE_H */
