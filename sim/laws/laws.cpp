// SPDX-License-Identifier: Apache-2.0
#include "laws.hpp"

#include <algorithm>

namespace clarion::sim {

const std::vector<std::string>& laws() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = stack_laws();
    all.insert(all.end(), {"clarion_boost", "clarion_fast", "clarion_xcp"});
    std::sort(all.begin(), all.end());
    return all;
  }();
  return names;
}

bool is_law(const std::string& name) { return std::find(laws().begin(), laws().end(), name) != laws().end(); }

bool takes_load_codes(const std::string& name) { return name == "vcp"; }

bool leaves_recovery(const std::string& name) {
  const auto law = make_stack_law(name, default_params(), 0);
  return law != nullptr && !law->owns_window() && !takes_load_codes(name);
}

std::unique_ptr<CongestionControl> make_law(const std::string& name, flow& flow, const cc_params& params,
                                            std::uint32_t seed) {
  std::unique_ptr<CongestionControl> law = make_stack_law(name, params, seed);
  return law != nullptr ? std::move(law) : make_clarion_law(name, flow, params);
}

}  // namespace clarion::sim
