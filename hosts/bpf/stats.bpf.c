// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/* An iterator over the flows: reading its file gives one `struct flow_record` after the other. */
#include "kernel.h"

#include <bpf/bpf_tracing.h>

#include "maps.h"
#include "observe.h"

struct bpf_iter__bpf_sk_storage_map {
	struct bpf_iter_meta *meta;
	struct bpf_map *map;
	struct sock *sk;
	struct flow *value;
} __attribute__((preserve_access_index));

SEC("iter/bpf_sk_storage_map")
int clarion_stats(struct bpf_iter__bpf_sk_storage_map *ctx)
{
	struct flow_record record = {};
	struct flow *flow = ctx->value;
	struct sock *sk = ctx->sk;
	struct tcp_sock *tp;

	if (!sk || !flow)
		return 0; /* the end of the map */
	tp = bpf_skc_to_tcp_sock(sk);
	if (!tp)
		return 0;
	observe(&record, tp, flow);
	bpf_seq_write(ctx->meta->seq, &record, sizeof(record));
	return 0;
}

char _license[] SEC("license") = "GPL";
