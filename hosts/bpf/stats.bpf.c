// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/* All flows that live: as an iterator over the kernel's maps is read, one `struct flow_record` after the
 * other goes into a ring.
 *
 * The kernel has an iterator over the sockets of a storage map (iter/bpf_sk_storage_map), but there are
 * kernels that refuse iterators over the elements of maps to everybody: seen with a 6.18.44 under lockdown.
 * So this walks that map as the kernel's does (bucket by bucket, under RCU, as iterators run), and only
 * reads. Nothing that it meets is written to or kept, and a flow that goes meanwhile is left out.
 */
#include "kernel.h"

#include <bpf/bpf_tracing.h>

#include "maps.h"
#include "observe.h"

#define MOST_BUCKETS 4096
#define MOST_FLOWS   65536 /* in a bucket */

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} living SEC(".maps");

struct bpf_iter__bpf_map {
	struct bpf_iter_meta *meta;
	struct bpf_map *map;
} __attribute__((preserve_access_index));

/* Of the map `flows`; to a program the map itself is a handle, only the iterator gives its address. */
const volatile __u32 flows_id;

/* Where the walk is. */
struct walk {
	struct bpf_local_storage_map_bucket *bucket;
	struct hlist_node *node;
};

/* Flows that the ring had no room for; no member of the walk, which the verifier would follow value by value.
 */
__u32 missed;

/* Of a socket whose storage goes at this moment the cookies differ, or its memory is another socket's. */
static __always_inline bool is_of(const struct flow_record *record, struct tcp_sock *tp)
{
	return record->id.cookie &&
	       record->id.cookie ==
		   (__u64)BPF_CORE_READ(tp, inet_conn.icsk_inet.sk.__sk_common.skc_cookie.counter);
}

static __always_inline void report(struct bpf_local_storage_elem *element)
{
	struct tcp_sock *tp = BPF_CORE_READ(element, local_storage, owner);
	const struct flow *stored = (void *)element + bpf_core_field_offset(element->sdata.data);
	struct flow_record *record;

	if (!tp)
		return;
	record = bpf_ringbuf_reserve(&living, sizeof(*record), 0);
	if (!record) {
		missed++;
		return;
	}
	__builtin_memset(record, 0, sizeof(*record));
	observe(record, tp, stored);
	if (is_of(record, tp))
		bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	else
		bpf_ringbuf_discard(record, BPF_RB_NO_WAKEUP);
}

static long next_flow(__u32 index, struct walk *walk)
{
	struct hlist_node *node = walk->node;

	(void)index;
	if (!node)
		return 1;
	walk->node = BPF_CORE_READ(node, next);
	report((void *)node - bpf_core_field_offset(struct bpf_local_storage_elem, map_node));
	return 0;
}

static long next_bucket(__u32 index, struct walk *walk)
{
	struct bpf_local_storage_map_bucket *bucket = walk->bucket;

	(void)index;
	walk->node = BPF_CORE_READ(bucket, list.first);
	bpf_loop(MOST_FLOWS, next_flow, walk, 0);
	walk->bucket = (void *)bucket + bpf_core_type_size(struct bpf_local_storage_map_bucket);
	return 0;
}

SEC("iter/bpf_map")
int clarion_stats(struct bpf_iter__bpf_map *ctx)
{
	struct bpf_map *any = ctx->map;
	struct bpf_local_storage_map *map = (void *)any;
	struct walk walk = {};
	__u32 buckets;

	if (!any || any->id != flows_id)
		return 0;
	buckets = 1U << (BPF_CORE_READ(map, bucket_log) & 31);
	missed = 0;
	walk.bucket = BPF_CORE_READ(map, buckets);
	bpf_loop(buckets < MOST_BUCKETS ? buckets : MOST_BUCKETS, next_bucket, &walk, 0);
	if (missed)
		bpf_seq_write(ctx->meta->seq, &missed, sizeof(missed));
	return 0;
}

char _license[] SEC("license") = "GPL";
