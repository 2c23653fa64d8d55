// SPDX-License-Identifier: Apache-2.0
// Quick-Start at the sender (RFC 4782, 4.4 to 4.6): a window by the rate that all routers have approved,
// paced over the first round trip, and given up if it proves too much. Before and after it the law is as it
// is.
#include <algorithm>

#include "sender.hpp"

namespace clarion::sim {
namespace {

constexpr std::uint32_t HEADER_BYTES = 20 + 20 + 12;  // of IP and TCP, which the approved rate counts

}  // namespace

void Sender::begin_quick_start(std::uint32_t rtt_us) {
  const std::uint64_t packet_bytes = settings_.mss_bytes + HEADER_BYTES;
  const std::uint64_t packets = quick_start_bytes_per_s_ * rtt_us / 1'000'000 / packet_bytes;
  if (packets <= cwnd_) return;  // no more than anybody may send
  set_cwnd(static_cast<std::uint32_t>(std::min<std::uint64_t>(packets, settings_.cwnd_clamp)));
  pace(true, quick_start_bytes_per_s_ * settings_.mss_bytes / packet_bytes);
  is_quick_starting_ = true;
}

// The first acknowledgement ends it: what has not been sent by now may not be sent at once any more.
void Sender::end_quick_start(std::uint32_t packets_out) {
  is_quick_starting_ = false;
  pace(false, NO_RATE);
  quick_start_end_ = board_.next();
  set_cwnd(std::min(cwnd_, std::max(packets_out, settings_.initial_cwnd)));
}

// A loss among its packets, for which ssthresh has been set: down to the window that it would have begun
// with.
void Sender::revert_quick_start() {
  if (quick_start_end_ == 0) return;
  const bool is_its = board_.una() < quick_start_end_;
  quick_start_end_ = 0;
  if (!is_its || law_->owns_window()) return;
  quick_start_ssthresh_ = ssthresh_;
  ssthresh_ = std::min(ssthresh_, settings_.initial_cwnd);
}

// When that is repaired: slow start, up to what an ordinary loss would have left.
void Sender::go_on_after_quick_start() {
  if (quick_start_ssthresh_ == 0) return;
  ssthresh_ = std::max(ssthresh_, quick_start_ssthresh_);
  quick_start_ssthresh_ = 0;
}

}  // namespace clarion::sim
