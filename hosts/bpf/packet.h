/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Reading and rewriting the IP header around the Clarion header, for v4 and v6.
 *
 * A VLAN tag is in the packet's metadata by the time that tc sees it, so the IP header always starts right
 * behind the Ethernet header. A second tag would be payload; then the protocol is not IP and the packet is
 * left alone.
 */
#ifndef CLARION_PACKET_H
#define CLARION_PACKET_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "checksum.h"
#include "ecn.h"

#define IP_OPTION_BYTES_MAX 40
#define IP_FRAGMENT_MASK    0x3fff /* more-fragments flag and offset */

/* A packet's IP header, as far as the shim uses it. */
struct packet {
	union {
		struct iphdr ip4;
		struct ipv6hdr ip6;
	};
	__u8 family;   /* AF_INET or AF_INET6 */
	__u8 protocol; /* of the header that follows */
	__u8 fragment;
	__u32 option_bytes; /* of IPv4 options */
	__u32 l4;	    /* offset of the header that follows the IP header */
	__u32 l4_bytes;	    /* from there to the end, by the IP header */
};

static __always_inline bool packet_parse_ip4(struct __sk_buff *skb, struct packet *packet)
{
	__u32 header_bytes, total_bytes;

	if (bpf_skb_load_bytes(skb, ETH_HLEN, &packet->ip4, sizeof(packet->ip4)))
		return false;
	header_bytes = packet->ip4.ihl * 4;
	total_bytes = bpf_ntohs(packet->ip4.tot_len);
	if (packet->ip4.version != 4 || header_bytes < sizeof(packet->ip4) || total_bytes < header_bytes)
		return false;
	packet->family = AF_INET;
	packet->protocol = packet->ip4.protocol;
	packet->fragment = !!(packet->ip4.frag_off & bpf_htons(IP_FRAGMENT_MASK));
	packet->option_bytes = header_bytes - sizeof(packet->ip4);
	packet->l4 = ETH_HLEN + header_bytes;
	packet->l4_bytes = total_bytes - header_bytes;
	return true;
}

static __always_inline bool packet_parse_ip6(struct __sk_buff *skb, struct packet *packet)
{
	if (bpf_skb_load_bytes(skb, ETH_HLEN, &packet->ip6, sizeof(packet->ip6)))
		return false;
	if (packet->ip6.version != 6)
		return false;
	packet->family = AF_INET6;
	packet->protocol = packet->ip6.nexthdr;
	packet->fragment = 0; /* a fragment has another next header */
	packet->option_bytes = 0;
	packet->l4 = ETH_HLEN + sizeof(packet->ip6);
	packet->l4_bytes = bpf_ntohs(packet->ip6.payload_len);
	return true;
}

/* Reads the IP header; false for a packet without a sound one. */
static __always_inline bool packet_parse(struct __sk_buff *skb, struct packet *packet)
{
	if (skb->protocol == bpf_htons(ETH_P_IP))
		return packet_parse_ip4(skb, packet);
	if (skb->protocol == bpf_htons(ETH_P_IPV6))
		return packet_parse_ip6(skb, packet);
	return false;
}

static __always_inline __u16 ttl_protocol_word(const struct iphdr *ip4)
{
	__u8 bytes[2] = {ip4->ttl, ip4->protocol};
	__u16 word;

	__builtin_memcpy(&word, bytes, sizeof(word));
	return word;
}

/* Writes the IP header back with another protocol and a length changed by `grown` bytes.
 *
 * BPF_F_RECOMPUTE_CSUM keeps a CHECKSUM_COMPLETE sum right; it does nothing for the other states.
 */
static __always_inline int packet_rewrite_ip(struct __sk_buff *skb, struct packet *packet, __u8 protocol,
					     int grown)
{
	if (packet->family == AF_INET) {
		struct iphdr *ip4 = &packet->ip4;
		__u16 old_bytes = ip4->tot_len;
		__u16 old_word = ttl_protocol_word(ip4);

		ip4->tot_len = bpf_htons(bpf_ntohs(old_bytes) + grown);
		ip4->protocol = protocol;
		ip4->check = checksum_replace(ip4->check, old_bytes, ip4->tot_len);
		ip4->check = checksum_replace(ip4->check, old_word, ttl_protocol_word(ip4));
		return bpf_skb_store_bytes(skb, ETH_HLEN, ip4, sizeof(*ip4), BPF_F_RECOMPUTE_CSUM);
	}
	packet->ip6.payload_len = bpf_htons(bpf_ntohs(packet->ip6.payload_len) + grown);
	packet->ip6.nexthdr = protocol;
	return bpf_skb_store_bytes(skb, ETH_HLEN, &packet->ip6, sizeof(packet->ip6), BPF_F_RECOMPUTE_CSUM);
}

/* Writes a packet that is ECT(0) back as ECT(1); others stay as they are. */
static __always_inline void packet_make_ect1(struct __sk_buff *skb, struct packet *packet)
{
	if (packet->family == AF_INET) {
		if (ecn_make_ect1_ip4(&packet->ip4))
			bpf_skb_store_bytes(skb, ETH_HLEN, &packet->ip4, sizeof(packet->ip4),
					    BPF_F_RECOMPUTE_CSUM);
	} else if (ecn_make_ect1_ip6(&packet->ip6)) {
		bpf_skb_store_bytes(skb, ETH_HLEN, &packet->ip6, sizeof(packet->ip6), BPF_F_RECOMPUTE_CSUM);
	}
}

/* Widens the gap between the IP header and the next by `grown` bytes, or narrows it if negative.
 *
 * The kernel makes or closes the gap behind the first 20 bytes of an IPv4 header, so options are put back
 * behind them. Must be the last step that can fail: the packet is unchanged if it does.
 */
static __always_inline int packet_resize(struct __sk_buff *skb, const struct packet *packet, int grown)
{
	const __u32 options_at = ETH_HLEN + sizeof(struct iphdr);
	__u32 option_bytes = packet->option_bytes;
	__u8 options[IP_OPTION_BYTES_MAX];

	barrier_var(option_bytes); /* or the verifier loses the bounds */
	if (option_bytes == 0)
		return bpf_skb_adjust_room(skb, grown, BPF_ADJ_ROOM_NET, 0);
	if (option_bytes > sizeof(options))
		return -1;
	if (bpf_skb_load_bytes(skb, options_at, options, option_bytes))
		return -1;
	if (bpf_skb_adjust_room(skb, grown, BPF_ADJ_ROOM_NET, 0))
		return -1;
	bpf_skb_store_bytes(skb, options_at, options, option_bytes, BPF_F_RECOMPUTE_CSUM);
	return 0;
}

#endif /* CLARION_PACKET_H */
