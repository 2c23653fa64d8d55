// SPDX-License-Identifier: Apache-2.0
#include "laws.hpp"

#include <algorithm>

namespace clarion::sim {

const std::vector<std::string>& laws() {
#define STACK_LAW(law, name) name,
#define RATE_LAW(law, name) name,
#define SIMULATED_LAW(law, name) name,
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = {
        "bbr", "clarion_boost", "clarion_fast", "clarion_xcp", "cubic", "reno",
#include "hosts/bpf/cc/stack_laws.def"
    };
    std::sort(all.begin(), all.end());
    return all;
  }();
#undef SIMULATED_LAW
#undef RATE_LAW
#undef STACK_LAW
  return names;
}

bool is_law(const std::string& name) { return std::find(laws().begin(), laws().end(), name) != laws().end(); }

std::unique_ptr<CongestionControl> make_law(const std::string& name, flow& flow, const cc_params& params,
                                            std::uint32_t seed) {
  if (auto law = make_stack_law(name, params)) return law;
  if (auto law = make_rate_law(name, params, seed)) return law;
  return make_clarion_law(name, flow, params);
}

}  // namespace clarion::sim
