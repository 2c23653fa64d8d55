// SPDX-License-Identifier: Apache-2.0
// Random settings of a port.
#pragma once

#include "core/config.hpp"
#include "draws.hpp"

namespace clarion::fuzz {

// Draws the integers of a configuration, each as wide as it is.
struct Drawn {
  Random& random;
  void field(std::uint64_t& integer) { integer = std::uint64_t{random.extreme()} << random.below(8); }
  void field(std::uint32_t& integer) { integer = random.extreme(); }
};

inline PortConfig any_config(Random& random) {
  PortConfig config;
  if (random.one_in(2)) {  // else the defaults
    Drawn drawn{random};
    visit_fields(drawn, config.xcp);
  }
  config.xcp.capacity_bytes_per_s |= 1;
  if (random.one_in(2)) config.xcp.generation = 2;
  config.xcp.enabled = !random.one_in(4);
  config.tag = {!random.one_in(4), !random.one_in(4), random.one_in(4), !random.one_in(4)};
  return config;
}

}  // namespace clarion::fuzz
