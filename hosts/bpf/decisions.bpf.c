// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/* Reductions by laws that leave recovery to the kernel, for comparison: loaded only while `clarion-host
 * decisions` runs.
 *
 * They show as changes of the connection's state: into recovery (a loss), CWR (a mark, a drop by a local
 * queue, a repaired tail loss) and Loss (a timeout). What a law without such a reaction does (BBR) does not
 * show.
 */
#include "kernel.h"

#include "observe.h"

#define CA_STATE_CWR	  2
#define CA_STATE_RECOVERY 3
#define CA_STATE_LOSS	  4

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} kernel_decisions SEC(".maps");

/* Namespaces to watch, by cookie. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, __u8);
} watched SEC(".maps");

static __always_inline bool is_law(const struct decision *decision, const char name[sizeof(decision->cc)])
{
	__u64 own[2], other[2];

	_Static_assert(sizeof(own) == sizeof(decision->cc), "two words hold the name of a law");
	__builtin_memcpy(own, decision->cc, sizeof(own));
	__builtin_memcpy(other, name, sizeof(other));
	return own[0] == other[0] && own[1] == other[1];
}

/* Laws that own their window report themselves; those that leave recovery to the kernel (cc/stack.h) do not.
 */
static __always_inline bool reports_itself(const struct decision *decision)
{
	const char boost[16] = "clarion_boost", fast[16] = "clarion_fast", xcp[16] = "clarion_xcp";
	const char prague[16] = "clarion_prague"; /* the kernel sees marks that there were none of */

	return is_law(decision, boost) || is_law(decision, fast) || is_law(decision, xcp) ||
	       is_law(decision, prague);
}

/* Brings the type into the object's BTF, for the agent's test of its layout. */
const volatile struct decision decision_layout = {};

static __always_inline __u8 reason_of(__u8 state)
{
	switch (state) {
	case CA_STATE_CWR:
		return FLOW_ECN;
	case CA_STATE_LOSS:
		return FLOW_TIMEOUT;
	default:
		return FLOW_LOSS;
	}
}

/* Before the state changes, and after the threshold has been set for it. */
SEC("tp_btf/tcp_cong_state_set")
int clarion_state(unsigned long long *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	__u8 state = (__u8)ctx[1];
	struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
	struct decision decision = {};
	__u8 before;

	if (!tp)
		return 0;
	before = tp->inet_conn.icsk_ca_state;
	if (state < CA_STATE_CWR || (before >= CA_STATE_CWR && state != CA_STATE_LOSS) || before == state)
		return 0;
	decision_observe(&decision, tp);
	if (reports_itself(&decision) || !bpf_map_lookup_elem(&watched, &decision.netns_cookie))
		return 0;
	decision.cookie = bpf_get_socket_cookie(sk);
	decision.reason = reason_of(state);
	decision.is_kernel = 1;
	decision.cwnd_before = tp->snd_cwnd;
	decision.cwnd_after = state == CA_STATE_LOSS ? 1 : tp->snd_ssthresh;
	bpf_ringbuf_output(&kernel_decisions, &decision, sizeof(decision), 0);
	return 0;
}

char _license[] SEC("license") = "GPL";
