// SPDX-License-Identifier: Apache-2.0
// CoDel (RFC 8289): drops at the head of a queue in which every packet has waited too long for an interval.
#pragma once

#include <cmath>
#include <cstdint>

#include "../clock.hpp"

namespace clarion::emu {

struct CodelSettings {
  Nanoseconds target_ns = 5'000'000;
  Nanoseconds interval_ns = 100'000'000;
  std::uint32_t max_packet_bytes = 1514;  // a queue of no more than this is not too long
};

class Codel {
 public:
  explicit Codel(const CodelSettings& settings = {}) : settings_(settings) {}

  std::uint32_t count() const { return count_; }
  bool dropping() const { return dropping_; }

  // Takes the next packet to be sent from `queue`, null if there is none (RFC 8289, 5.5). Queue has
  //   Packet* pop()                        the head, or null
  //   Nanoseconds waited(Packet*)          how long it has waited
  //   std::uint64_t bytes()                what is left
  //   bool discard(Packet*)                drops it, or marks it and returns false: it is to be sent
  template <class Queue>
  auto dequeue(Queue& queue, Nanoseconds now) {
    bool late = false;
    auto* packet = take(queue, now, late);
    if (packet == nullptr) {
      dropping_ = false;
      return packet;
    }
    if (dropping_) {
      if (!late) dropping_ = false;
      while (dropping_ && now >= drop_next_) {
        ++count_;
        if (!queue.discard(packet)) {
          drop_next_ = control_law(drop_next_);
          return packet;
        }
        packet = take(queue, now, late);
        if (!late) {
          dropping_ = false;
        } else {
          drop_next_ = control_law(drop_next_);
        }
      }
    } else if (late) {
      const bool gone = queue.discard(packet);
      begin(now);
      if (gone) packet = take(queue, now, late);
    }
    return packet;
  }

 private:
  static constexpr unsigned RECENT_INTERVALS = 16;

  template <class Queue>
  auto take(Queue& queue, Nanoseconds now, bool& late) {
    late = false;
    auto* packet = queue.pop();
    if (packet == nullptr) {
      first_above_ = 0;
      return packet;
    }
    if (queue.waited(packet) < settings_.target_ns || queue.bytes() <= settings_.max_packet_bytes) {
      first_above_ = 0;
    } else if (first_above_ == 0) {
      first_above_ = now + settings_.interval_ns;
    } else {
      late = now >= first_above_;
    }
    return packet;
  }

  // A new time of dropping: at the rate of the last one, if that was just now.
  void begin(Nanoseconds now) {
    dropping_ = true;
    const std::uint32_t delta = count_ - last_count_;
    const bool is_recent = now - drop_next_ < RECENT_INTERVALS * settings_.interval_ns;
    count_ = delta > 1 && is_recent ? delta : 1;
    drop_next_ = control_law(now);
    last_count_ = count_;
  }

  Nanoseconds control_law(Nanoseconds from) const {
    return from + static_cast<Nanoseconds>(static_cast<double>(settings_.interval_ns) / std::sqrt(count_));
  }

  CodelSettings settings_;
  Nanoseconds first_above_ = 0;  // when an interval above the target will be over; 0: not above
  Nanoseconds drop_next_ = 0;
  std::uint32_t count_ = 0;  // drops since dropping began
  std::uint32_t last_count_ = 0;
  bool dropping_ = false;
};

}  // namespace clarion::emu
