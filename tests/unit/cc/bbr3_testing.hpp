// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of BBR version 3: a path of 65.536 ms, on which N packets per round trip are a rate of
// N * 256 (N * 2^24 / 65536) and a product of N, both exactly. Packets of 1000 bytes, so that pieces are of
// two.
#ifndef CLARION_TESTS_CC_BBR3_TESTING_HPP
#define CLARION_TESTS_CC_BBR3_TESTING_HPP

#include <gtest/gtest.h>

#define _Static_assert static_assert
#include "cc/bbr3.h"
#undef _Static_assert

#include "stack_testing.hpp"

namespace clarion::testing {

inline constexpr __u32 RTT_US = 65'536;
inline constexpr __u32 BW = 256;  // one packet per round trip

class Bbr3Test : public ::testing::Test {
 protected:
  Bbr3Test() {
    tcp_.srtt_us = tcp_.min_rtt_us = RTT_US;
    bbr3_init(&b_, &tcp_, 1);
  }

  // The ACK `ack_`, of `packets`, which begins a round unless `is_round` is false.
  int ack(__u32 packets, __u64 after_us = 0, bool is_round = true) {
    tcp_.now_us += after_us;
    tcp_.delivered_us = tcp_.now_us;
    ack_.prior_delivered = is_round ? tcp_.delivered : b_.next_round_delivered - 1;
    tcp_.delivered += packets;
    ack_.acked_packets = packets;
    return bbr3_on_ack(&b_, &p_, &tcp_, &ack_);
  }
  // A round trip later, in which `packets` have been delivered.
  int round(__u32 packets, __u32 in_flight = 100) {
    ack_ = sample(packets, in_flight);
    tcp_.in_flight = in_flight;
    return ack(packets, RTT_US);
  }
  // In the middle of a round.
  int within(__u32 packets, __u32 in_flight = 100) {
    ack_ = sample(packets, in_flight);
    tcp_.in_flight = in_flight;
    return ack(packets, 0, false);
  }
  static stack_ack sample(__u32 packets, __u32 in_flight = 100) {
    stack_ack ack = ack_of(static_cast<__s32>(packets), RTT_US);
    ack.prior_in_flight = in_flight;
    ack.sent_in_flight = packets;
    return ack;
  }
  // ProbeBW with a rate of 100 packets per round trip, at the beginning of a phase.
  void settle(__u8 state = BBR3_CRUISE) {
    for (int i = 0; i < 5; ++i) round(100);
    ASSERT_TRUE(bbr3_is_in_probe_bw(&b_));
    ASSERT_EQ(bbr3_bw(&b_), 100 * BW);
    tcp_.cwnd = 200;
    enter(state);
  }
  void enter(__u8 state) {
    b_.state = state;
    b_.ack_phase = BBR3_ACKS_INIT;
    b_.cycle_began_us = tcp_.now_us;
    b_.probe_wait_us = 2 * SECOND;
    b_.rounds_since_probe = 0;
    bbr3_reset_full_bw(&b_, bbr3_max_bw(&b_));
    bbr3_update_gains(&b_);
  }
  void lose(__u32 sent_in_flight, __u32 lost, bool is_app_limited = false) {
    const stack_lost packet{sent_in_flight, lost, is_app_limited};
    bbr3_on_lost(&b_, &p_, &tcp_, &packet);
  }

  bbr3 b_{};
  cc_params p_ = kDefaults;
  cc_stack tcp_ = tcp_of(10);
  stack_ack ack_{};
};

}  // namespace clarion::testing

#endif  // CLARION_TESTS_CC_BBR3_TESTING_HPP
