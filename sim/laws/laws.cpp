// SPDX-License-Identifier: Apache-2.0
#include "laws.hpp"

#include <algorithm>

namespace clarion::sim {

const std::vector<std::string>& laws() {
  static const std::vector<std::string> names = {"bbr",         "clarion_boost", "clarion_fast",
                                                 "clarion_xcp", "cubic",         "reno"};
  return names;
}

bool is_law(const std::string& name) { return std::find(laws().begin(), laws().end(), name) != laws().end(); }

std::unique_ptr<CongestionControl> make_law(const std::string& name, flow& flow, const cc_params& params,
                                            std::uint32_t seed) {
  std::unique_ptr<CongestionControl> law = make_kernel_law(name, seed);
  return law != nullptr ? std::move(law) : make_clarion_law(name, flow, params);
}

}  // namespace clarion::sim
