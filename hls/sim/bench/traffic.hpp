// SPDX-License-Identifier: Apache-2.0
// Sources and sinks of frames, as beats: a source sends whole or damaged frames with idle clocks between
// them, a sink takes beats with back-pressure.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "hls/block/axis.hpp"

namespace clarion::sim {

// A random on-off pattern, one step per clock; `off` and `on` are the chances in 256 to switch over.
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

// A frame to be sent, and its damage: a byte without keep, in the first or in the last beat; the end in an
// extra beat without bytes; a first beat that is not full; no end.
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
  std::uint32_t out_clock = 0;  // when its last beat was first valid, whether or not the sink was ready
  std::uint32_t beats = 0;
  std::uint64_t user = 0;
  bool damaged = false;  // keep has a gap, or is not full before the end; or user changes
  std::vector<std::uint8_t> bytes;
};

class Source {
 public:
  void add(SentFrame frame) { frames_.push_back(std::move(frame)); }
  void set_pattern(const Pattern& pattern) { pattern_ = pattern; }
  void step(block::Axis& to, std::uint32_t clock);
  bool done() const { return frames_.empty(); }

  std::uint64_t refused = 0;               // clocks in which the block was not ready
  std::vector<std::uint32_t> ended_clock;  // of each frame's last beat

 private:
  block::Beat next_beat();

  std::deque<SentFrame> frames_;
  std::size_t at_ = 0;  // bytes already sent of the first frame
  Pattern pattern_;
};

class Sink {
 public:
  void set_pattern(const Pattern& pattern) { pattern_ = pattern; }
  void open(bool is_open) { open_ = is_open; }
  bool is_open() const { return open_; }
  bool step(block::Axis& from, std::uint32_t clock);  // true: the pattern holds it back in this clock
  bool take(block::Axis& from, std::uint32_t clock);
  std::size_t whole_frames() const { return frames.size() - (within_ ? 1 : 0); }

  std::uint64_t beats = 0;
  std::uint64_t ended = 0;           // complete frames since the start
  std::deque<ReceivedFrame> frames;  // the last may be incomplete

 private:
  Pattern pattern_;
  bool open_ = true;
  bool offered_ = false;     // a beat is valid and not taken yet
  std::uint32_t since_ = 0;  // the clock in which it became valid
  bool within_ = false;      // a frame
};

}  // namespace clarion::sim
