// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of laws in the second form (cc/stack.h): a connection that uses its window.
#ifndef CLARION_TESTS_CC_STACK_TESTING_HPP
#define CLARION_TESTS_CC_STACK_TESTING_HPP

#include "cc/stack.h"
#include "testing.hpp"

namespace clarion::testing {

inline constexpr __u64 MS = 1000;
inline constexpr __u64 SECOND = 1'000'000;

inline cc_stack tcp_of(__u32 cwnd, __u32 ssthresh = STACK_INFINITE_SSTHRESH) {
  cc_stack tcp{};
  tcp.cwnd = cwnd;
  tcp.ssthresh = ssthresh;
  tcp.cwnd_clamp = 1U << 30;
  tcp.max_pacing_bytes_per_s = ~0ULL;
  tcp.mss_bytes = 1000;
  tcp.now_us = tcp.delivered_us = 100 * SECOND;
  tcp.is_cwnd_limited = 1;
  return tcp;
}

inline stack_ack ack_of(__s32 delivered, __s64 interval_us) {
  stack_ack ack{};
  ack.delivered = delivered;
  ack.interval_us = interval_us;
  ack.rtt_us = interval_us;
  return ack;
}

}  // namespace clarion::testing

#endif  // CLARION_TESTS_CC_STACK_TESTING_HPP
