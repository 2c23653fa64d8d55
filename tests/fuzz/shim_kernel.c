// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/* The shim, and the kernel's helpers as it sees them (net/core/filter.c): what they check, what they change.
 */
#include "shim_kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim.bpf.c"

#define OFFSET_MAX 0xffff /* that the helpers take */
#define ROOM_MAX 0xfff
#define PACKET_MAX 16384 /* BPF_SKB_MAX_LEN */
#define KERNEL_EFAULT -14

struct shim_kernel shim_kernel;

static struct bucket bucket_cells[BUCKETS];
static struct attachment the_attachment;
static struct bpf_tcp_sock tcp_view;
static struct bpf_spin_lock* held;

/* What the programs have in hand; the context is its first member. */
struct context {
  struct __sk_buff skb;
  __u8* bytes;
};

/* The verifier refuses helpers under a lock, or a second one. */
static void require(bool holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "fuzz: shim: %s\n", what);
  abort();
}

static void require_unlocked(void) { require(!held, "a helper is called under a lock"); }

void* bpf_map_lookup_elem(void* map, const void* key) {
  require_unlocked();
  if (map == &buckets) return *(const __u32*)key < BUCKETS ? &bucket_cells[*(const __u32*)key] : NULL;
  if (map == &devices) return shim_kernel.is_attached ? &shim_kernel.counters : NULL;
  if (map == &attached) return shim_kernel.is_attached ? &the_attachment : NULL;
  require(map == &wires, "an unknown map is read");
  return shim_kernel.is_attached ? &shim_kernel.wire : NULL;
}

void* bpf_sk_storage_get(void* map, void* sk, void* value, __u64 flags) {
  require_unlocked();
  require(sk == &shim_kernel.socket && !value, "storage of something else is read");
  if (map == &asks) {
    require(!flags, "the shim makes an ask");
    return shim_kernel.has_ask ? &shim_kernel.ask : NULL;
  }
  require(map == &flows && (!flags || shim_kernel.has_ask), "a flow is made for no ask");
  return shim_kernel.has_flow ? &shim_kernel.flow : NULL;
}

struct bpf_sock* bpf_sk_fullsock(struct bpf_sock* sk) { return shim_kernel.is_full_socket ? sk : NULL; }

struct bpf_tcp_sock* bpf_tcp_sock(struct bpf_sock* sk) {
  tcp_view.snd_una = shim_kernel.tcp.snd_una;
  tcp_view.snd_nxt = shim_kernel.tcp.snd_nxt;
  tcp_view.packets_out = shim_kernel.tcp.packets_out;
  return sk ? &tcp_view : NULL;
}

struct tcp_sock* bpf_skc_to_tcp_sock(void* sk) {
  return sk && shim_kernel.is_full_socket ? &shim_kernel.tcp : NULL;
}

static struct bpf_sock* look_up(void* ctx, struct bpf_sock_tuple* tuple, __u32 tuple_size, __u64 netns,
                                __u64 flags) {
  require_unlocked();
  require(ctx && tuple && (tuple_size == sizeof(tuple->ipv4) || tuple_size == sizeof(tuple->ipv6)) &&
              (__s64)netns == BPF_F_CURRENT_NETNS && !flags,
          "a socket is looked up wrongly");
  if (!shim_kernel.has_socket) return NULL;
  shim_kernel.held_sockets++;
  return &shim_kernel.socket;
}

struct bpf_sock* bpf_sk_lookup_tcp(void* ctx, struct bpf_sock_tuple* tuple, __u32 tuple_size, __u64 netns,
                                   __u64 flags) {
  return look_up(ctx, tuple, tuple_size, netns, flags);
}

struct bpf_sock* bpf_sk_lookup_udp(void* ctx, struct bpf_sock_tuple* tuple, __u32 tuple_size, __u64 netns,
                                   __u64 flags) {
  return look_up(ctx, tuple, tuple_size, netns, flags);
}

long bpf_sk_release(void* sk) {
  require_unlocked();
  require(sk == &shim_kernel.socket, "something else than a socket is released");
  shim_kernel.held_sockets--;
  return 0;
}

static bool is_inside(const struct context* context, __u32 offset, __u32 len) {
  return offset <= OFFSET_MAX && len > 0 && len <= context->skb.len && offset <= context->skb.len - len;
}

