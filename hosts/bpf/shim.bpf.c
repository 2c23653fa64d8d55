// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/* The header shim of one device: puts Clarion headers on outgoing packets, takes them off incoming ones.
 *
 * Each attached device loads its own instance, with its own buckets and read-only data; the flows and the
 * counters are shared. Both programs let every packet pass: a packet that cannot or must not be changed
 * goes on as it is.
 */
#include "kernel.h"

#include <linux/pkt_cls.h>
#include <linux/udp.h>

#include "bucket.h"
#include "compose.h"
#include "datagram.h"
#include "fallback.h"
#include "maps.h"
#include "option.h"
#include "packet.h"
#include "receive.h"
#include "sequence.h"

#define BUCKETS 4096

/* Set by the agent before loading. */
const volatile __u32 device = 0;       /* key in `devices` */
const volatile __u64 netns_cookie = 0; /* namespace of the device */
const volatile __u8 header_protocol = CLARION_PROTOCOL_DEFAULT;

/* Both directions of the link for the flows of one bucket. */
struct bucket {
	__u32 next_seq; /* link_seq of the next packet out, counted atomically */
	struct bpf_spin_lock lock;
	struct clarion_sequence wire; /* check of what comes in, under `lock` */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, BUCKETS);
	__type(key, __u32);
	__type(value, struct bucket);
} buckets SEC(".maps");

#define count(name)                                                                                          \
	do {                                                                                                 \
		__u32 key = device;                                                                          \
		struct device_counters *counters = bpf_map_lookup_elem(&devices, &key);                      \
		if (counters)                                                                                \
			__sync_fetch_and_add(&counters->name, 1);                                            \
	} while (0)

static __always_inline struct bucket *find_bucket(__u16 number)
{
	__u32 key = number % BUCKETS;

	return bpf_map_lookup_elem(&buckets, &key);
}

/* --- egress --- */

/* Does a flow know the header, and is it this device's? A bridge or a veth pair may carry packets of another
 * namespace with their socket.
 */
static __always_inline bool knows_header(const struct flow *flow)
{
	return flow->id.aware && flow->id.netns_cookie == netns_cookie;
}

/* Does a packet of the flow go with a header? Pure ACKs do while the flow's data do. */
static __always_inline bool allows_header(struct flow *flow, struct bpf_sock *sk, __u32 seq,
					  __u32 payload_bytes)
{
	struct bpf_tcp_sock *tp = bpf_tcp_sock(sk);
	struct passage_packet packet = {.seq = seq, .payload_bytes = payload_bytes};

	if (!payload_bytes || !tp)
		return !flow->id.plain;
	packet.una = tp->snd_una;
	packet.is_again = passage_before(seq, tp->snd_nxt);
	if (flow->passage.state >= PASSAGE_PROBING)
		packet.now_us = bpf_ktime_get_ns() / 1000;
	if (!tp->packets_out && seq == tp->snd_una)
		passage_note_try(flow, &packet);
	return passage_allows(flow, &packet);
}

static __always_inline int store_header(struct __sk_buff *skb, __u32 at, const union clarion_header *header,
					enum clarion_format format)
{
	switch (format) {
	case CLARION_DATA:
		return bpf_skb_store_bytes(skb, at, header, CLARION_DATA_BYTES, 0);
	case CLARION_ACK:
		return bpf_skb_store_bytes(skb, at, header, CLARION_ACK_BYTES, 0);
	case CLARION_TAG:
		return bpf_skb_store_bytes(skb, at, header, CLARION_TAG_BYTES, 0);
	default:
		return -1;
	}
}

/* Puts the header on. The transport header does not move in memory, so a checksum that is still to be
 * completed (CHECKSUM_PARTIAL) is completed at the right place.
 */
static __always_inline int put_on(struct __sk_buff *skb, struct packet *packet, struct flow *flow,
				  enum clarion_format format)
{
	__u32 length = clarion_length(format);
	union clarion_header header = {};
	struct bucket *bucket;
	__u32 link_seq = 0;
	__u32 mtu_len = 0;

