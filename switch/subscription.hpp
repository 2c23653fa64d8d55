// SPDX-License-Identifier: Apache-2.0
// The events that one client of the control socket has subscribed to. It ends with the client.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace clarion::emu {

// Of one switch: how many clients listen to each kind of report. Without listeners no report is made.
struct Listeners {
  std::uint32_t intervals = 0;
  std::uint32_t drops = 0;
  std::uint32_t packets = 0;
};

class Subscription {
 public:
  Subscription() = default;
  Subscription(const Subscription&) = delete;
  Subscription& operator=(const Subscription&) = delete;
  ~Subscription() { replace({}); }

  // The counts of listeners that this client is one of from now on.
  void replace(std::vector<std::uint32_t*> counts) {
    for (std::uint32_t* count : counts) ++*count;
    for (std::uint32_t* count : counts_) --*count;
    counts_ = std::move(counts);
  }

  bool active() const { return !counts_.empty(); }

 private:
  std::vector<std::uint32_t*> counts_;
};

}  // namespace clarion::emu
