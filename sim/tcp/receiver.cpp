// SPDX-License-Identifier: Apache-2.0
#include "receiver.hpp"

namespace clarion::sim {
namespace {

constexpr Nanoseconds MS = 1'000'000;
constexpr Nanoseconds DELAY_MIN_NS = 40 * MS;      // TCP_ATO_MIN, TCP_DELACK_MIN
constexpr Nanoseconds RTO_VARIANCE_NS = 200 * MS;  // at least (TCP_RTO_MIN)
constexpr Nanoseconds DELAY_MAX_NS = 200 * MS;     // TCP_DELACK_MAX
constexpr std::uint32_t QUICK_ACKS = 16;           // TCP_MAX_QUICKACKS: a sender in slow start counts each
constexpr std::uint32_t QUICK_AFTER_MARK = 2;
constexpr std::uint32_t COMPRESSED_MAX = 44;   // net.ipv4.tcp_comp_sack_nr
constexpr Nanoseconds COMPRESSED_NS = MS;      // net.ipv4.tcp_comp_sack_delay_ns
constexpr std::size_t BLOCKS_EXPECTED = 2;     // TCP_SACK_BLOCKS_EXPECTED
constexpr std::uint32_t PLAIN_DUPLICATES = 3;  // TCP_FASTRETRANS_THRESH

}  // namespace

// tcp_data_queue, tcp_ack_snd_check
void Receiver::on_segment(Nanoseconds now, const IncomingSegment& segment) {
  if (segment.number <= acknowledged_) stamp_ms_ = segment.stamp_ms;  // tcp_replace_ts_recent
  if (segment.has_cwr) {
    wants_cwr_ = false;
    ack_now_ = true;
  }
  const bool in_order = segment.number == next_;
  if (!take(now, segment)) return send(now);
  if (in_order) note_arrival(now);
  note_marks(segment);
  grow_window();
  decide(now, segment.is_pushed);
}

// False: there is nothing new in it, or no room for it.
bool Receiver::take(Nanoseconds now, const IncomingSegment& segment) {
  if (segment.number < next_) {
    if (settings_.sack) twice_ = {segment.number, segment.number + 1};
    quicken(QUICK_ACKS);
    return false;
  }
  if (segment.number >= next_ + window_) {
    quicken(QUICK_ACKS);
    return false;
  }
  if (segment.number == next_) {
    take_in_order();
    return true;
  }
  tell_before_blocks_are_lost(now, segment.number);
  take_out_of_order(segment.number);
  return true;
}

void Receiver::take_in_order() {
  ++next_;
  ++received_;
  if (early_.empty()) return;
  if (early_.front().begin == next_) {
    next_ = early_.front().end;
    early_.erase(early_.begin());
  }
  if (early_.empty()) ack_now_ = true;  // the gap is filled (RFC 5681, 4.2)
  forget_acknowledged();
}

void Receiver::take_out_of_order(SegmentNumber number) {
  auto after = std::upper_bound(early_.begin(), early_.end(), number,
                                [](SegmentNumber n, const SegmentRange& range) { return n < range.begin; });
  const bool has_before = after != early_.begin();
  if (has_before && number < std::prev(after)->end) {
    if (settings_.sack) twice_ = {number, number + 1};
    remember(*std::prev(after));
    return;
  }
  ++received_;
  const bool joins_before = has_before && std::prev(after)->end == number;
  const bool joins_after = after != early_.end() && after->begin == number + 1;
  if (joins_before && joins_after) {
    std::prev(after)->end = after->end;
    after = std::prev(early_.erase(after));
  } else if (joins_before) {
    --after;
    after->end = number + 1;
  } else if (joins_after) {
    after->begin = number;
  } else {
    after = early_.insert(after, {number, number + 1});
  }
  remember(*after);
}

// tcp_sack_compress_send_ack: a segment that does not belong to one of the two latest blocks would move
// blocks out of reach of the acknowledgement that is being held back.
void Receiver::tell_before_blocks_are_lost(Nanoseconds now, SegmentNumber number) {
  if (compressed_ == 0) return;
  for (std::size_t i = 0; i < std::min(known_, BLOCKS_EXPECTED); ++i) {
    if (number + 1 >= blocks_[i].begin && number <= blocks_[i].end) return;
  }
  if (known_ >= BLOCKS_EXPECTED) send(now);
}

// The block with the latest segment goes first; those that it has swallowed go away.
void Receiver::remember(const SegmentRange& range) {
  std::array<SegmentRange, KNOWN_BLOCKS> blocks{range};
  std::size_t known = 1;
  for (std::size_t i = 0; i < known_ && known < KNOWN_BLOCKS; ++i) {
    const bool is_inside = blocks_[i].begin >= range.begin && blocks_[i].end <= range.end;
    if (!is_inside) blocks[known++] = blocks_[i];
  }
  blocks_ = blocks;
  known_ = known;
}

void Receiver::forget_acknowledged() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < known_; ++i) {
    if (blocks_[i].end > next_) blocks_[kept++] = blocks_[i];
  }
  known_ = kept;
}