	if (bpf_check_mtu(skb, 0, &mtu_len, length, 0)) {
		count(too_big);
		return TC_ACT_UNSPEC;
	}
	if (packet_resize(skb, packet, length)) {
		count(no_headroom);
		return TC_ACT_UNSPEC;
	}
	if (format != CLARION_ACK) {
		bucket = find_bucket(flow->id.bucket);
		if (bucket)
			link_seq = __sync_fetch_and_add(&bucket->next_seq, 1);
	}
	compose_header(&header, flow, format, packet->protocol, skb->len, link_seq);
	if (store_header(skb, packet->l4, &header, format) ||
	    packet_rewrite_ip(skb, packet, header_protocol, length))
		return TC_ACT_SHOT; /* out of memory half-way: the packet is no longer sound */
	flow->stats.tx_headers++;
	count(tx_headers);
	return TC_ACT_UNSPEC;
}

static __always_inline bool is_to_be_segmented(const struct __sk_buff *skb)
{
	return skb->gso_segs > 1 || skb->gso_size;
}

static __always_inline int pass_gso(struct flow *flow)
{
	flow->stats.gso_passed++;
	count(gso_passed);
	return TC_ACT_UNSPEC;
}

static __always_inline int send_segment(struct __sk_buff *skb, struct packet *packet)
{
	struct bpf_sock *sk = skb->sk;
	enum clarion_format format;
	__u32 tcp_bytes, payload_bytes;
	struct tcphdr tcp;
	struct flow *flow;

	if (bpf_skb_load_bytes(skb, packet->l4, &tcp, sizeof(tcp)))
		return TC_ACT_UNSPEC;
	if (tcp.syn) {
		option_mark(skb, packet, &tcp, CLARION_OPTION_LEFT);
		return TC_ACT_UNSPEC;
	}
	if (tcp.rst || !sk)
		return TC_ACT_UNSPEC;
	sk = bpf_sk_fullsock(sk);
	if (!sk)
		return TC_ACT_UNSPEC;
	flow = bpf_sk_storage_get(&flows, sk, NULL, 0);
	if (!flow)
		return TC_ACT_UNSPEC;
	if (flow->request.ect1)
		packet_make_ect1(skb, packet);
	if (!knows_header(flow))
		return TC_ACT_UNSPEC;
	if (is_to_be_segmented(skb))
		return pass_gso(flow);
	tcp_bytes = tcp.doff * 4;
	payload_bytes = packet->l4_bytes > tcp_bytes ? packet->l4_bytes - tcp_bytes : 0;
	if (!allows_header(flow, sk, bpf_ntohl(tcp.seq), payload_bytes))
		return TC_ACT_UNSPEC;
	format = compose_format(flow, payload_bytes);
	if (format == CLARION_NONE)
		return TC_ACT_UNSPEC;
	return put_on(skb, packet, flow, format);
}

/* --- UDP, both directions --- */

/* What the program of a socket asks for on packets of this namespace; false if it asks for nothing. */
static __always_inline bool load_ask(struct bpf_sock *sk, struct flow_ask *to)
{
	struct flow_ask *ask = bpf_sk_storage_get(&asks, sk, NULL, 0);

	if (!ask)
		return false;
	bpf_spin_lock(&ask->lock);
	to->netns_cookie = ask->netns_cookie;
	to->cookie = ask->cookie;
	to->request = ask->request;
	to->carries = ask->carries;
	to->tags = ask->tags;
	to->guard_at = ask->guard_at;
	to->guard = ask->guard;
	to->guard_mask = ask->guard_mask;
	bpf_spin_unlock(&ask->lock);
	return to->netns_cookie == netns_cookie;
}

/* The flow of a socket whose program asks; opened by its first packet, whichever way that goes. `own` is the
 * address of this end in that packet.
 */
