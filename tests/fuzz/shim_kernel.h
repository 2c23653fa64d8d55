/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The shim compiled natively, and the parts of a kernel that it runs in. */
#ifndef CLARION_FUZZ_SHIM_KERNEL_H
#define CLARION_FUZZ_SHIM_KERNEL_H

#include "flow.h"
#include "kernel.h"
#include "record.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SHIM_PASSES 0xffffffffU /* TC_ACT_UNSPEC */
#define SHIM_DROPS 2U           /* TC_ACT_SHOT */

/* A packet as tc has it: a VLAN tag is beside it, not in it. */
struct shim_packet {
  __u8* bytes; /* with room for a header */
  __u32 length;
  __u16 protocol; /* EtherType */
  __u32 gso_segs;
  __u32 gso_size;
};

/* Set by the caller before each packet. */
struct shim_kernel {
  bool is_attached; /* the device has counters */
  bool has_socket;
  bool is_full_socket;
  bool has_flow;
  bool has_ask;
  bool is_short_of_memory; /* no room can be made or closed */
  __u32 mtu_bytes;         /* of the device */
  __u64 now_ns;
  struct tcp_sock tcp;
  struct flow flow;
  struct flow_ask ask;
  struct bpf_sock socket; /* of UDP */
  struct wire wire;
  struct device_counters counters;
  int held_sockets; /* looked up and not yet released */
};

extern struct shim_kernel shim_kernel;

/* Forgets all state, but for that of the caller. */
void shim_restart(void);

__u32 shim_ingress(struct shim_packet* packet);
__u32 shim_egress(struct shim_packet* packet);

#ifdef __cplusplus
}
#endif

#endif /* CLARION_FUZZ_SHIM_KERNEL_H */
