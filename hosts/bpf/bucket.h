/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The bucket of a new flow. */
#ifndef CLARION_BUCKET_H
#define CLARION_BUCKET_H

#include <bpf/bpf_endian.h>

#include "record.h"

#define BUCKET_HASH 2654435769U /* 2^32 / golden ratio: spreads addresses that differ in the last bits */

/* `own`: the host's address, the last word of one of IPv6. */
static __always_inline __u16 bucket_choose(struct attachment *attachment, __be32 own)
{
	return (bpf_ntohl(own) * BUCKET_HASH >> 16) + __sync_fetch_and_add(&attachment->next_bucket, 1);
}

#endif /* CLARION_BUCKET_H */
