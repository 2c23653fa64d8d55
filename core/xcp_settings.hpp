// SPDX-License-Identifier: Apache-2.0
// Made by `python -m clarion_contract.generate` from contract.yaml; do not edit.
// Software only: XCP's settings of a port in people's units, and the integers that they become.
#pragma once

#include <cstdint>

#include "config.hpp"
#include "host_units.hpp"

namespace clarion {

struct XcpSettings {
  std::uint64_t capacity_bps = 0;
  double alpha = 0.4;
  double beta = 0.226;
  double gamma = 0.1;
  std::uint64_t min_interval_us = 1000;
  std::uint64_t max_interval_us = 1000000;
  std::uint64_t generation = 2;
  bool allow_unstable = false;
};

inline bool operator==(const XcpSettings& a, const XcpSettings& b) {
  return a.capacity_bps == b.capacity_bps && a.alpha == b.alpha && a.beta == b.beta && a.gamma == b.gamma &&
         a.min_interval_us == b.min_interval_us && a.max_interval_us == b.max_interval_us &&
         a.generation == b.generation && a.allow_unstable == b.allow_unstable;
}
inline bool operator!=(const XcpSettings& a, const XcpSettings& b) { return !(a == b); }

inline XcpConfig xcp_config(const XcpSettings& settings) {
  XcpConfig config;
  config.enabled = true;
  config.capacity_bytes_per_s = rounded_down(settings.capacity_bps, 1, 8, 0, 274877906943u);
  config.alpha_q16 = static_cast<std::uint32_t>(nearest(settings.alpha, 65536, 1, 0, 262143u));
  config.beta_q16 = static_cast<std::uint32_t>(nearest(settings.beta, 65536, 1, 0, 262143u));
  config.gamma_q16 = static_cast<std::uint32_t>(nearest(settings.gamma, 65536, 1, 0, 262143u));
  config.min_interval =
      static_cast<std::uint32_t>(rounded_down(settings.min_interval_us, 4194304, 15625, 1, 4294967295u));
  config.max_interval =
      static_cast<std::uint32_t>(rounded_down(settings.max_interval_us, 4194304, 15625, 1, 4294967295u));
  config.generation = static_cast<std::uint32_t>(rounded_down(settings.generation, 1, 1, 1, 2u));
  return limited(config);
}

inline XcpConfig xcp_config(std::uint64_t capacity_bps, double alpha = 0.4, double beta = 0.226,
                            double gamma = 0.1, std::uint64_t min_interval_us = 1000,
                            std::uint64_t max_interval_us = 1000000, std::uint64_t generation = 2) {
  return xcp_config(
      XcpSettings{capacity_bps, alpha, beta, gamma, min_interval_us, max_interval_us, generation});
}

// What is known of a setting. Numbers are legal from `least` to `most`. One with a `range` (in words) needs
// `allow_unstable` outside of it: between `above` and `below`, or `within` a part of what `follows` asks for.
struct XcpSetting {
  const char* name;
  double least = 0;
  double most = 0;
  const char* legal = "";
  const char* range = nullptr;
  const char* reason = "";
  double above = 0;
  double below = 0;
  const char* follows = nullptr;
  const char* rule = "";
  double within = 0;
  const char* at_most = nullptr;
  std::uint64_t numerator = 1;  // integers of the data plane are numerator / denominator of a unit
  std::uint64_t denominator = 1;
  const char* zero = nullptr;  // what people write for 0, which is legal beside the range
};

// Every setting with its value, in order.
template <class Settings, class Visit>
void visit_settings(Settings& settings, Visit visit) {
  visit(XcpSetting{"capacity_bps", 8.0, 2199023255551.0,
                   "use a whole number of bit/s from 8 to 2199023255551, or \"measured\"", nullptr, "", 0, 0,
                   nullptr, "", 0, nullptr, 1, 8, "measured"},
        settings.capacity_bps);
  visit(XcpSetting{"alpha", 0.0, 3.99998, "use a number from 0 to 3.99998",
                   "above 0 and below 0.5553 (pi/(4*sqrt 2))", ", or the control loop is not stable", 0,
                   0.5553603672697958, nullptr, "", 0.0, nullptr, 65536, 1},
        settings.alpha);
  visit(XcpSetting{"beta", 0.0, 3.99998, "use a number from 0 to 3.99998", "{} within 1 %",
                   ", or the control loop is not stable", 0, 0, "alpha", "alpha^2*sqrt 2", 0.01, nullptr,
                   65536, 1},
        settings.beta);
  visit(
      XcpSetting{"gamma", 0.0, 3.99998, "use a number from 0 to 3.99998", "above 0 and below 1",
                 ": the share of the traffic that is shuffled", 0, 1.0, nullptr, "", 0.0, nullptr, 65536, 1},
      settings.gamma);
  visit(
      XcpSetting{"min_interval_us", 1.0, 16000000.0, "use a whole number of microseconds from 1 to 16000000",
                 nullptr, "", 0, 0, nullptr, "", 0, "max_interval_us", 4194304, 15625},
      settings.min_interval_us);
  visit(
      XcpSetting{"max_interval_us", 1.0, 16000000.0, "use a whole number of microseconds from 1 to 16000000",
                 nullptr, "", 0, 0, nullptr, "", 0, nullptr, 4194304, 15625},
      settings.max_interval_us);
  visit(XcpSetting{"generation", 1.0, 2.0, "use a whole number from 1 to 2", nullptr, "", 0, 0, nullptr, "",
                   0, nullptr, 1, 1},
        settings.generation);
  visit(XcpSetting{"allow_unstable"}, settings.allow_unstable);
}

}  // namespace clarion
