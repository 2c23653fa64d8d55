// SPDX-License-Identifier: Apache-2.0
// What is known of every segment that is sent and not yet acknowledged in order: SACKed, lost, resent, when
// last sent. Linux keeps the same in the retransmit queue (TCP_SKB_CB of net/ipv4/tcp_input.c).
//
// A ring by number, so nothing is searched. Those that may still arrive are linked in the order in which they
// were sent last, for RACK (tsorted_sent_queue).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "types.hpp"

namespace clarion::sim {

// The state of delivery when a segment was sent (struct tcp_skb_cb, tx).
struct DeliveryStamp {
  Microseconds first_sent_us = 0;
  Microseconds delivered_us = 0;  // 0: this transmission has been counted
  std::uint32_t delivered = 0;
  std::uint32_t delivered_ce = 0;
  std::uint32_t in_flight = 0;  // with it
  std::uint32_t lost = 0;       // marked so far
};

struct Segment {
  Microseconds sent_us = 0;  // last transmission
  DeliveryStamp stamp;
  std::uint32_t older = 0;  // slots of the neighbours in the order of transmission
  std::uint32_t newer = 0;
  bool is_linked = false;
  bool is_sacked = false;
  bool is_lost = false;
  bool is_resent = false;        // and that transmission is in flight (TCPCB_SACKED_RETRANS)
  bool was_resent = false;       // ever (TCPCB_EVER_RETRANS)
  bool was_app_limited = false;  // the connection, when this was sent last (tx.is_app_limited)
};

class Scoreboard {
 public:
  Scoreboard() : ring_(INITIAL_SLOTS) {}

  SegmentNumber una() const { return una_; }
  SegmentNumber next() const { return next_; }
  std::uint32_t packets_out() const { return static_cast<std::uint32_t>(next_ - una_); }
  std::uint32_t sacked_out() const { return sacked_out_; }
  std::uint32_t lost_out() const { return lost_out_; }
  std::uint32_t retrans_out() const { return retrans_out_; }

  // tcp_packets_in_flight()
  std::uint32_t in_flight() const { return packets_out() - sacked_out_ - lost_out_ + retrans_out_; }

  // One past the highest that is SACKed; una() if none is (tcp_highest_sack_seq).
  SegmentNumber fack() const { return sacked_out_ == 0 ? una_ : std::max(fack_, una_); }

  Segment& operator[](SegmentNumber number) { return ring_[slot(number)]; }
  const Segment& operator[](SegmentNumber number) const { return ring_[slot(number)]; }

  // The next segment is sent for the first time.
  Segment& append(Microseconds now_us) {
    if (packets_out() == ring_.size()) grow();
    Segment& segment = ring_[slot(next_)] = Segment{};
    segment.sent_us = now_us;
    link(next_++);
    return segment;
  }

  // Sent again. `counts`: as a retransmission in flight; a loss probe does not.
  void resend(SegmentNumber number, Microseconds now_us, bool counts) {
    Segment& segment = (*this)[number];
    segment.sent_us = now_us;
    segment.was_resent = true;
    if (counts && !segment.is_resent) {
      segment.is_resent = true;
      ++retrans_out_;
    }
    unlink(number);
    link(number);
  }

  void sack(SegmentNumber number) {
    Segment& segment = (*this)[number];
    if (segment.is_lost) forget_loss(segment);  // else a retransmission is believed to be still under way
    segment.is_sacked = true;
    ++sacked_out_;
    fack_ = std::max(fack_, number + 1);
    unlink(number);
  }

  // Without SACK: so many have arrived, by duplicate ACKs; nobody knows which.
  void guess_arrived(std::uint32_t packets) { sacked_out_ = packets; }

  // True if this is news: the segment, or its retransmission, was not known to be lost (tcp_mark_skb_lost).
  bool mark_lost(SegmentNumber number) {
    Segment& segment = (*this)[number];
    if (segment.is_sacked) return false;
    if (segment.is_lost) {
      if (!segment.is_resent) return false;
      segment.is_resent = false;
      --retrans_out_;
      next_lost_ = std::min(next_lost_, number);
      return true;
    }
    segment.is_lost = true;
    ++lost_out_;
    next_lost_ = std::min(next_lost_, number);
    return true;
  }

