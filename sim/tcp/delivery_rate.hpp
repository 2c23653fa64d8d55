// SPDX-License-Identifier: Apache-2.0
// Delivery rate samples, as net/ipv4/tcp_rate.c takes them (draft-cheng-iccrg-delivery-rate-estimation).
#pragma once

#include <algorithm>
#include <cstdint>

#include "scoreboard.hpp"
#include "types.hpp"

namespace clarion::sim {

// What one acknowledgement says (struct rate_sample).
struct RateSample {
  Microseconds prior_delivered_us = 0;  // 0: no segment of this ACK has a stamp
  std::uint32_t prior_delivered = 0;
  std::uint32_t prior_delivered_ce = 0;
  std::uint32_t prior_lost = 0;
  std::uint32_t prior_in_flight = 0;
  std::uint32_t sent_in_flight = 0;  // when the segment was sent, with it (tx_in_flight of Google's kernel)
  std::uint32_t delivered_ce = 0;    // of `delivered`, with an echo of a congestion mark
  std::uint32_t lost = 0;            // marked since the segment was sent, as there
  std::int32_t delivered = -1;       // packets over the interval; -1: no sample
  std::int64_t interval_us = -1;     // -1: no sample
  std::int64_t rtt_us = -1;          // of the newest segment acknowledged that was sent once; -1: none
  std::uint32_t losses = 0;          // newly marked lost
  std::uint32_t acked_sacked = 0;    // newly delivered
  SegmentNumber newest = 0;          // one past the segment that the sample is of
  bool is_app_limited = false;
  bool is_retrans = false;
  bool has_echo = false;     // of a congestion mark
  bool is_of_probe = false;  // of a segment that a loss probe sent once more, or of its first copy

  bool has_stamp() const { return prior_delivered_us != 0; }
};

class DeliveryRate {
 public:
  std::uint32_t delivered() const { return delivered_; }
  std::uint32_t delivered_ce() const { return delivered_ce_; }
  bool is_app_limited() const { return app_limited_ != 0; }
  Microseconds delivered_us() const { return delivered_us_; }

  // A segment is about to be sent (tcp_rate_skb_sent); `packets_out` and `in_flight` are without it.
  void stamp(Segment& segment, std::uint32_t packets_out, std::uint32_t in_flight, std::uint32_t lost) {
    if (packets_out == 0) {
      first_sent_us_ = segment.sent_us;
      delivered_us_ = segment.sent_us;
    }
    segment.stamp = {first_sent_us_, delivered_us_, delivered_, delivered_ce_, in_flight + 1, lost};
    segment.was_app_limited = app_limited_ != 0;
  }

  void count(std::uint32_t packets, bool with_echo) {
    delivered_ += packets;
    if (with_echo) delivered_ce_ += packets;
  }

  // Where marks are counted (RFC 9768).
  void count_marked(std::uint32_t packets) { delivered_ce_ += packets; }

  // A segment has been delivered (tcp_rate_skb_delivered); of those of one ACK the one sent last counts.
  void note(SegmentNumber number, Segment& segment, RateSample& sample) {
    if (segment.stamp.delivered_us == 0) return;
    const bool is_newer =
        segment.sent_us > first_sent_us_ || (segment.sent_us == first_sent_us_ && number + 1 > sample.newest);
    if (!sample.has_stamp() || is_newer) {
      sample.prior_delivered_us = segment.stamp.delivered_us;
      sample.prior_delivered = segment.stamp.delivered;
      sample.prior_delivered_ce = segment.stamp.delivered_ce;
      sample.prior_lost = segment.stamp.lost;
      sample.sent_in_flight = segment.stamp.in_flight;
      sample.is_app_limited = segment.was_app_limited;
      sample.is_retrans = segment.was_resent;
      sample.newest = number + 1;
      first_sent_us_ = segment.sent_us;
      sample.interval_us = static_cast<std::int64_t>(segment.sent_us - segment.stamp.first_sent_us);
    }
    segment.stamp.delivered_us = 0;
  }

  // Completes the sample of an ACK that has delivered `newly` packets and marked `losses` of all that were
  // ever `lost` (tcp_rate_gen).
  void finish(RateSample& sample, Microseconds now_us, std::uint32_t newly, std::uint32_t losses,
              std::uint32_t lost, std::uint32_t min_rtt_us) {
    if (app_limited_ != 0 && static_cast<std::int32_t>(delivered_ - app_limited_) > 0) app_limited_ = 0;
    if (newly > 0) delivered_us_ = now_us;
    sample.acked_sacked = newly;
    sample.losses = losses;
    if (!sample.has_stamp()) {
      sample.delivered = -1;
      sample.interval_us = -1;
      return;
    }
    sample.delivered = static_cast<std::int32_t>(delivered_ - sample.prior_delivered);
    sample.delivered_ce = delivered_ce_ - sample.prior_delivered_ce;
    sample.lost = lost - sample.prior_lost;
    const auto acked_us = static_cast<std::int64_t>(now_us - sample.prior_delivered_us);
    sample.interval_us = std::max(sample.interval_us, acked_us);
    if (sample.interval_us < static_cast<std::int64_t>(min_rtt_us)) sample.interval_us = -1;
  }

  // The application has nothing more to send (tcp_rate_check_app_limited).
  void mark_app_limited(std::uint32_t in_flight) { app_limited_ = std::max(delivered_ + in_flight, 1U); }

 private:
  std::uint32_t delivered_ = 0;
  std::uint32_t delivered_ce_ = 0;
  std::uint32_t app_limited_ = 0;  // `delivered` from which on the application limits no more; 0: it does not
  Microseconds first_sent_us_ = 0;
  Microseconds delivered_us_ = 0;
};

}  // namespace clarion::sim
