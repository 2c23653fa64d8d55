// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/* Settles in the TCP handshake whether both ends of a flow know the header, and opens and closes its record.
 *
 * One instance for the machine, on the root of the cgroup2 tree. It acts on sockets of attached network
 * namespaces only, and after the handshake only on retransmission timeouts and state changes: a packet
 * costs nothing here.
 */
#include "kernel.h"

#include <linux/in.h>
#include <linux/tcp.h>
#include <bpf/bpf_endian.h>

#include "bucket.h"
#include "fallback.h"
#include "header.h"
#include "maps.h"
#include "observe.h"

#define TCP_FLAG_BITS_SYN 0x02
#define TCP_FLAG_BITS_ACK 0x10

#define SYNS_WITH_OPTION 3 /* then it goes without: a middlebox may drop what it does not know */

/* Calls of this program for the life of the connection, once established. */
#define LASTING_CALLS (BPF_SOCK_OPS_RTO_CB_FLAG | BPF_SOCK_OPS_STATE_CB_FLAG)

static __always_inline struct attachment *find_attachment(struct bpf_sock_ops *skops)
{
	__u64 cookie = bpf_get_netns_cookie(skops);

	return bpf_map_lookup_elem(&attached, &cookie);
}

static __always_inline struct flow *find_flow(struct bpf_sock_ops *skops)
{
	struct bpf_sock *sk = skops->sk;

	return sk ? bpf_sk_storage_get(&flows, sk, NULL, 0) : NULL;
}

/* --- the option --- */

/* Flags of the option in the segment at hand, or in the saved SYN with BPF_LOAD_HDR_OPT_TCP_SYN; 0 if none.
 */
static __always_inline __u8 load_option_flags(struct bpf_sock_ops *skops, __u64 where)
{
	/* The search pattern of the helper: kind, 4 = the identifier has two bytes, identifier. */
	struct clarion_option option = {
	    .kind = CLARION_OPTION_KIND,
	    .length = 4,
	    .exid = {CLARION_OPTION_EXID >> 8, CLARION_OPTION_EXID & 0xff},
	};

	if (bpf_load_hdr_opt(skops, &option, sizeof(option), where) != sizeof(option))
		return 0;
	return option.flags;
}

/* The SYN offers the header and passed a shim at both hosts. */
static __always_inline bool syn_offers(struct bpf_sock_ops *skops)
{
	return load_option_flags(skops, BPF_LOAD_HDR_OPT_TCP_SYN) == CLARION_OPTION_THROUGH;
}

static __always_inline bool is_syn_ack(const struct bpf_sock_ops *skops)
{
	return skops->skb_tcp_flags & TCP_FLAG_BITS_ACK;
}

static __always_inline bool wants_option(struct bpf_sock_ops *skops)
{
	if (!(skops->skb_tcp_flags & TCP_FLAG_BITS_SYN))
		return false;
	if (!is_syn_ack(skops))
		return skops->total_retrans < SYNS_WITH_OPTION;
	/* A SYN cookie keeps no memory of the SYN: the connection could not know that it was accepted. */
	return skops->args[0] != BPF_WRITE_HDR_TCP_SYNACK_COOKIE && syn_offers(skops);
}

static __always_inline void write_option(struct bpf_sock_ops *skops)
{
	struct clarion_option option = {
	    .kind = CLARION_OPTION_KIND,
	    .length = sizeof(option),
	    .exid = {CLARION_OPTION_EXID >> 8, CLARION_OPTION_EXID & 0xff},
	    .flags = is_syn_ack(skops) ? CLARION_OPTION_ACCEPT : 0,
	};

	bpf_store_hdr_opt(skops, &option, sizeof(option), 0);
}

/* --- the connection --- */

static __always_inline void request_option_calls(struct bpf_sock_ops *skops)
{
	bpf_sock_ops_cb_flags_set(skops, skops->bpf_sock_ops_cb_flags | BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG);
}

/* A listener keeps the SYN of each connection, to find the option in it later. */
static __always_inline void prepare_listener(struct bpf_sock_ops *skops)
{
	int on = 1;

	bpf_setsockopt(skops, IPPROTO_TCP, TCP_SAVE_SYN, &on, sizeof(on));
	request_option_calls(skops);
}

static __always_inline __u16 choose_bucket(struct bpf_sock_ops *skops, struct attachment *attachment)
{
	__u32 own = skops->local_ip4;

	barrier_var(own); /* the verifier wants each member read at its own constant offset */
	if (skops->family == AF_INET6)
		own = skops->local_ip6[3];
	return bucket_choose(attachment, own);
}

/* Opens the flow; a controller's init, which comes right after this, finds it. */
static __always_inline void open_flow(struct bpf_sock_ops *skops, bool aware)
{
	struct attachment *attachment = find_attachment(skops);
	int calls = skops->bpf_sock_ops_cb_flags & ~BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG;
	struct bpf_sock *sk = skops->sk;
	struct flow *flow;

	if (!attachment || !sk)
		return;
	bpf_sock_ops_cb_flags_set(skops, calls | LASTING_CALLS);
	flow = bpf_sk_storage_get(&flows, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	if (!flow)
		return;
	flow->id.netns_cookie = bpf_get_netns_cookie(skops);
	flow->id.cookie = bpf_get_socket_cookie(skops);
	flow->id.bucket = choose_bucket(skops, attachment);
	flow->id.tags = attachment->tags;
	flow->id.aware = aware;
}

static __always_inline void note_timeout(struct bpf_sock_ops *skops)
{
	struct flow *flow = find_flow(skops);

	if (flow && flow->id.aware)
		passage_note_timeout(flow, skops->snd_una);
}

static __always_inline void close_flow(struct bpf_sock_ops *skops)
{
	struct flow_record record = {};
	struct bpf_sock *sk = skops->sk;
	struct tcp_sock *tp;
	struct flow *flow;

	if (!sk)
		return;
	flow = bpf_sk_storage_get(&flows, sk, NULL, 0);
	tp = bpf_skc_to_tcp_sock(sk);
	if (!flow || !tp)
		return;
	observe(&record, tp, flow);
	bpf_map_update_elem(&closed, &record.id.cookie, &record, BPF_ANY);
}

SEC("sockops")
int clarion_handshake(struct bpf_sock_ops *skops)
{
	switch (skops->op) {
	case BPF_SOCK_OPS_TCP_CONNECT_CB:
		if (find_attachment(skops))
			request_option_calls(skops);
		break;
	case BPF_SOCK_OPS_TCP_LISTEN_CB:
		if (find_attachment(skops))
			prepare_listener(skops);
		break;
	case BPF_SOCK_OPS_HDR_OPT_LEN_CB:
		if (wants_option(skops))
			bpf_reserve_hdr_opt(skops, sizeof(struct clarion_option), 0);
		break;
	case BPF_SOCK_OPS_WRITE_HDR_OPT_CB:
		write_option(skops);
		break;
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
		open_flow(skops,
			  load_option_flags(skops, 0) == (CLARION_OPTION_ACCEPT | CLARION_OPTION_THROUGH));
		break;
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		open_flow(skops, syn_offers(skops));
		break;
	case BPF_SOCK_OPS_RTO_CB:
		note_timeout(skops);
		break;
	case BPF_SOCK_OPS_STATE_CB:
		if (skops->args[1] == BPF_TCP_CLOSE)
			close_flow(skops);
		break;
	}
	return 1;
}

char _license[] SEC("license") = "GPL";
