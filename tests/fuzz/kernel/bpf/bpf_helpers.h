/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* In place of libbpf's: the helpers of the kernel that the shim calls, as functions of shim_kernel.c. */
#ifndef CLARION_FUZZ_BPF_HELPERS_H
#define CLARION_FUZZ_BPF_HELPERS_H

#include <linux/bpf.h>
#include <linux/types.h>

#define SEC(name)
#define __uint(name, value) int (*name)[value]
#define __type(name, value) typeof(value)* name
#define LIBBPF_PIN_BY_NAME 1
#define barrier_var(variable) ((void)0)
#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline, unused))
#endif

struct tcp_sock;

void* bpf_map_lookup_elem(void* map, const void* key);
void* bpf_sk_storage_get(void* map, void* sk, void* value, __u64 flags);
struct bpf_sock* bpf_sk_fullsock(struct bpf_sock* sk);
struct bpf_tcp_sock* bpf_tcp_sock(struct bpf_sock* sk);
struct tcp_sock* bpf_skc_to_tcp_sock(void* sk);
struct bpf_sock* bpf_sk_lookup_tcp(void* ctx, struct bpf_sock_tuple* tuple, __u32 tuple_size, __u64 netns,
                                   __u64 flags);
struct bpf_sock* bpf_sk_lookup_udp(void* ctx, struct bpf_sock_tuple* tuple, __u32 tuple_size, __u64 netns,
                                   __u64 flags);
long bpf_sk_release(void* sk);
long bpf_skb_load_bytes(const void* skb, __u32 offset, void* to, __u32 len);
long bpf_skb_store_bytes(void* skb, __u32 offset, const void* from, __u32 len, __u64 flags);
long bpf_skb_adjust_room(void* skb, __s32 len_diff, __u32 mode, __u64 flags);
long bpf_l4_csum_replace(void* skb, __u32 offset, __u64 from, __u64 to, __u64 flags);
long bpf_check_mtu(void* skb, __u32 ifindex, __u32* mtu_len, __s32 len_diff, __u64 flags);
void bpf_spin_lock(struct bpf_spin_lock* lock);
void bpf_spin_unlock(struct bpf_spin_lock* lock);
__u64 bpf_ktime_get_ns(void);

#endif /* CLARION_FUZZ_BPF_HELPERS_H */
