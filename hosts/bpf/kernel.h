/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The kernel structures that the programs read, cut down to the members used.
 *
 * Every access is relocated against the running kernel's BTF (CO-RE), so order and padding here mean
 * nothing; only names and types do. UAPI types come from <linux/bpf.h>.
 */
#ifndef CLARION_KERNEL_H
#define CLARION_KERNEL_H

#include <linux/bpf.h>
#include <linux/in6.h>
#include <linux/types.h>
#include <stdbool.h>

#ifndef NULL
#define NULL ((void *)0)
#endif

#define AF_INET	 2
#define AF_INET6 10

/* include/net/tcp_states.h; the numbers are UAPI through BPF_TCP_*. */
enum clarion_tcp_state {
	TCP_STATE_ESTABLISHED = 1,
	TCP_STATE_CLOSE = 7,
};

/* include/net/tcp.h: any process, in any namespace, may choose the algorithm. */
#define TCP_CONG_NON_RESTRICTED 1
/* The same: its packets are ECN-capable, those of the handshake and without data included. */
#define TCP_CONG_NEEDS_ECN 2

struct sock;
struct ack_sample;
struct rate_sample;

/* include/net/tcp.h; also the value type of the struct_ops maps, so not relocated. */
struct tcp_congestion_ops {
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
	void (*set_state)(struct sock *sk, __u8 new_state);
	void (*cwnd_event)(struct sock *sk, int event);
	void (*in_ack_event)(struct sock *sk, __u32 flags);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	__u32 (*min_tso_segs)(struct sock *sk);
	void (*cong_control)(struct sock *sk, __u32 ack, int flag, const struct rate_sample *rs);
	__u32 (*undo_cwnd)(struct sock *sk);
	__u32 (*sndbuf_expand)(struct sock *sk);
	char name[16];
	__u32 flags;
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct net {
	__u64 net_cookie;
};

typedef struct {
	struct net *net;
} possible_net_t;

typedef struct {
	__s64 counter;
} atomic64_t;

struct sock_common {
	__be32 skc_daddr;
	__be32 skc_rcv_saddr;
	__be16 skc_dport;
	__u16 skc_num;
	unsigned short skc_family;
	volatile unsigned char skc_state;
	possible_net_t skc_net;
	atomic64_t skc_cookie;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
};

struct sock {
	struct sock_common __sk_common;
	__u16 sk_protocol;
	__u32 sk_pacing_status;
	unsigned long sk_pacing_rate;
	unsigned long sk_max_pacing_rate;
};

struct inet_sock {
	struct sock sk;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	const struct tcp_congestion_ops *icsk_ca_ops;
	__u8 icsk_ca_state : 5;
	__u8 icsk_retransmits;
	__u64 icsk_ca_priv[13];
};

struct net_device {
	possible_net_t nd_net;
};

struct sk_buff {
	struct net_device *dev;
	struct sock *sk;
	int skb_iif;
	__be16 protocol;
	__u16 network_header;
	unsigned char *head;
};

struct minmax_sample {
	__u32 t;
	__u32 v;
};

struct minmax {
	struct minmax_sample s[3];
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	__u32 srtt_us; /* smoothed, times 8 */
	__u32 mdev_us;
	__u32 rttvar_us;
	struct minmax rtt_min;
	__u32 mss_cache;
	__u32 snd_cwnd;
	__u32 snd_cwnd_cnt;
	__u32 snd_ssthresh;
	__u32 snd_cwnd_clamp;
	__u32 packets_out;
	__u32 max_packets_out;
	__u32 retrans_out;
	__u32 sacked_out;
	__u32 lost_out;
	__u32 delivered;
	__u32 delivered_ce;
	__u32 lost;
	__u32 app_limited;
	__u32 snd_una;
	__u32 snd_nxt;
	__u32 write_seq;
	__u32 snd_wnd;
	__u32 max_window;
	__u32 rcv_nxt;
	__u32 rcv_wup;
	__u32 rcv_wnd;
	__u32 reordering;
	__u32 reord_seen;
	__u8 is_cwnd_limited : 1;
	__u16 tcp_header_len;
	__u8 ecn_flags;
	__u32 received_ce; /* since Linux 6.18, with accurate ECN (RFC 9768) */
	__u64 tcp_mstamp;
	__u64 delivered_mstamp;
};

struct ack_sample {
	__u32 pkts_acked;
	__s32 rtt_us;
	__u32 in_flight;
};

struct rate_sample {
	__u64 prior_mstamp;
	__u32 prior_delivered;
	__s32 delivered;
	long interval_us;
	long rtt_us;
	int losses;
	__u32 acked_sacked;
	__u32 prior_in_flight;
	bool is_app_limited;
	bool is_retrans;
	bool is_ack_delayed;
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
	__u64 session_id;
	__u64 seq_num;
};

struct bpf_map {
	__u32 id;
};

struct hlist_node {
	struct hlist_node *next;
};

struct hlist_head {
	struct hlist_node *first;
};

struct bpf_local_storage_map_bucket {
	struct hlist_head list;
};

/* include/linux/bpf_local_storage.h; begins with the struct bpf_map that programs name. */
struct bpf_local_storage_map {
	struct bpf_local_storage_map_bucket *buckets;
	__u32 bucket_log;
};

struct bpf_local_storage {
	void *owner;
};

struct bpf_local_storage_data {
	__u8 data[0];
};

struct bpf_local_storage_elem {
	struct hlist_node map_node;
	struct bpf_local_storage *local_storage;
	struct bpf_local_storage_data sdata;
};

#pragma clang attribute pop

#endif /* CLARION_KERNEL_H */
