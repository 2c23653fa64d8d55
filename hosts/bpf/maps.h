/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The maps that outlive a program and are shared by several objects.
 *
 * All are pinned by name under /sys/fs/bpf/clarion (the loader sets the pin root), so every object that
 * includes this file reuses the same ones. `params` belongs to the congestion-control object.
 */
#ifndef CLARION_MAPS_H
#define CLARION_MAPS_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "flow.h"
#include "record.h"

/* State of each TCP socket of an attached namespace, from the end of the handshake on, and of each UDP socket
 * with an entry in `asks`, from its first packet on.
 */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, int);
	__type(value, struct flow);
} flows SEC(".maps");

/* What programs want of their connected UDP sockets. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, int);
	__type(value, struct flow_ask);
} asks SEC(".maps");

/* Last record of flows that closed, by socket cookie. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, __u64);
	__type(value, struct flow_record);
} closed SEC(".maps");

/* Attached network namespaces, by cookie. Only their sockets offer the header in the handshake. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, __u64);
	__type(value, struct attachment);
} attached SEC(".maps");

/* Counters of each attached device, by the device number that the agent gave it. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, __u32);
	__type(value, struct device_counters);
} devices SEC(".maps");

/* What is known of the wire in front of each attached device, by the same number. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, __u32);
	__type(value, struct wire);
} wires SEC(".maps");

#endif /* CLARION_MAPS_H */
