// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/* Packets with header that a queue of this host drops, counted for their flow.
 *
 * Such a drop happens behind the shim that numbers packets, so the next hop takes it for a loss of the wire.
 * A drop when a packet joins the queue TCP would hear of; a later one (fq_codel, tbf) only shows here.
 */
#include "kernel.h"

#include <stddef.h>

#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>

#include "maps.h"

#define TCP_STATE_TIME_WAIT    6
#define TCP_STATE_NEW_SYN_RECV 12

/* The packet of a flow that is neither TCP nor UDP by its IP header: the shim has put a header on. */
static __always_inline bool has_header(const struct sk_buff *skb)
{
	__u32 at = skb->protocol == bpf_htons(ETH_P_IPV6) ? offsetof(struct ipv6hdr, nexthdr)
							  : offsetof(struct iphdr, protocol);
	__u8 protocol = IPPROTO_TCP;

	bpf_probe_read_kernel(&protocol, sizeof(protocol), skb->head + skb->network_header + at);
	return protocol != IPPROTO_TCP && protocol != IPPROTO_UDP;
}

/* Still on its way out of the namespace of its flow? A veth hands packets over with their socket; what
 * happens to them at the other end is no longer local.
 */
static __always_inline bool is_leaving(const struct sk_buff *skb, const struct flow *flow)
{
	return !skb->skb_iif && BPF_CORE_READ(skb, dev, nd_net.net, net_cookie) == flow->id.netns_cookie;
}

SEC("tp_btf/kfree_skb")
int clarion_local(unsigned long long *ctx)
{
	struct sk_buff *skb = (struct sk_buff *)ctx[0];
	struct sock *sk = skb->sk;
	struct flow *flow;
	__u8 state;

	if (!sk || !has_header(skb))
		return 0;
	state = sk->__sk_common.skc_state;
	if (state == TCP_STATE_TIME_WAIT || state == TCP_STATE_NEW_SYN_RECV)
		return 0; /* no full socket, no storage */
	flow = bpf_sk_storage_get(&flows, sk, NULL, 0);
	if (flow && is_leaving(skb, flow))
		__sync_fetch_and_add(&flow->stats.local_drops, 1);
	return 0;
}

char _license[] SEC("license") = "GPL";
