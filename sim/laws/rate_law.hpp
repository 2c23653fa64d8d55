// SPDX-License-Identifier: Apache-2.0
// The senders that set window and pacing rate themselves: both versions of BBR, PCC, packet pair, Prague,
// JetMax, MaxNet.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sim/tcp/congestion_control.hpp"

struct cc_params;

namespace clarion::sim {

// The law of that name ("bbr", ...), null if there is none. `seed` is for laws that draw lots. `params` must
// outlive it.
std::unique_ptr<CongestionControl> make_rate_law(const std::string& name, const cc_params& params,
                                                 std::uint32_t seed);

}  // namespace clarion::sim