long bpf_skb_load_bytes(const void* skb, __u32 offset, void* to, __u32 len) {
  const struct context* context = skb;

  require_unlocked();
  require(len > 0, "nothing is read"); /* the verifier refuses it */
  if (!is_inside(context, offset, len)) {
    memset(to, 0, len);
    return KERNEL_EFAULT;
  }
  memcpy(to, context->bytes + offset, len);
  return 0;
}

long bpf_skb_store_bytes(void* skb, __u32 offset, const void* from, __u32 len, __u64 flags) {
  struct context* context = skb;

  require_unlocked();
  require(!(flags & ~(__u64)BPF_F_RECOMPUTE_CSUM), "an unknown flag is set");
  if (!is_inside(context, offset, len)) return KERNEL_EFAULT;
  memcpy(context->bytes + offset, from, len);
  return 0;
}

/* Behind the first 20 bytes of an IPv4 header, behind the whole fixed header of IPv6. */
long bpf_skb_adjust_room(void* skb, __s32 len_diff, __u32 mode, __u64 flags) {
  struct context* context = skb;
  __u32 base = context->skb.protocol == bpf_htons(ETH_P_IPV6) ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);
  __u32 amount = len_diff < 0 ? -(__u32)len_diff : (__u32)len_diff;
  __u32 length = context->skb.len, at = ETH_HLEN + base;

  require_unlocked();
  require(mode == BPF_ADJ_ROOM_NET && !flags, "room of another kind is made");
  if (shim_kernel.is_short_of_memory || amount > ROOM_MAX || at > length) return KERNEL_EFAULT;
  if (len_diff < 0) {
    if (amount >= length - ETH_HLEN || length - ETH_HLEN - amount < base) return KERNEL_EFAULT;
    memmove(context->bytes + at, context->bytes + at + amount, length - at - amount);
  } else {
    if (length + amount > PACKET_MAX) return KERNEL_EFAULT;
    memmove(context->bytes + at + amount, context->bytes + at, length - at);
    memset(context->bytes + at, 0, amount);
  }
  context->skb.len = length + len_diff;
  return 0;
}

long bpf_l4_csum_replace(void* skb, __u32 offset, __u64 from, __u64 to, __u64 flags) {
  struct context* context = skb;
  __u16 checksum;
  __u32 sum;

  require_unlocked();
  require(flags == sizeof(checksum), "a checksum of another kind is replaced");
  if (!is_inside(context, offset, sizeof(checksum)) || offset & 1) return KERNEL_EFAULT;
  memcpy(&checksum, context->bytes + offset, sizeof(checksum));
  sum = (__u16)~checksum + (__u16)~from + (__u16)to;
  sum = (sum & 0xffff) + (sum >> 16);
  checksum = ~((sum & 0xffff) + (sum >> 16));
  memcpy(context->bytes + offset, &checksum, sizeof(checksum));
  return 0;
}

long bpf_check_mtu(void* skb, __u32 ifindex, __u32* mtu_len, __s32 len_diff, __u64 flags) {
  const struct context* context = skb;

  require_unlocked();
  require(!ifindex && !flags && !*mtu_len, "the MTU of something else is checked");
  *mtu_len = shim_kernel.mtu_bytes;
  return context->skb.len - ETH_HLEN + len_diff > shim_kernel.mtu_bytes;
}

void bpf_spin_lock(struct bpf_spin_lock* lock) {
  require_unlocked();
  held = lock;
}

void bpf_spin_unlock(struct bpf_spin_lock* lock) {
  require(held == lock, "another lock is released");
  held = NULL;
}

__u64 bpf_ktime_get_ns(void) {
  require_unlocked();
  return shim_kernel.now_ns;
}

void shim_restart(void) { memset(bucket_cells, 0, sizeof(bucket_cells)); }

static __u32 run(int (*program)(struct __sk_buff* skb), struct shim_packet* packet, struct bpf_sock* sk) {
  struct context context = {.bytes = packet->bytes};
  __u32 action;

  context.skb.len = packet->length;
  context.skb.protocol = bpf_htons(packet->protocol);
  context.skb.gso_segs = packet->gso_segs;
  context.skb.gso_size = packet->gso_size;
  context.skb.sk = sk;
  action = program(&context.skb);
  require_unlocked();
  require(!shim_kernel.held_sockets, "a socket is not released");
  packet->length = context.skb.len;
  return action;
}

__u32 shim_ingress(struct shim_packet* packet) { return run(clarion_ingress, packet, NULL); }

__u32 shim_egress(struct shim_packet* packet) {
  return run(clarion_egress, packet, shim_kernel.has_socket ? &shim_kernel.socket : NULL);
}