static __always_inline struct flow *datagram_flow(struct bpf_sock *sk, const struct flow_ask *ask, __be32 own)
{
	struct flow *flow = bpf_sk_storage_get(&flows, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	__u64 key = netns_cookie;
	struct attachment *attachment;

	if (!flow || flow->id.aware)
		return flow;
	attachment = bpf_map_lookup_elem(&attached, &key);
	if (attachment)
		datagram_open(flow, ask, bucket_choose(attachment, own));
	return flow;
}

/* Differs from zero if `address` is not the one that a socket is connected to. Each member is read by itself,
 * as the verifier wants it.
 */
static __always_inline __u32 differs_from_peer6(const struct bpf_sock *sk, const struct in6_addr *address)
{
	const volatile __u32 *peer = sk->dst_ip6;

	return (peer[0] ^ address->s6_addr32[0]) | (peer[1] ^ address->s6_addr32[1]) |
	       (peer[2] ^ address->s6_addr32[2]) | (peer[3] ^ address->s6_addr32[3]);
}

/* Is the other end of a datagram the one that the socket is connected to? A program may send to anyone by a
 * connected socket, a socket that is not connected hears anyone, and a tunnel's packets have the socket of
 * what is in them.
 */
static __always_inline bool is_of_peer(const struct bpf_sock *sk, const struct packet *packet, __be16 port,
				       bool leaves)
{
	if (sk->protocol != IPPROTO_UDP || sk->dst_port != port)
		return false;
	if (packet->family == AF_INET)
		return sk->dst_ip4 == (leaves ? packet->ip4.daddr : packet->ip4.saddr);
	return !differs_from_peer6(sk, leaves ? &packet->ip6.daddr : &packet->ip6.saddr);
}

/* The address of this end, or its last word. */
static __always_inline __be32 own_address(const struct packet *packet, bool leaves)
{
	if (packet->family == AF_INET)
		return leaves ? packet->ip4.saddr : packet->ip4.daddr;
	return (leaves ? &packet->ip6.saddr : &packet->ip6.daddr)->s6_addr32[3];
}

/* Nearly all datagrams of a host are of programs that ask for nothing: these end at the first look-up. */
static __always_inline int send_datagram(struct __sk_buff *skb, struct packet *packet)
{
	struct bpf_sock *sk = skb->sk;
	enum clarion_format format;
	struct flow_ask ask = {};
	struct udphdr udp;
	struct flow *flow;

	if (!sk)
		return TC_ACT_UNSPEC;
	sk = bpf_sk_fullsock(sk);
	if (!sk || !load_ask(sk, &ask))
		return TC_ACT_UNSPEC;
	if (bpf_skb_load_bytes(skb, packet->l4, &udp, sizeof(udp)))
		return TC_ACT_UNSPEC;
	if (sk->src_port != bpf_ntohs(udp.source) || !is_of_peer(sk, packet, udp.dest, true))
		return TC_ACT_UNSPEC;
	flow = datagram_flow(sk, &ask, own_address(packet, true));
	if (!flow || !flow->id.aware)
		return TC_ACT_UNSPEC;
	format = datagram_format(flow, &ask);
	if (flow->request.ect1)
		packet_make_ect1(skb, packet);
	if (format == CLARION_NONE)
		return TC_ACT_UNSPEC;
	if (is_to_be_segmented(skb))
		return pass_gso(flow);
	return put_on(skb, packet, flow, format);
}

SEC("tc")
int clarion_egress(struct __sk_buff *skb)
{
	struct packet packet;

	if (!packet_parse(skb, &packet) || packet.fragment)
		return TC_ACT_UNSPEC;
	switch (packet.protocol) {
	case IPPROTO_TCP:
		return send_segment(skb, &packet);
	case IPPROTO_UDP:
		return send_datagram(skb, &packet);
	default:
		return TC_ACT_UNSPEC;
	}
}

/* --- ingress --- */

/* Reads the header behind the IP header; false if it is malformed. */
static __always_inline bool read_header(struct __sk_buff *skb, const struct packet *packet,
					struct received *received)
{
	union clarion_header header = {};
	__u32 length;

	if (packet->fragment || packet->l4 + packet->l4_bytes > skb->len)
		return false;
	if (bpf_skb_load_bytes(skb, packet->l4, &header, sizeof(header.prefix)))
		return false;
	received->format = header.prefix.version_format & 0xf;
	length = clarion_length(received->format);
	if (header.prefix.version_format >> 4 != CLARION_VERSION || length == 0 ||
	    header.prefix.length != length || packet->l4_bytes < length)
		return false;
	switch (received->format) {
	case CLARION_DATA:
		if (bpf_skb_load_bytes(skb, packet->l4, &header, CLARION_DATA_BYTES))
			return false;
		receive_data(received, &header.data);
		break;
	case CLARION_ACK:
		if (bpf_skb_load_bytes(skb, packet->l4, &header, CLARION_ACK_BYTES))
			return false;
		receive_ack(received, &header.ack);
		break;
	case CLARION_TAG:
		if (bpf_skb_load_bytes(skb, packet->l4, &header, CLARION_TAG_BYTES))
			return false;
		receive_tag(received, &header.tag);
		break;
	}
	received->length = length;
	received->next_protocol = header.prefix.next_protocol;
	received->flags = header.prefix.flags;
	return true;
}

/* Is there nothing on the wire in front of this device that queues? LLDP counts for more than a declaration.
 */
static __always_inline bool wire_is_bare(void)
{
	__u32 key = device;
	const struct wire *wire = bpf_map_lookup_elem(&wires, &key);

	if (!wire)
		return false;
	if (wire->judgement != WIRE_UNPROVEN && bpf_ktime_get_ns() < wire->until_ns)
		return wire->judgement == WIRE_PROVEN;
	return wire->is_declared;
}

/* Checks the wire in front of this device; the check of the header's bucket, NULL if the header has none. */
static __always_inline const struct clarion_sequence *check_wire(const struct received *received)
{
	struct bucket *bucket;
	bool is_bare;
	__s32 lost;

	if (received->format == CLARION_ACK)
		return NULL;
	bucket = find_bucket(received->bucket);
	if (!bucket)
		return NULL;
	is_bare = wire_is_bare();
	bpf_spin_lock(&bucket->lock);
	lost = clarion_sequence_check(&bucket->wire, received->link_seq, is_bare);
	bpf_spin_unlock(&bucket->lock);
	if (lost) {
		__u32 key = device;
		struct device_counters *counters = bpf_map_lookup_elem(&devices, &key);

		if (counters)
			__sync_fetch_and_add(&counters->corrupt, (__s64)lost);
	}
	return &bucket->wire;
}

/* Fills in the ends of an incoming packet; the length for its family. */
static __always_inline __u32 fill_tuple(struct bpf_sock_tuple *tuple, const struct packet *packet,
					__be16 source, __be16 dest)
{
	if (packet->family == AF_INET) {
		tuple->ipv4.saddr = packet->ip4.saddr;
		tuple->ipv4.daddr = packet->ip4.daddr;
		tuple->ipv4.sport = source;
		tuple->ipv4.dport = dest;
		return sizeof(tuple->ipv4);
	}
	__builtin_memcpy(tuple->ipv6.saddr, &packet->ip6.saddr, sizeof(tuple->ipv6.saddr));
	__builtin_memcpy(tuple->ipv6.daddr, &packet->ip6.daddr, sizeof(tuple->ipv6.daddr));
	tuple->ipv6.sport = source;
	tuple->ipv6.dport = dest;
	return sizeof(tuple->ipv6);
}

/* The socket that the segment behind the header is for; to be released. */
static __always_inline struct bpf_sock *find_socket(struct __sk_buff *skb, const struct packet *packet,
						    const struct tcphdr *tcp)
{
	struct bpf_sock_tuple tuple = {};
	__u32 length = fill_tuple(&tuple, packet, tcp->source, tcp->dest);

	return bpf_sk_lookup_tcp(skb, &tuple, length, BPF_F_CURRENT_NETNS, 0);
}

/* Would TCP take this segment for one of the connection (RFC 9293, 3.10.7.4; RFC 5961, 5.2)? A stranger who
 * knows only addresses and ports does not hit both windows. An answer may be here before TCP has noted that
 * it sent the question, so acknowledgements are good up to what is queued.
 */
static __always_inline bool is_acceptable(struct bpf_sock *sk, const struct tcphdr *tcp, __u32 payload_bytes)
{
	struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
	__u32 seq = bpf_ntohl(tcp->seq), ack = bpf_ntohl(tcp->ack_seq);

	if (!tp || !tcp->ack)
		return false;
	if (passage_before(seq + payload_bytes, tp->rcv_wup) ||
	    passage_before(tp->rcv_wup + tp->rcv_wnd, seq))
		return false;
	return !passage_before(tp->write_seq, ack) && !passage_before(ack, tp->snd_una - tp->max_window);
}

/* Updates the flow of a packet by its header, or by the lack of one (`received` is NULL); false without flow.
 */
static __always_inline bool update_flow(struct __sk_buff *skb, const struct packet *packet,
					const struct tcphdr *tcp, const struct received *received,
					const struct clarion_sequence *wire, __u32 payload_bytes)
{
	struct bpf_sock *sk = find_socket(skb, packet, tcp);
	struct flow *flow;

	if (!sk)
		return false;
	flow = bpf_sk_storage_get(&flows, sk, NULL, 0);
	if (flow && !is_acceptable(sk, tcp, payload_bytes)) {
		flow->stats.refused_segments++;
		count(refused);
	} else if (flow && received) {
		bpf_spin_lock(&flow->lock);
		receive_flow(flow, received, wire, payload_bytes > 0);
		bpf_spin_unlock(&flow->lock);
	} else if (flow) {
		receive_plain(flow);
	}
	bpf_sk_release(sk);
	return flow;
}

/* Does the datagram at `at` come from a host that knows what the program expects of its peer? */
static __always_inline bool passes_guard(struct __sk_buff *skb, const struct flow_ask *ask, __u32 at)
{
	__u64 found;

	if (!ask->guard_mask)
		return true;
	if (bpf_skb_load_bytes(skb, at + sizeof(struct udphdr) + ask->guard_at, &found, sizeof(found)))
		return false;
	return datagram_is_guarded(ask, found);
}

/* The same for a datagram. UDP has no windows: without a guard its socket believes any host with the
 * peer's address and ports.
 */
static __always_inline bool update_datagram_flow(struct __sk_buff *skb, const struct packet *packet,
						 const struct received *received,
						 const struct clarion_sequence *wire)
{
	struct bpf_sock_tuple tuple = {};
	struct flow *flow = NULL;
	struct flow_ask ask = {};
	struct bpf_sock *sk;
	struct udphdr udp;
	__u32 length;

	if (bpf_skb_load_bytes(skb, packet->l4 + received->length, &udp, sizeof(udp)))
		return false;
	length = fill_tuple(&tuple, packet, udp.source, udp.dest);
	sk = bpf_sk_lookup_udp(skb, &tuple, length, BPF_F_CURRENT_NETNS, 0);
	if (!sk)
		return false;
	if (is_of_peer(sk, packet, udp.source, false) && load_ask(sk, &ask))
		flow = datagram_flow(sk, &ask, own_address(packet, false));
	if (flow && !passes_guard(skb, &ask, packet->l4 + received->length)) {
		flow->stats.refused_segments++;
		count(refused);
	} else if (flow) {
		bpf_spin_lock(&flow->lock);
		receive_flow(flow, received, wire, datagram_shows_format(flow, received));
		bpf_spin_unlock(&flow->lock);
	}
	bpf_sk_release(sk);
	return flow;
}

/* A TCP packet without header. */
static __always_inline void receive_without(struct __sk_buff *skb, const struct packet *packet)
{
	struct tcphdr tcp;

	if (bpf_skb_load_bytes(skb, packet->l4, &tcp, sizeof(tcp)))
		return;
	if (tcp.syn)
		option_mark(skb, packet, &tcp, CLARION_OPTION_ARRIVED);
	else if (packet->l4_bytes > tcp.doff * 4U)
		update_flow(skb, packet, &tcp, NULL, NULL, packet->l4_bytes - tcp.doff * 4U);
}

/* A packet with a valid header: checks the last link and updates the flow. */
static __always_inline void receive_with(struct __sk_buff *skb, const struct packet *packet,
					 const struct received *received)
{
	const struct clarion_sequence *wire = check_wire(received);
	__u32 header_bytes, payload_bytes;
	struct tcphdr tcp;

	if (received->next_protocol == IPPROTO_UDP) {
		if (!update_datagram_flow(skb, packet, received, wire))
			count(no_flow);
		return;
	}
	if (received->next_protocol != IPPROTO_TCP ||
	    bpf_skb_load_bytes(skb, packet->l4 + received->length, &tcp, sizeof(tcp))) {
		count(no_flow);
		return;
	}
	header_bytes = received->length + tcp.doff * 4U;
	payload_bytes = packet->l4_bytes > header_bytes ? packet->l4_bytes - header_bytes : 0;
	if (!update_flow(skb, packet, &tcp, received, wire, payload_bytes))
		count(no_flow);
}

SEC("tc")
int clarion_ingress(struct __sk_buff *skb)
{
	struct received received = {};
	struct packet packet;

	if (!packet_parse(skb, &packet))
		return TC_ACT_UNSPEC;
	if (packet.protocol == IPPROTO_TCP && !packet.fragment)
		receive_without(skb, &packet);
	if (packet.protocol != header_protocol)
		return TC_ACT_UNSPEC;
	if (!read_header(skb, &packet, &received)) {
		count(malformed);
		return TC_ACT_UNSPEC;
	}
	receive_with(skb, &packet, &received);
	if (packet_resize(skb, &packet, -(int)received.length)) {
		count(no_headroom);
		return TC_ACT_UNSPEC;
	}
	if (packet_rewrite_ip(skb, &packet, received.next_protocol, -(int)received.length))
		return TC_ACT_SHOT; /* out of memory half-way: the packet is no longer sound */
	count(rx_headers);
	return TC_ACT_UNSPEC;
}

char _license[] SEC("license") = "GPL";
