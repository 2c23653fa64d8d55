// SPDX-License-Identifier: Apache-2.0
// A part of Clarion that takes frames.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "draws.hpp"

namespace clarion::fuzz {

class Target {
 public:
  virtual ~Target() = default;

  // Starts from nothing, with random settings.
  virtual void begin(Random& random) = 0;

  // Takes a frame and fails where a property does not hold. Draws the time and other circumstances.
  virtual void play(const std::uint8_t* frame, std::uint32_t length, Random& random) = 0;

  // How often what is tried has really happened, over all rounds.
  using Counts = std::vector<std::pair<const char*, std::uint64_t>>;
  virtual Counts counts() const = 0;
};

std::unique_ptr<Target> core_target();
std::unique_ptr<Target> edits_target();
std::unique_ptr<Target> switch_target();
std::unique_ptr<Target> shim_target();

}  // namespace clarion::fuzz
