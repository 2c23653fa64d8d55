// SPDX-License-Identifier: Apache-2.0
// Sources and sinks of frames, as beats: a source sends whole or damaged frames with idle clocks between
// them, a sink takes beats with back-pressure.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "hls/sim/wires.hpp"

namespace clarion::sim {

// What a stream of frames carries in a clock.
struct Beat {
  alignas(8) std::uint8_t data[BEAT_BYTES];
  std::uint64_t keep;
  std::uint64_t user;
  bool last;
};

// A random on-off pattern, one step per clock; `off` and `on` are the chances in 256 to switch over.
class Pattern {
 public:
  Pattern() = default;
  Pattern(std::uint32_t seed, unsigned off, unsigned on) : state_(seed * 2u + 1u), off_(off), on_(on) {}

  bool step() {
    if (going_ && off_ == 0) return true;
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
  std::uint64_t user = 0;
  bool damaged = false;  // keep has a gap, or is not full before the end; or user changes
  std::vector<std::uint8_t> bytes;
};

class Source {
 public:
  void add(SentFrame frame) { frames_.push_back(std::move(frame)); }
  void set_pattern(const Pattern& pattern) { pattern_ = pattern; }
  bool done() const { return frames_.empty() && !offers_; }

  // The beat of this clock, if there is one: it stays until it is taken.
  const Beat* offer();
  void answer(bool taken, std::uint32_t clock);  // of this clock, to what has been offered

  std::uint64_t refused = 0;               // clocks in which the block was not ready
  std::vector<std::uint32_t> ended_clock;  // of each frame's last beat

 private:
  void make_beat();

  std::deque<SentFrame> frames_;
  std::size_t at_ = 0;  // bytes already sent of the first frame
  Pattern pattern_;
  Beat beat_ = {};
  bool offers_ = false;  // `beat_` is valid
};

class Sink {
 public:
  void set_pattern(const Pattern& pattern) { pattern_ = pattern; }
  void open(bool is_open) { open_ = is_open; }
  bool is_open() const { return open_; }
  void take_one() { takes_one_ = true; }  // in the next clock, although it is shut

  bool ready();                                   // called once in a clock
  bool holds_back() const { return held_back_; }  // its pattern says no in this clock
  void rest() { held_back_ = false; }             // no call of ready() in this clock
  void take(const Beat& beat, std::uint32_t clock);
  std::size_t whole_frames() const { return frames.size() - (within_ ? 1 : 0); }

  std::uint64_t beats = 0;
  std::uint64_t ended = 0;           // complete frames since the start
  std::deque<ReceivedFrame> frames;  // the last may be incomplete

 private:
  Pattern pattern_;
  bool open_ = true;
  bool takes_one_ = false;
  bool held_back_ = false;
  bool within_ = false;  // a frame
};

}  // namespace clarion::sim
