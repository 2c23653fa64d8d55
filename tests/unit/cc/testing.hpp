// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of the laws: the default parameters and a sample of an ordinary ACK.
#ifndef CLARION_TESTS_CC_TESTING_HPP
#define CLARION_TESTS_CC_TESTING_HPP

#include "cc/params.h"
#include "cc/sample.h"

namespace clarion::testing {

inline constexpr cc_params kDefaults = {
#define CC_PARAM(name, value, min, max) value,
#include "cc/params.def"
#undef CC_PARAM
};

// One packet of 1448 bytes acknowledged on a path of 100 ms without a queue, round trip complete.
inline cc_sample ordinary_ack() {
  cc_sample s{};
  s.now_us = 1000000;
  s.mss_bytes = 1448;
  s.full_len_bytes = 1546;
  s.srtt_us = 100000;
  s.min_rtt_us = 100000;
  s.rtt_us = 100000;
  s.acked_packets = 1;
  s.delivered_packets = 1000;
  s.prior_delivered = 900;
  s.in_flight_packets = 100;
  s.outstanding_packets = 101;
  s.has_delivery = 1;
  s.is_open = 1;
  return s;
}

constexpr __u64 packets_q16(__u64 packets) { return packets << 16; }

}  // namespace clarion::testing

#endif  // CLARION_TESTS_CC_TESTING_HPP
