// SPDX-License-Identifier: Apache-2.0
// Frames to and from the block as beats: where they come from, whole or damaged, with idle clocks, and where
// they go to, with clocks in which nothing is taken.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "hls/block/axis.hpp"

namespace clarion::sim {

// Goes on and off at random, a step per clock; `off` and `on` are chances in 256 to change over.
class Pattern {
 public:
  Pattern() = default;
  Pattern(std::uint32_t seed, unsigned off, unsigned on) : state_(seed * 2u + 1u), off_(off), on_(on) {}

  bool step() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 17;
    state_ ^= state_ << 5;
    if ((state_ >> 8 & 0xff) < (going_ ? off_ : on_)) going_ = !going_;
    return going_;
  }

 private:
  std::uint32_t state_ = 1;
  unsigned off_ = 0;
  unsigned on_ = 256;
  bool going_ = true;
};

// A frame to be sent, and how it is damaged.
struct SentFrame {
  enum class Damage : std::uint8_t { none, hole, hole_at_end, empty_end, short_beat, no_end };

  std::uint32_t gap = 0;  // clocks before it
  std::uint64_t user = 0;
  Damage damage = Damage::none;
  std::vector<std::uint8_t> bytes;
};

struct ReceivedFrame {
  std::uint32_t first_clock = 0;
  std::uint32_t last_clock = 0;
  std::uint32_t out_clock = 0;  // when the block gave its last beat, taken or not
  std::uint32_t beats = 0;
  std::uint64_t user = 0;
  bool damaged = false;  // keep has a gap, or is not full before the end
  std::vector<std::uint8_t> bytes;
};

class Source {
 public:
  void add(SentFrame frame) { frames_.push_back(std::move(frame)); }
  void set_pattern(const Pattern& pattern) { pattern_ = pattern; }
  void step(block::Axis& to, std::uint32_t clock);
  bool done() const { return frames_.empty(); }

  std::uint64_t refused = 0;               // clocks in which a beat was not taken
  std::vector<std::uint32_t> ended_clock;  // of each frame's last beat

 private:
  block::Beat next_beat();

  std::deque<SentFrame> frames_;
  std::size_t at_ = 0;  // bytes of the first that are sent
  Pattern pattern_;
};

class Sink {
 public:
  void set_pattern(const Pattern& pattern) { pattern_ = pattern; }
  void open(bool is_open) { open_ = is_open; }
  bool is_open() const { return open_; }
  bool step(block::Axis& from, std::uint32_t clock);  // true: it does not take anything for now
  bool take(block::Axis& from, std::uint32_t clock);
  std::size_t whole_frames() const { return frames.size() - (within_ ? 1 : 0); }

  std::uint64_t beats = 0;
  std::uint64_t ended = 0;           // frames, since the start
  std::deque<ReceivedFrame> frames;  // the last may be going on

 private:
  Pattern pattern_;
  bool open_ = true;
  bool offered_ = false;  // a beat waits, since
  std::uint32_t since_ = 0;
  bool within_ = false;
};

}  // namespace clarion::sim