  // RACK has judged this transmission, and does so no more (tcp_rack_detect_loss takes it off the list).
  void forget_order(SegmentNumber number) { unlink(number); }

  // Nothing was lost after all (tcp_undo_cwnd_reduction). What RACK had taken for lost it does not judge
  // again.
  void unmark_losses() {
    for (SegmentNumber number = una_; number < next_ && lost_out_ > 0; ++number) {
      Segment& segment = (*this)[number];
      if (!segment.is_lost) continue;
      segment.is_lost = false;
      --lost_out_;
    }
  }

  // The first that is lost and not resent, from the head on; next() if there is none.
  SegmentNumber next_lost() {
    if (lost_out_ == 0) return next_;
    for (next_lost_ = std::max(next_lost_, una_); next_lost_ < next_; ++next_lost_) {
      const Segment& segment = (*this)[next_lost_];
      if (segment.is_lost && !segment.is_resent) break;
    }
    return next_lost_;
  }

  // Acknowledges the head.
  void pop() {
    Segment& segment = (*this)[una_];
    if (segment.is_sacked) --sacked_out_;
    forget_loss(segment);
    unlink(una_);
    ++una_;
  }

  // Calls `visit(number, segment)` in the order of the last transmission until it returns false. It may mark
  // the segment that it is given.
  template <class Visit>
  void each_by_age(Visit visit) {
    for (std::uint32_t at = oldest_; at != NONE;) {
      const std::uint32_t following = ring_[at].newer;
      if (!visit(number_of(at), ring_[at])) return;
      at = following;
    }
  }

 private:
  static constexpr std::size_t INITIAL_SLOTS = 16;
  static constexpr std::uint32_t NONE = 0xffffffff;

  std::uint32_t slot(SegmentNumber number) const {
    return static_cast<std::uint32_t>(number & (ring_.size() - 1));
  }

  SegmentNumber number_of(std::uint32_t at) const {
    return una_ + ((at - slot(una_)) & static_cast<std::uint32_t>(ring_.size() - 1));
  }

  void forget_loss(Segment& segment) {
    if (segment.is_resent) {
      segment.is_resent = false;
      --retrans_out_;
    }
    if (segment.is_lost) {
      segment.is_lost = false;
      --lost_out_;
    }
  }

  void link(SegmentNumber number) {
    const std::uint32_t at = slot(number);
    Segment& segment = ring_[at];
    segment.is_linked = true;
    segment.older = newest_;
    segment.newer = NONE;
    (newest_ == NONE ? oldest_ : ring_[newest_].newer) = at;
    newest_ = at;
  }

  void unlink(SegmentNumber number) {
    Segment& segment = ring_[slot(number)];
    if (!segment.is_linked) return;
    segment.is_linked = false;
    (segment.older == NONE ? oldest_ : ring_[segment.older].newer) = segment.newer;
    (segment.newer == NONE ? newest_ : ring_[segment.newer].older) = segment.older;
  }

  void grow() {
    std::vector<SegmentNumber> by_age;
    each_by_age([&](SegmentNumber number, const Segment&) {
      by_age.push_back(number);
      return true;
    });
    std::vector<Segment> larger(2 * ring_.size());
    for (SegmentNumber number = una_; number < next_; ++number) {
      larger[number & (larger.size() - 1)] = (*this)[number];
    }
    ring_ = std::move(larger);
    oldest_ = newest_ = NONE;
    for (const SegmentNumber number : by_age) link(number);
  }

  std::vector<Segment> ring_;  // a power of two
  SegmentNumber una_ = 0;
  SegmentNumber next_ = 0;
  SegmentNumber fack_ = 0;
  SegmentNumber next_lost_ = 0;  // none before it is lost and not resent
  std::uint32_t sacked_out_ = 0;
  std::uint32_t lost_out_ = 0;
  std::uint32_t retrans_out_ = 0;
  std::uint32_t oldest_ = NONE;
  std::uint32_t newest_ = NONE;
};

}  // namespace clarion::sim
