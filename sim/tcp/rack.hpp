// SPDX-License-Identifier: Apache-2.0
// RACK: a segment is lost when one sent later has been delivered, and a reordering window has passed
// (RFC 8985; net/ipv4/tcp_recovery.c, whose choices these are).
#pragma once

#include <algorithm>
#include <cstdint>

#include "delivery_rate.hpp"
#include "scoreboard.hpp"
#include "types.hpp"

namespace clarion::sim {

constexpr std::uint32_t DUPACK_THRESHOLD = 3;  // net.ipv4.tcp_reordering
constexpr std::uint32_t MAX_REORDERING = 300;  // net.ipv4.tcp_max_reordering

// Was (a, number a) sent after (b, number b)? (tcp_skb_sent_after)
inline bool sent_after(Microseconds a_us, SegmentNumber a, Microseconds b_us, SegmentNumber b) {
  return a_us > b_us || (a_us == b_us && a > b);
}

class Rack {
 public:
  // A segment has been delivered (tcp_rack_advance).
  void advance(SegmentNumber number, const Segment& segment, Microseconds now_us, std::uint32_t min_rtt_us) {
    const auto rtt_us = static_cast<std::uint32_t>(now_us - segment.sent_us);
    if (rtt_us < min_rtt_us && segment.was_resent) return;  // the first transmission has been acknowledged
    is_news_ = true;
    rtt_us_ = rtt_us;
    if (!sent_after(segment.sent_us, number, sent_us_, number_)) return;
    sent_us_ = segment.sent_us;
    number_ = number;
  }

  // Losses are to be looked for once more.
  void reexamine() { is_news_ = true; }

  // Whether anything has been delivered since this was asked last.
  bool take_news() {
    const bool news = is_news_;
    is_news_ = false;
    return news;
  }

  // Marks what is lost. Returns after how long the next one may be; 0: there is none to wait for.
  // `on_loss(number)` is called for each that is news.
  template <class OnLoss>
  Microseconds detect(Scoreboard& board, Microseconds now_us, std::uint32_t window_us, OnLoss on_loss) {
    Microseconds wait_us = 0;
    board.each_by_age([&](SegmentNumber number, const Segment& segment) {
      if (segment.is_lost && !segment.is_resent) return true;
      if (!sent_after(sent_us_, number_, segment.sent_us, number)) return false;
      const std::int64_t left_us = timeout_us(segment, now_us, window_us);
      if (left_us > 0) {
        wait_us = std::max<Microseconds>(wait_us, static_cast<Microseconds>(left_us));
      } else if (board.mark_lost(number)) {
        board.forget_order(number);
        on_loss(number);
      }
      return true;
    });
    return wait_us;
  }

  // How long the segment may still take (tcp_rack_skb_timeout).
  std::int64_t timeout_us(const Segment& segment, Microseconds now_us, std::uint32_t window_us) const {
    return static_cast<std::int64_t>(rtt_us_) + window_us -
           static_cast<std::int64_t>(now_us - segment.sent_us);
  }

  // tcp_rack_reo_wnd
  std::uint32_t window_us(std::uint32_t min_rtt_us, std::uint32_t srtt_us, bool is_impatient) const {
    if (!saw_reordering_ && is_impatient) return 0;
    const std::uint64_t quarters = static_cast<std::uint64_t>(min_rtt_us >> 2) * steps_;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(quarters, srtt_us));
  }

  void note_dsack() { dsack_seen_ = true; }

  // Adapts the window to needless retransmissions, once per round trip (tcp_rack_update_reo_wnd).
  void adapt(const RateSample& sample, std::uint32_t delivered) {
    if (!sample.has_stamp()) return;
    if (static_cast<std::int32_t>(sample.prior_delivered - last_delivered_) < 0) dsack_seen_ = false;
    if (dsack_seen_) {
      steps_ = std::min<std::uint32_t>(MAX_STEPS, steps_ + 1);
      dsack_seen_ = false;
      last_delivered_ = delivered;
      persist_ = RECOVERIES_TO_KEEP;
    } else if (persist_ == 0) {
      steps_ = 1;
    }
  }

  void recovery_over() { persist_ -= persist_ > 0 ? 1 : 0; }
  void undone() { persist_ = std::min(RECOVERIES_TO_KEEP, persist_ + 1); }

  // Packets by which the path has reordered (tcp_check_sack_reordering).
  std::uint32_t reordering() const { return reordering_; }
  bool saw_reordering() const { return saw_reordering_; }
  void note_reordering(SegmentNumber low, SegmentNumber fack) {
    if (low >= fack) return;
    reordering_ = std::max(reordering_,
                           static_cast<std::uint32_t>(std::min<SegmentNumber>(fack - low, MAX_REORDERING)));
    saw_reordering_ = true;
  }
  void forget_reordering() { reordering_ = std::min(reordering_, DUPACK_THRESHOLD); }

 private:
  static constexpr std::uint32_t MAX_STEPS = 255;
  static constexpr std::uint32_t RECOVERIES_TO_KEEP = 16;

  Microseconds sent_us_ = 0;  // of the segment sent last among those delivered
  SegmentNumber number_ = 0;
  std::uint32_t rtt_us_ = 0;
  std::uint32_t last_delivered_ = 0;
  std::uint32_t reordering_ = DUPACK_THRESHOLD;
  std::uint32_t steps_ = 1;
  std::uint32_t persist_ = 0;
  bool is_news_ = false;
  bool dsack_seen_ = false;
  bool saw_reordering_ = false;
};

}  // namespace clarion::sim
