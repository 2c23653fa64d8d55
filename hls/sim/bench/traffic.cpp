// SPDX-License-Identifier: Apache-2.0
#include "hls/sim/bench/traffic.hpp"

#include <algorithm>

#include "hls/sim/beats.hpp"

namespace clarion::sim {
namespace {

using block::Beat;
using block::BEAT_BYTES;

constexpr int NO_BYTE = 0xa5;  // data where keep is 0

}  // namespace

Beat Source::next_beat() {
  using Damage = SentFrame::Damage;
  const SentFrame& frame = frames_.front();
  const std::size_t count = std::min<std::size_t>(frame.bytes.size() - at_, BEAT_BYTES);
  const bool first = at_ == 0;
  const bool end = at_ + count == frame.bytes.size();
  const bool empty = count == 0;  // only after the last byte, for Damage::empty_end
  std::uint64_t keep = keep_of(count);
  if (frame.damage == Damage::hole && first) keep &= ~std::uint64_t{1 << 5};
  if (frame.damage == Damage::hole_at_end && end) keep &= ~std::uint64_t{1};
  if (frame.damage == Damage::short_beat && first) keep >>= 1;
  Beat beat;
  put_bytes(beat, frame.bytes.data() + at_, count, NO_BYTE);
  beat.keep = beat.strb = keep;
  beat.user = frame.user;
  beat.last = end && frame.damage != Damage::no_end && (frame.damage != Damage::empty_end || empty);
  at_ += count;
  if (beat.last || (end && frame.damage == Damage::no_end)) {
    frames_.pop_front();
    at_ = 0;
  }
  return beat;
}

void Source::step(block::Axis& to, std::uint32_t clock) {
  if (frames_.empty()) return;
  SentFrame& frame = frames_.front();
  if (at_ == 0 && frame.gap > 0) {
    --frame.gap;
    return;
  }
  if (!pattern_.step()) return;
  if (to.full()) {
    ++refused;
    return;
  }
  const Beat beat = next_beat();
  if (beat.last) ended_clock.push_back(clock);
  to.write(beat);
}

bool Sink::step(block::Axis& from, std::uint32_t clock) {
  if (!from.empty() && !offered_) {
    offered_ = true;
    since_ = clock;
  }
  if (!open_) return false;
  if (!pattern_.step()) return true;
  take(from, clock);
  return false;
}

bool Sink::take(block::Axis& from, std::uint32_t clock) {
  if (from.empty()) return false;
  const Beat beat = from.read();
  if (!within_) {
    frames.emplace_back();
    frames.back().first_clock = clock;
    frames.back().user = beat.user.to_uint64();
  }
  ReceivedFrame& frame = frames.back();
  const std::uint64_t keep = beat.keep.to_uint64();
  const auto count = static_cast<unsigned>(__builtin_popcountll(keep));
  append_bytes(frame.bytes, beat, count);
  frame.damaged |= keep != keep_of(count) || count == 0 || (!beat.last && count < BEAT_BYTES) ||
                   frame.user != beat.user.to_uint64();
  frame.last_clock = clock;
  frame.out_clock = since_;
  offered_ = false;
  ++frame.beats;
  ++beats;
  if (beat.last) ++ended;
  within_ = !beat.last;
  return true;
}

}  // namespace clarion::sim
