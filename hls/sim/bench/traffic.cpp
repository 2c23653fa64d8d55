// SPDX-License-Identifier: Apache-2.0
#include "hls/sim/bench/traffic.hpp"

#include <algorithm>
#include <cstring>

namespace clarion::sim {
namespace {

constexpr int NO_BYTE = 0xa5;  // data where keep is 0

}  // namespace

void Source::make_beat() {
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
  if (count > 0) std::memcpy(beat_.data, frame.bytes.data() + at_, count);
  std::memset(beat_.data + count, NO_BYTE, BEAT_BYTES - count);
  beat_.keep = keep;
  beat_.user = frame.user;
  beat_.last = end && frame.damage != Damage::no_end && (frame.damage != Damage::empty_end || empty);
  at_ += count;
  if (beat_.last || (end && frame.damage == Damage::no_end)) {
    frames_.pop_front();
    at_ = 0;
  }
}

const Beat* Source::offer() {
  if (offers_) return &beat_;
  if (frames_.empty()) return nullptr;
  SentFrame& frame = frames_.front();
  if (at_ == 0 && frame.gap > 0) {
    --frame.gap;
    return nullptr;
  }
  if (!pattern_.step()) return nullptr;
  make_beat();
  offers_ = true;
  return &beat_;
}

void Source::answer(bool taken, std::uint32_t clock) {
  if (!taken) {
    ++refused;
    return;
  }
  offers_ = false;
  if (beat_.last) ended_clock.push_back(clock);
}

bool Sink::ready() {
  const bool takes = takes_one_;
  takes_one_ = false;
  held_back_ = open_ && !pattern_.step();
  return takes || (open_ && !held_back_);
}

void Sink::take(const Beat& beat, std::uint32_t clock) {
  if (!within_) {
    frames.emplace_back();
    frames.back().first_clock = clock;
    frames.back().user = beat.user;
  }
  ReceivedFrame& frame = frames.back();
  const auto count = static_cast<unsigned>(__builtin_popcountll(beat.keep));
  frame.bytes.insert(frame.bytes.end(), beat.data, beat.data + count);
  frame.damaged |= beat.keep != keep_of(count) || count == 0 || (!beat.last && count < BEAT_BYTES) ||
                   frame.user != beat.user;
  frame.last_clock = clock;
  ++beats;
  if (beat.last) ++ended;
  within_ = !beat.last;
}

}  // namespace clarion::sim
