// SPDX-License-Identifier: Apache-2.0
// CoDel (RFC 8289): drops at the head of a queue in which every packet has waited too long for an interval.
#pragma once

#include <cmath>
#include <cstdint>

#include "discipline.hpp"

namespace clarion::emu {

struct CodelSettings {
  Nanoseconds target_ns = 5'000'000;
  Nanoseconds interval_ns = 100'000'000;
};

// The state machine of RFC 8289, section 5, for any list of packets.
class Codel {
 public:
  explicit Codel(const CodelSettings& settings) : settings_(settings) {}

  std::uint32_t count() const { return count_; }
  bool is_dropping() const { return is_dropping_; }
  Nanoseconds drop_next() const { return drop_next_; }

  // Takes the next packet to be sent from `list`; null if there is none. `discard` drops a packet, or marks
  // it and returns false: it is to be sent then.
  template <class Discard>
  Waiting* dequeue(WaitingList& list, Nanoseconds now, Discard discard) {
    Head head = take(list, now);
    if (is_dropping_) {
      if (!head.is_late) is_dropping_ = false;
      while (is_dropping_ && now >= drop_next_) {
        ++count_;
        if (!discard(head.packet)) {
          drop_next_ = control_law(drop_next_);
          return head.packet;
        }
        head = take(list, now);
        if (!head.is_late) {
          is_dropping_ = false;
        } else {
          drop_next_ = control_law(drop_next_);
        }
      }
    } else if (head.is_late) {
      const bool is_gone = discard(head.packet);
      if (is_gone) head = take(list, now);
      begin(now);
    }
    return head.packet;
  }

 private:
  static constexpr std::uint64_t MAX_PACKET_BYTES = 1514;  // a queue of no more than that is short enough
  static constexpr Nanoseconds RECENT_INTERVALS = 16;

  struct Head {
    Waiting* packet = nullptr;
    bool is_late = false;  // ok_to_drop
  };

  Head take(WaitingList& list, Nanoseconds now) {
    Waiting* packet = list.pop();
    if (packet == nullptr || packet->waited(now) < settings_.target_ns || list.bytes() <= MAX_PACKET_BYTES) {
      first_above_ = 0;
      return {packet, false};
    }
    if (first_above_ == 0) {
      first_above_ = now + settings_.interval_ns;
      return {packet, false};
    }
    return {packet, now >= first_above_};
  }

  // Dropping begins: at the rate at which it ended if that was just now.
  void begin(Nanoseconds now) {
    is_dropping_ = true;
    const std::uint32_t delta = count_ - last_count_;
    const bool is_recent = now < drop_next_ + RECENT_INTERVALS * settings_.interval_ns;
    count_ = delta > 1 && is_recent ? delta : 1;
    drop_next_ = control_law(now);
    last_count_ = count_;
  }

  Nanoseconds control_law(Nanoseconds from) const {
    return from + static_cast<Nanoseconds>(static_cast<double>(settings_.interval_ns) / std::sqrt(count_));
  }

  CodelSettings settings_;
  Nanoseconds first_above_ = 0;  // when an interval above the target will be over; 0: not above it
  Nanoseconds drop_next_ = 0;
  std::uint32_t count_ = 0;  // drops since dropping began
  std::uint32_t last_count_ = 0;
  bool is_dropping_ = false;
};

class CodelDiscipline final : public FifoDiscipline {
 public:
  CodelDiscipline(const CodelSettings& settings, bool ecn, QueueKeeper& keeper)
      : FifoDiscipline(keeper), codel_(settings), ecn_(ecn) {}

  void enqueue(Nanoseconds /*now*/, Waiting* packet) override {
    if (has_room_for(packet)) return list_.push(packet);
    keeper_.drop(packet);
  }

  Waiting* dequeue(Nanoseconds now) override {
    return codel_.dequeue(list_, now, [this](Waiting* packet) { return discard(packet, ecn_); });
  }

 private:
  Codel codel_;
  bool ecn_;
};

}  // namespace clarion::emu
