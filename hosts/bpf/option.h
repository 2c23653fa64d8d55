/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The shim's part in the handshake: marking the option of SYN segments that pass a device with a shim. */
#ifndef CLARION_OPTION_H
#define CLARION_OPTION_H

#include "header.h"
#include "packet.h"

#define TCP_OPTION_BYTES_MAX 40
#define TCP_OPTION_END	     0
#define TCP_OPTION_NOP	     1

/* Offset of the Clarion option's flag byte from the start of the options, or -1. */
static __always_inline int option_find_flags(const __u8 *options, __u32 option_bytes)
{
	__u32 at = 0;

	for (int i = 0; i < TCP_OPTION_BYTES_MAX; i++) {
		const struct clarion_option *option;

		if (at + sizeof(*option) > option_bytes || at > TCP_OPTION_BYTES_MAX - sizeof(*option))
			return -1;
		option = (const void *)(options + at);
		if (option->kind == TCP_OPTION_END)
			return -1;
		if (option->kind == TCP_OPTION_NOP) {
			at++;
			continue;
		}
		if (option->kind == CLARION_OPTION_KIND && option->length == sizeof(*option) &&
		    option->exid[0] == CLARION_OPTION_EXID >> 8 &&
		    option->exid[1] == (CLARION_OPTION_EXID & 0xff))
			return at + __builtin_offsetof(struct clarion_option, flags);
		if (option->length < 2)
			return -1;
		at += option->length;
	}
	return -1;
}

/* Is the TCP header with its options within the packet, and the packet within what has come? */
static __always_inline bool option_is_whole(const struct __sk_buff *skb, const struct packet *packet,
					    const struct tcphdr *tcp)
{
	return tcp->doff * 4U <= packet->l4_bytes && packet->l4 + packet->l4_bytes <= skb->len;
}

/* Sets `mark` in the option of a SYN segment, if it has one, and mends the TCP checksum. */
static __always_inline void option_mark(struct __sk_buff *skb, const struct packet *packet,
					const struct tcphdr *tcp, __u8 mark)
{
	__u32 option_bytes = tcp->doff * 4 - sizeof(*tcp);
	__u8 options[TCP_OPTION_BYTES_MAX] = {};
	__u8 old_flags, flags;
	__u16 from, to;
	int at;

	if (!option_is_whole(skb, packet, tcp))
		return;
	barrier_var(option_bytes); /* or the verifier loses the lower bound */
	if (option_bytes < CLARION_OPTION_BYTES || option_bytes > sizeof(options))
		return;
	if (bpf_skb_load_bytes(skb, packet->l4 + sizeof(*tcp), options, option_bytes))
		return;
	at = option_find_flags(options, option_bytes);
	if (at < 0 || at >= (int)sizeof(options))
		return;
	old_flags = options[at];
	flags = old_flags | mark;
	if (flags == old_flags)
		return;
	/* The checksum adds 16-bit words: an even byte is the high half of its word. */
	from = at & 1 ? old_flags : old_flags << 8;
	to = at & 1 ? flags : flags << 8;
	if (bpf_l4_csum_replace(skb, packet->l4 + __builtin_offsetof(struct tcphdr, check), bpf_htons(from),
				bpf_htons(to), sizeof(from)))
		return;
	bpf_skb_store_bytes(skb, packet->l4 + sizeof(*tcp) + at, &flags, sizeof(flags), 0);
}

#endif /* CLARION_OPTION_H */