// tcp_set_rto, after the one sample of the handshake.
Nanoseconds Receiver::rto_ns() const {
  const Nanoseconds rtt_ns = Nanoseconds{rtt_us_} * 1000;
  return rtt_ns + std::max(RTO_VARIANCE_NS, 2 * rtt_ns);
}

// tcp_event_data_recv
void Receiver::note_arrival(Nanoseconds now) {
  const Nanoseconds gap = now - arrived_;
  if (delay_ns_ == 0) {
    quicken(QUICK_ACKS);
    delay_ns_ = DELAY_MIN_NS;
  } else if (gap <= DELAY_MIN_NS / 2) {
    delay_ns_ = delay_ns_ / 2 + DELAY_MIN_NS / 2;
  } else if (gap < delay_ns_) {
    delay_ns_ = std::min(delay_ns_ / 2 + gap, rto_ns());
  } else if (gap > rto_ns()) {
    quicken(QUICK_ACKS);
  }
  arrived_ = now;
}

// tcp_ecn_check_ce. A segment that is not capable among those that are has probably been resent.
void Receiver::note_marks(const IncomingSegment& segment) {
  if (has_accurate_ecn_) return count_mark(segment.has_ce);
  const bool is_resent = saw_ect_ && !segment.has_ect && !segment.has_ce;
  if (is_resent || (segment.has_ce && !wants_cwr_)) {
    quicken(QUICK_AFTER_MARK);
    delay_ns_ = DELAY_MIN_NS;
  }
  wants_cwr_ |= segment.has_ce;
  saw_ect_ |= segment.has_ect || segment.has_ce;
}

// RFC 9768, 3.2.2.5.1: the first mark after a packet without one is told at once, and each second one is.
void Receiver::count_mark(bool has_ce) {
  if (has_ce) {
    ++ce_count_;
    ++untold_marks_;
    if (!was_marked_ || untold_marks_ >= MARKS_PER_ACK) ack_now_ = true;
  }
  was_marked_ = has_ce;
}

// tcp_grow_window: by a segment, which is acknowledged at once, until the buffer would not hold more.
void Receiver::grow_window() {
  if (window_ >= settings_.largest_window) return;
  ++window_;
  quicken(1);
}

void Receiver::quicken(std::uint32_t at_most) { quick_ = std::max(quick_, at_most); }

// __tcp_ack_snd_check. The application reads at once; what ends a write is acknowledged then
// (tcp_cleanup_rbuf).
void Receiver::decide(Nanoseconds now, bool is_pushed) {
  const bool is_second = next_ - acknowledged_ > 1;
  if (is_second || quick_ > 0 || ack_now_) return send(now);
  if (early_.empty()) return is_pushed ? send(now) : delay(now);
  compress(now);
}

// tcp_send_delayed_ack
void Receiver::delay(Nanoseconds now) {
  Nanoseconds wait = delay_ns_;
  if (wait > DELAY_MIN_NS) wait = std::min(wait, std::max(Nanoseconds{rtt_us_} * 1000, DELAY_MIN_NS));
  wait = std::min(wait, DELAY_MAX_NS);
  if (delayed_at_ <= now + wait / 4) return send(now);  // it is about to go
  delayed_at_ = std::min(delayed_at_, now + wait);
}

void Receiver::compress(Nanoseconds now) {
  if (!settings_.sack || compressed_ >= COMPRESSED_MAX) return send(now);
  if (duplicates_of_ != next_) {
    duplicates_of_ = next_;
    duplicates_ = 0;
  }
  if (duplicates_ < PLAIN_DUPLICATES) {
    ++duplicates_;
    return send(now);
  }
  ++compressed_;
  if (compressed_at_ != NEVER) return;
  compressed_at_ = now + std::min(COMPRESSED_NS, Nanoseconds{rtt_us_} * 1000 / 20);  // 5 % of a round trip
}

// tcp_delack_timer_handler: an acknowledgement that waited in vain makes the next one wait twice as long.
void Receiver::on_timer(Nanoseconds now) {
  if (next_timer() > now) return;
  if (delayed_at_ <= now) delay_ns_ = std::min(2 * delay_ns_, rto_ns());
  send(now);
}

void Receiver::send(Nanoseconds now) {
  OutgoingAck ack;
  ack.ack = next_;
  ack.window = window_;
  ack.echo_ms = stamp_ms_;
  ack.has_ece = wants_cwr_;
  ack.ace = ace_of(ce_count_);
  if (!twice_.empty()) ack.sacks[ack.blocks++] = twice_;
  for (std::size_t i = 0; settings_.sack && i < known_ && ack.blocks < OutgoingAck::MAX_BLOCKS; ++i) {
    ack.sacks[ack.blocks++] = blocks_[i];
  }
  twice_ = {};
  if (quick_ > 0 && --quick_ == 0) delay_ns_ = DELAY_MIN_NS;
  ack_now_ = false;
  untold_marks_ = 0;
  acknowledged_ = next_;
  delayed_at_ = compressed_at_ = NEVER;
  compressed_ = 0;
  output_.acknowledge(ack, now);
}

}  // namespace clarion::sim
