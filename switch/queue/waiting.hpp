// SPDX-License-Identifier: Apache-2.0
// Packets that wait in a queue which does not send them in the order of their arrival, or drops some of them
// on the way out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "../clock.hpp"
#include "../frame_edit.hpp"
#include "core/data_plane.hpp"

namespace clarion::emu {

struct Waiting {
  Nanoseconds since = 0;
  std::uint32_t length = 0;
  EcnField ecn = EcnField::not_capable;
  Meta meta;
  std::vector<std::uint8_t> frame;  // as much of it as is kept
  Waiting* next = nullptr;

  bool is_ecn_capable() const { return ecn != EcnField::not_capable; }
  Nanoseconds waited(Nanoseconds now) const { return now - since; }

  // Whether the queue's packets are numbered, and whose numbers it shares. Of one slot none may overtake
  // another: the check at the queue's end would take those overtaken for dropped.
  bool is_numbered() const { return carries_tags(meta.kind); }
  std::uint16_t slot() const { return meta.bucket & (DEFAULT_BUCKETS - 1); }
};

// Packets in their order.
class WaitingList {
 public:
  bool empty() const { return first_ == nullptr; }
  std::uint64_t bytes() const { return bytes_; }
  std::size_t packets() const { return packets_; }
  const Waiting* front() const { return first_; }

  void push(Waiting* packet) {
    packet->next = nullptr;
    (last_ == nullptr ? first_ : last_->next) = packet;
    last_ = packet;
    bytes_ += packet->length;
    ++packets_;
  }

  // Null if there is none.
  Waiting* pop() {
    Waiting* packet = first_;
    if (packet == nullptr) return nullptr;
    first_ = packet->next;
    if (first_ == nullptr) last_ = nullptr;
    bytes_ -= packet->length;
    --packets_;
    return packet;
  }

 private:
  Waiting* first_ = nullptr;
  Waiting* last_ = nullptr;
  std::uint64_t bytes_ = 0;
  std::size_t packets_ = 0;
};

// Their memory: what is given back is used again, so that no packet costs an allocation.
class WaitingStore {
 public:
  Waiting* take(const std::uint8_t* frame, std::uint32_t stored) {
    if (free_ == nullptr) free_ = &all_.emplace_back();
    Waiting* packet = free_;
    free_ = packet->next;
    packet->frame.assign(frame, frame + stored);
    return packet;
  }

  void give(Waiting* packet) {
    packet->next = free_;
    free_ = packet;
  }

 private:
  std::deque<Waiting> all_;  // which do not move
  Waiting* free_ = nullptr;
};

}  // namespace clarion::emu
