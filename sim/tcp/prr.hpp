// SPDX-License-Identifier: Apache-2.0
// Proportional Rate Reduction: the window on its way down to ssthresh (RFC 6937; tcp_cwnd_reduction of
// net/ipv4/tcp_input.c, with RFC 9937's reduction bound by the newly lost).
#pragma once

#include <algorithm>
#include <cstdint>

namespace clarion::sim {

class Prr {
 public:
  void begin(std::uint32_t cwnd) {
    prior_cwnd_ = cwnd;
    delivered_ = sent_ = 0;
  }

  void note_sent(std::uint32_t packets) { sent_ += packets; }

  // The window after an ACK that delivered `newly` > 0 packets. `is_clean`: the ACK advanced and marked
  // nothing lost.
  std::uint32_t window(std::uint32_t ssthresh, std::uint32_t in_flight, std::uint32_t newly, bool is_clean) {
    delivered_ += newly;
    const auto delta = static_cast<std::int64_t>(ssthresh) - in_flight;
    std::int64_t send = 0;
    if (delta < 0) {
      const std::uint64_t part = static_cast<std::uint64_t>(ssthresh) * delivered_ + prior_cwnd_ - 1;
      send = static_cast<std::int64_t>(part / prior_cwnd_) - sent_;
    } else {
      send =
          std::max<std::int64_t>(static_cast<std::int64_t>(delivered_) - sent_, newly) + (is_clean ? 1 : 0);
      send = std::min(delta, send);
    }
    send = std::max<std::int64_t>(send, sent_ == 0 ? 1 : 0);  // the fast retransmission
    return in_flight + static_cast<std::uint32_t>(send);
  }

  std::uint32_t prior_cwnd() const { return prior_cwnd_; }

 private:
  std::uint32_t prior_cwnd_ = 1;
  std::uint32_t delivered_ = 0;
  std::uint32_t sent_ = 0;
};

}  // namespace clarion::sim
