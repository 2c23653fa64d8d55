// SPDX-License-Identifier: Apache-2.0
// A queue discipline alone: packets by number, and what becomes of them.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "queue/discipline.hpp"

namespace clarion::emu {

inline constexpr Nanoseconds MS = 1'000'000;

class DisciplineTest : public testing::Test, public QueueKeeper {
 protected:
  void drop(Waiting* packet) override { dropped.push_back(number(packet)); }
  void mark(Waiting* packet) override { marked.push_back(number(packet)); }

  // A packet of `length` bytes, stamped with `since`; its number is what its Meta has as bucket.
  Waiting* packet(std::uint16_t number, Nanoseconds since, std::uint32_t length = 1000,
                  EcnField ecn = EcnField::not_capable) {
    all_.push_back(std::make_unique<Waiting>());
    Waiting* made = all_.back().get();
    made->since = since;
    made->length = length;
    made->ecn = ecn;
    made->meta.bucket = number;
    return made;
  }
  static std::uint16_t number(const Waiting* packet) { return packet->meta.bucket; }

  std::vector<std::uint16_t> dropped;
  std::vector<std::uint16_t> marked;

 private:
  std::vector<std::unique_ptr<Waiting>> all_;
};

}  // namespace clarion::emu
