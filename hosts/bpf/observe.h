/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Filling records from a socket: of a flow, for `stats` while it lives and for the handshake as it
 * closes; and of a reduction of its window. `stats` has only addresses, which the verifier knows nothing of,
 * so every member is read as from one.
 */
#ifndef CLARION_OBSERVE_H
#define CLARION_OBSERVE_H

#include "kernel.h"
#include "record.h"

#include <linux/in.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

static __always_inline void observe_addresses(struct flow_record *record, const struct sock_common *common)
{
	record->family = BPF_CORE_READ(common, skc_family);
	record->sport = BPF_CORE_READ(common, skc_num);
	record->dport = bpf_ntohs(BPF_CORE_READ(common, skc_dport));
	record->state = BPF_CORE_READ(common, skc_state);
	if (record->family == AF_INET6) {
		BPF_CORE_READ_INTO(&record->src, common, skc_v6_rcv_saddr);
		BPF_CORE_READ_INTO(&record->dst, common, skc_v6_daddr);
		return;
	}
	*(__be32 *)record->src = BPF_CORE_READ(common, skc_rcv_saddr);
	*(__be32 *)record->dst = BPF_CORE_READ(common, skc_daddr);
}

static __always_inline void observe_transport(struct flow_record *record, const struct tcp_sock *tp)
{
	const struct inet_connection_sock *icsk = &tp->inet_conn;
	__u32 min_rtt_us = BPF_CORE_READ(tp, rtt_min.s[0].v);

	record->pacing_rate_bytes_per_s = BPF_CORE_READ(icsk, icsk_inet.sk.sk_pacing_rate);
	record->srtt_us = BPF_CORE_READ(tp, srtt_us) >> 3; /* the kernel keeps it times 8 */
	record->min_rtt_us = min_rtt_us == ~0U ? 0 : min_rtt_us;
	record->cwnd_packets = BPF_CORE_READ(tp, snd_cwnd);
	record->delivered = BPF_CORE_READ(tp, delivered);
	record->lost = BPF_CORE_READ(tp, lost);
	BPF_CORE_READ_STR_INTO(&record->cc, icsk, icsk_ca_ops, name);
}

#define OBSERVE_FLOW(target, flow, member) bpf_probe_read_kernel(&(target), sizeof(target), &(flow)->member)

/* Fills `record`, which is zero. `tp` may be a UDP socket, of which only what all sockets have is read. */
static __always_inline void observe(struct flow_record *record, const struct tcp_sock *tp,
				    const struct flow *flow)
{
	record->protocol = BPF_CORE_READ(tp, inet_conn.icsk_inet.sk.sk_protocol);
	observe_addresses(record, &tp->inet_conn.icsk_inet.sk.__sk_common);
	if (record->protocol == IPPROTO_TCP)
		observe_transport(record, tp);
	OBSERVE_FLOW(record->id, flow, id);
	OBSERVE_FLOW(record->seen, flow, seen);
	OBSERVE_FLOW(record->echo, flow, echo);
	OBSERVE_FLOW(record->stats, flow, stats);
	OBSERVE_FLOW(record->wanted, flow, request.wanted);
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
