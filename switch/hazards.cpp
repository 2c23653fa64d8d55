// SPDX-License-Identifier: Apache-2.0
#include "hazards.hpp"

#include <algorithm>

#include "frame_edit.hpp"

namespace clarion::emu {
namespace {

constexpr Nanoseconds LONGEST_WAIT_NS = 200'000'000;  // of a displaced frame, however few pass it
constexpr double SECOND = 1e9;                        // in ns

}  // namespace

void Hazards::enter(Nanoseconds time, FrameBytes frame, Wire& wire, const Report& report) {
  const auto length = static_cast<std::uint32_t>(frame.size());
  if (options_.down) return report(Cause::outage, frame);
  if (options_.mtu_bytes != 0 && ip_bytes(frame.data(), length) > options_.mtu_bytes) {
    return report(Cause::blocked, frame);
  }
  if (policed(time, length)) return report(Cause::policer, frame);
  if (header_blocks(frame, report)) return report(Cause::blocked, frame);
  if (queue_full(time, frame.size())) return report(Cause::queue, frame);
  if (chance(options_.ack_loss) &&
      is_pure_ack(frame.data(), static_cast<std::uint32_t>(frame.size()), protocol_)) {
    return report(Cause::wire, frame);
  }
  if (wire.loses(static_cast<std::uint32_t>(frame.size()))) return report(Cause::wire, frame);
  send(wire.arrival_of(time), std::move(frame), report);
}

// A token bucket without a queue. The burst is there at the start.
bool Hazards::policed(Nanoseconds time, std::size_t length) {
  if (options_.police_bps == 0) return false;
  const auto burst = static_cast<double>(options_.police_burst_bytes);
  const double grown =
      static_cast<double>(time - tokens_at_) / SECOND * static_cast<double>(options_.police_bps) / 8;
  tokens_bytes_ = tokens_bytes_ < 0 ? burst : std::min(burst, tokens_bytes_ + grown);
  tokens_at_ = time;
  if (tokens_bytes_ < static_cast<double>(length)) return true;
  tokens_bytes_ -= static_cast<double>(length);
  return false;
}

bool Hazards::header_blocks(FrameBytes& frame, const Report& report) {
  if (options_.header == HazardOptions::Header::keep) return false;
  if (!is_clarion(frame.data(), static_cast<std::uint32_t>(frame.size()), protocol_)) return false;
  if (!chance(options_.header_share)) return false;
  switch (options_.header) {
    case HazardOptions::Header::block:
      return true;
    case HazardOptions::Header::strip:
      if (strip_header(frame, protocol_)) report(Cause::stripped, frame);
      return false;
    case HazardOptions::Header::flip:
      flip_bit(frame);
      report(Cause::flipped, frame);
      return false;
    case HazardOptions::Header::keep:
      return false;
  }
  return false;
}

void Hazards::flip_bit(FrameBytes& frame) {
  const HeaderPlace place = header_place(frame.data(), static_cast<std::uint32_t>(frame.size()), protocol_);
  if (place.bytes == 0) return;
  const auto bit = static_cast<std::uint32_t>(random_.uniform() * place.bytes * 8);
  frame[place.at + bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
}

// A first-in first-out queue with a rate and a limit; moves `time` to the end of the frame's transmission.
// The frame that is being sent is not in the queue, as at a port.
bool Hazards::queue_full(Nanoseconds& time, std::size_t length) {
  if (options_.queue_bps == 0) return false;
  while (!queue_.empty() && queue_.front().first <= time) {
    queue_bytes_ -= queue_.front().second;
    queue_.pop_front();
  }
  const Nanoseconds start = std::max(time, queue_free_at_);
  if (start > time) {
    if (queue_bytes_ + length > options_.queue_bytes) return true;
    queue_.emplace_back(start, length);
    queue_bytes_ += length;
  }
  time = queue_free_at_ = start + length * 8 * SECOND_NS / options_.queue_bps;
  return false;
}

void Hazards::send(Nanoseconds arrival, FrameBytes frame, const Report& report) {
  const bool late = chance(options_.reorder);
  const bool twice = chance(options_.duplicate);
  if (twice) report(Cause::duplicate, frame);
  if (late) report(Cause::displaced, frame);
  FrameBytes copy;
  if (twice) copy = frame;
  if (!late) {
    put(arrival, std::move(frame));
    pass_waiting(arrival);
  } else if (options_.reorder_packets != 0) {
    waiting_.push_back({put(arrival + LONGEST_WAIT_NS, std::move(frame)), options_.reorder_packets});
  } else {
    put(arrival + options_.reorder_delay_us * 1000, std::move(frame));
  }
  if (twice) put(arrival, std::move(copy));
}

Hazards::Key Hazards::put(Nanoseconds arrival, FrameBytes frame) {
  const Key key{arrival, order_++};
  under_way_.emplace(key, std::move(frame));
  return key;
}

// A frame in order arrives at `arrival`: displaced ones that have waited for enough of these follow it.
void Hazards::pass_waiting(Nanoseconds arrival) {
  for (Waiting& each : waiting_) {
    if (--each.left > 0) continue;
    auto frame = under_way_.extract(each.key);
    if (frame.empty() || arrival >= each.key.first) {  // its longest wait ends sooner
      if (!frame.empty()) under_way_.insert(std::move(frame));
      continue;
    }
    frame.key() = {arrival, order_++};
    under_way_.insert(std::move(frame));
  }
  const auto done =
      std::remove_if(waiting_.begin(), waiting_.end(), [](const Waiting& each) { return each.left == 0; });
  waiting_.erase(done, waiting_.end());
}

FrameBytes Hazards::take_next() { return std::move(under_way_.extract(under_way_.begin()).mapped()); }

}  // namespace clarion::emu
