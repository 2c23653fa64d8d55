// SPDX-License-Identifier: Apache-2.0
// What the tests of networks in a loop share.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/tests/network.hpp"

namespace clarion {

constexpr double MBIT = 1e6;
constexpr double GEO_RTT_S = 0.57;

// Into the test's XML, so that a change of the law can be compared figure by figure.
inline void record(const std::string& what, double value) {
  testing::Test::RecordProperty(what, std::to_string(value));
}

inline double bdp_bytes(double capacity_bps, double rtt_s) { return capacity_bps * rtt_s / 8; }

inline std::vector<FlowConfig> alike(unsigned flows, double rtt_s, double start_s, double spread_s) {
  std::vector<FlowConfig> all;
  for (unsigned flow = 0; flow < flows; ++flow) {
    all.push_back({{0}, rtt_s, start_s + spread_s * flow / flows});
  }
  return all;
}

}  // namespace clarion
