// SPDX-License-Identifier: Apache-2.0
#include "laws.hpp"

namespace clarion::sim {

bool is_law(const std::string& name) {
  flow unused{};
  return make_law(name, unused, default_params(), 0) != nullptr;
}

std::unique_ptr<CongestionControl> make_law(const std::string& name, flow& flow, const cc_params& params,
                                            std::uint32_t seed) {
  std::unique_ptr<CongestionControl> law = make_kernel_law(name, seed);
  return law != nullptr ? std::move(law) : make_clarion_law(name, flow, params);
}

}  // namespace clarion::sim
