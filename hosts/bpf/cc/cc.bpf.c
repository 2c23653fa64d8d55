// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/* The congestion-control laws as struct_ops: each law is a header of its own, ops.h makes its callbacks.
 *
 * With cong_control the kernel leaves window and pacing to the law, with three exceptions, each handled in
 * a callback: a timeout sets the window to what is in flight plus one (set_state, Loss), an undo sets
 * it to the answer of undo_cwnd, and a flow that was idle is not restarted (cwnd_event, TX_START).
 */
#include "glue.h"

#include "boost.h"
#include "fast.h"
#include "xcp.h"

#define LAW xcp
#include "ops.h"
#undef LAW

#define LAW boost
#include "ops.h"
#undef LAW

#define LAW fast
#include "ops.h"
#undef LAW

/* The kernel takes struct_ops from GPL-compatible programs only. It has no word for a choice of Apache-2.0 or
 * GPL-2.0: it gets the programs under the latter, which it calls "GPL".
 */
char _license[] SEC("license") = "GPL";
