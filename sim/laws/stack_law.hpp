// SPDX-License-Identifier: Apache-2.0
// The senders that kernels bring: Reno and CUBIC, which leave recovery to TCP, and BBR.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sim/tcp/congestion_control.hpp"

namespace clarion::sim {

// The law of that name ("reno", "cubic", "bbr"), null if there is none. `seed` is for laws that draw lots.
std::unique_ptr<CongestionControl> make_kernel_law(const std::string& name, std::uint32_t seed);

}  // namespace clarion::sim
