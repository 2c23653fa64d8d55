// SPDX-License-Identifier: Apache-2.0
// What is sent, and when: net/ipv4/tcp_output.c and tcp_timer.c.
#include <algorithm>

#include "sender.hpp"
#include "sim/hosts/bpf_headers.hpp"

namespace clarion::sim {
namespace {

constexpr std::uint64_t UNPACED_SEGMENTS = 10;        // of a new connection
constexpr std::uint64_t LOCAL_LIMIT_BYTES = 4 << 20;  // net.ipv4.tcp_limit_output_bytes
constexpr unsigned LOCAL_LIMIT_SHIFT = 10;            // sk_pacing_shift: a millisecond
constexpr std::uint64_t BURST_BYTES = 65536;          // gso_max_size
constexpr std::uint32_t WINDOW_DIVISOR = 3;           // net.ipv4.tcp_tso_win_divisor
constexpr Nanoseconds GATHERING_NS = 1'000'000;
constexpr unsigned BURST_RTT_SHIFT = 9;          // net.ipv4.tcp_tso_rtt_log
constexpr std::uint32_t MIN_BURST_SEGMENTS = 2;  // tcp_min_tso_segs

Nanoseconds ns_of(Microseconds us) { return us * 1000; }

}  // namespace

Sender::Sender(const SenderSettings& settings, std::unique_ptr<CongestionControl> law, Output& output)
    : settings_(settings),
      law_(std::move(law)),
      output_(output),
      cwnd_(std::min(settings.initial_cwnd, settings.cwnd_clamp)) {}

void Sender::establish(Nanoseconds now, std::uint32_t rtt_us, bool was_lost) {
  tick(now);
  is_established_ = true;
  cwnd_stamp_us_ = now_us_;
  may_send_at_ = now;
  rtt_.observe_minimum(now_us_, rtt_us);
  rtt_.sample(rtt_us, 0, 0);
  if (was_lost) cwnd_ = 1;
  update_pacing_rate();
  law_->start(*this);
  if (quick_start_bytes_per_s_ != 0 && !was_lost) begin_quick_start(rtt_us);
  send_new();
}

void Sender::write_up_to(Nanoseconds now, std::uint64_t bytes) {
  tick(now);
  const bool is_idle =
      unsent() == 0 && board_.in_flight() < cwnd_ && board_.lost_out() <= board_.retrans_out();
  if (is_idle && output_.waiting_bytes() == 0) rate_.mark_app_limited(board_.in_flight());
  written_bytes_ = bytes;
  written_ = bytes / settings_.mss_bytes + (bytes % settings_.mss_bytes != 0 ? 1 : 0);
  if (is_established_) send_new();
}

void Sender::on_room(Nanoseconds now) {
  tick(now);
  if (board_.lost_out() > board_.retrans_out() && board_.in_flight() < cwnd_) resend_lost();
  send_new();
}

void Sender::on_timer(Nanoseconds now) {
  tick(now);
  if (pacing_at_ <= now) {
    pacing_at_ = NEVER;
    if (board_.lost_out() > board_.retrans_out() && board_.in_flight() < cwnd_) resend_lost();
    send_new();
  }
  if (timer_at_ > now) return;
  timer_at_ = NEVER;
  // tcp_write_timer_handler: rearm() has to know that one of the other two has fired.
  const Timer timer = timer_;
  if (timer == Timer::retransmission || board_.packets_out() == 0) timer_ = Timer::none;
  if (board_.packets_out() == 0) return;
  if (timer == Timer::retransmission) on_retransmission_timeout();
  if (timer == Timer::reordering) on_reordering_timeout();
  if (timer == Timer::probe) send_probe();
}

void Sender::tick(Nanoseconds now) {
  now_ = now;
  now_us_ = now / 1000;
}

// tcp_write_xmit
void Sender::send_new(Push push) {
  std::uint32_t sent = 0;
  bool is_receiver_limited = false;
  bool is_limited = false;
  while (unsent() > 0) {
    if (must_wait_for_pacing()) break;
    const bool is_full = board_.in_flight() >= cwnd_;
    if (is_full && push == Push::all) break;
    if (receiver_room() == 0) {
      is_receiver_limited = true;
      break;
    }
    if (push == Push::all && gathers(is_limited)) break;
    const std::uint32_t wanted = push == Push::probe ? 1 : burst_segments();
    if (is_local_queue_full(wanted, 0)) break;
    const bool was_empty = board_.packets_out() == 0;
    const std::uint32_t burst = send_burst(wanted);
    sent += burst;
    if (burst == 0) break;
    if (was_empty || timer_ == Timer::probe) rearm();
    if (push == Push::probe) break;
  }
  note_receiver_limit(is_receiver_limited);
  is_limited |= board_.in_flight() >= cwnd_;
  if (sent > 0 || is_limited) validate_window(is_limited);
  if (sent == 0) return;
  if (in_reduction()) prr_.note_sent(sent);
  if (push == Push::all) schedule_probe(false);
}

// What goes down to the device in one piece is cut there, and paced as one.
std::uint32_t Sender::send_burst(std::uint32_t segments) {
  const Nanoseconds allowed_before = may_send_at_;
  const std::uint64_t count = std::min({std::uint64_t{segments}, unsent(), receiver_room()});
  const std::uint64_t first_bytes = bytes_before(board_.next());
  std::uint32_t sent = 0;
  while (sent < count && transmit(board_.next(), false)) ++sent;
  pace_after(bytes_before(board_.next()) - first_bytes, allowed_before);
  return sent;
}

// At most half of the window, and what it has room for (tcp_cwnd_test).
std::uint32_t Sender::burst_segments() const {
  const std::uint32_t room = cwnd_ > board_.in_flight() ? cwnd_ - board_.in_flight() : 1;
  return std::min({piece_segments(), room, std::max(cwnd_ >> 1, 1U)});
}

// tcp_tso_autosize: a millisecond of the rate, more on short paths.
std::uint32_t Sender::piece_segments() const {
  if (settings_.max_burst == 1) return 1;
  const std::uint32_t wanted = law_->piece_segments(*this);
  if (wanted > 0) return std::min(wanted, settings_.max_burst);
  std::uint64_t bytes =
      pacing_bytes_per_s_ == NO_RATE ? BURST_BYTES : pacing_bytes_per_s_ >> LOCAL_LIMIT_SHIFT;
  const std::uint32_t shift = rtt_.min_us() >> BURST_RTT_SHIFT;
  if (shift < 32) bytes += BURST_BYTES >> shift;
  const std::uint64_t most = std::min<std::uint64_t>(settings_.max_burst, BURST_BYTES / settings_.mss_bytes);
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(bytes / settings_.mss_bytes, MIN_BURST_SEGMENTS, most));
}

// tcp_tso_should_defer: is it better to wait for the next ACK, and to send a larger piece then? What the
// application has written lies in buffers of max_burst segments.
bool Sender::gathers(bool& is_cwnd_limited) const {
  if (settings_.max_burst == 1 || unsent() == 1 || state_ >= CaState::recovery) return false;
  if (now_ > may_send_at_ + GATHERING_NS || board_.packets_out() == 0) return false;
  const std::uint64_t window_room = cwnd_ - board_.in_flight();
  const std::uint64_t room = std::min(window_room, receiver_room());
  const std::uint64_t written = settings_.max_burst - board_.next() % settings_.max_burst;
  const bool is_last = written >= unsent();
  const std::uint64_t window = std::min<std::uint64_t>(cwnd_, window_end_ - board_.una());
  if (room >= piece_segments() || (!is_last && room >= written) || room >= window / WINDOW_DIVISOR) {
    return false;
  }
  const Nanoseconds srtt_ns = Nanoseconds{rtt_.srtt_us()} * 1000;
  const Nanoseconds ack_at = board_[board_.una()].sent_us * 1000 + srtt_ns;
  if (ack_at > now_ + std::min(srtt_ns / 2, GATHERING_NS)) return false;
  is_cwnd_limited = window_room < receiver_room() && window_room <= std::min(written, unsent());
  return true;
}

// tcp_xmit_retransmit_queue
void Sender::resend_lost() {
  bool rearms = false;
  while (board_.retrans_out() < board_.lost_out()) {
    const SegmentNumber number = board_.next_lost();
    if (number == board_.next() || must_wait_for_pacing() || board_.in_flight() >= cwnd_) break;
    if (is_local_queue_full(1, 1)) break;
    const Nanoseconds allowed_before = may_send_at_;
    if (!transmit(number, true)) break;
    pace_after(payload_of(number), allowed_before);
    if (in_reduction()) prr_.note_sent(1);
    if (number == board_.una() && timer_ != Timer::reordering) rearms = true;
  }
  if (rearms) set_timer(Timer::retransmission, rtt_.rto_us());
}

// tcp_xmit_recovery
void Sender::send_after(Resend resend) {
  if (resend == Resend::none) return;
  if (resend == Resend::new_data) {
    send_new();
    if (board_.next() > high_) return;
    frto_ = false;
  }
  resend_lost();
}

// tcp_pacing_check
bool Sender::must_wait_for_pacing() {
  if (!paces_by_timer_ || may_send_at_ <= now_) return false;
  pacing_at_ = may_send_at_;
  return true;
}

// tcp_small_queue_check: two pieces of so many segments may wait in this host, or a millisecond of the pacing
// rate; twice as much before a retransmission (`shift` 1).
bool Sender::is_local_queue_full(std::uint32_t segments, unsigned shift) const {
  const std::uint64_t waiting = output_.waiting_bytes();
  if (waiting == 0 || board_.packets_out() <= 1) return false;
  const std::uint64_t piece = std::uint64_t{segments} * settings_.mss_bytes * TRUESIZE_PERCENT / 100;
  std::uint64_t limit = std::max(2 * piece, pacing_bytes_per_s_ >> LOCAL_LIMIT_SHIFT);
  if (!paces_by_timer_) limit = std::min(limit, LOCAL_LIMIT_BYTES);
  return waiting > limit << shift;
}

// tcp_transmit_skb and what follows it, for one segment: new data, or a retransmission.
// False: a queue of this host has dropped it. TCP takes that for congestion, and for not sent.
bool Sender::transmit(SegmentNumber number, bool is_resent) {
  may_send_at_ = std::max(may_send_at_, now_);
  if (board_.in_flight() == 0) law_->on_event(*this, CaEvent::tx_start);  // tcp_event_data_sent
  OutgoingSegment segment;
  segment.number = number;
  segment.payload_bytes = payload_of(number);
  segment.is_resent = is_resent;
  segment.is_pushed = number + 1 == written_;
  segment.has_cwr = cwr_queued_ && !is_resent;
  if (!output_.transmit(segment, now_)) {
    enter_cwr();
    return false;
  }
  const std::uint32_t in_flight = board_.in_flight();
  const std::uint32_t packets_out = board_.packets_out();
  if (is_resent) {
    board_.resend(number, now_us_, true);
    ++resent_;
    if (retrans_stamp_ms_ == 0) retrans_stamp_ms_ = stamp_ms();
    undo_retrans_ = std::max<std::int64_t>(undo_retrans_, 0) + 1;
  } else {
    board_.append(now_us_);
    cwr_queued_ = false;
  }
  rate_.stamp(board_[number], packets_out, in_flight, lost_);
  last_sent_us_ = now_us_;
  ++segments_sent_;
  return true;
}

// tcp_update_skb_after_send
void Sender::pace_after(std::uint64_t payload_bytes, Nanoseconds allowed_before) {
  const bool is_bounded = pacing_bytes_per_s_ != NO_RATE && pacing_bytes_per_s_ != 0;
  if (!paces_by_timer_ || !is_bounded || segments_sent_ < UNPACED_SEGMENTS) return;
  const Nanoseconds takes = payload_bytes * emu::SECOND_NS / pacing_bytes_per_s_;
  const Nanoseconds credit = may_send_at_ - allowed_before;
  may_send_at_ += takes - std::min(takes / 2, credit);
}

// tcp_cwnd_validate
void Sender::validate_window(bool is_limited) {
  const bool is_more = !is_cwnd_limited_ && board_.packets_out() > max_packets_out_;
  if (board_.una() >= cwnd_usage_end_ || is_limited || is_more) {
    is_cwnd_limited_ = is_limited;
    max_packets_out_ = board_.packets_out();
    cwnd_usage_end_ = board_.next();
  }
  if (is_cwnd_limited()) {
    cwnd_used_ = 0;
    cwnd_stamp_us_ = now_us_;
    return;
  }
  cwnd_used_ = std::max(cwnd_used_, board_.packets_out());
  const bool is_stale = now_us_ - cwnd_stamp_us_ >= rtt_.rto_us();
  if (!settings_.restarts_after_idle || !is_stale || law_->owns_window()) return;
  // tcp_cwnd_application_limited (RFC 2861)
  if (state_ == CaState::open) {
    const std::uint32_t used = std::max(cwnd_used_, settings_.initial_cwnd);
    if (used < cwnd_) {
      ssthresh_ = current_ssthresh();
      set_cwnd((cwnd_ + used) >> 1);
    }
    cwnd_used_ = 0;
  }
  cwnd_stamp_us_ = now_us_;
}

void Sender::note_receiver_limit(bool is_limited) {
  if (rwnd_limited_since_us_ != 0) rwnd_limited_us_ += now_us_ - rwnd_limited_since_us_;
  rwnd_limited_since_us_ = is_limited ? now_us_ : 0;
}

// tcp_send_loss_probe: new data if there is any, else the last segment once more (RFC 8985, 7.3).
void Sender::send_probe() {
  if (has_probe_) return rearm();
  probe_was_resent_ = false;
  const SegmentNumber before = board_.next();
  if (unsent() > 0 && receiver_room() > 0) {
    send_new(Push::probe);
    if (board_.next() == before) return rearm();
  } else {
    const SegmentNumber last = board_.next() - 1;
    const std::uint32_t in_flight = board_.in_flight();
    may_send_at_ = std::max(may_send_at_, now_);
    if (!output_.transmit({last, payload_of(last), true, last + 1 == written_, false}, now_)) return rearm();
    probe_was_app_limited_ = board_[last].was_app_limited;
    board_.resend(last, now_us_, false);
    rate_.stamp(board_[last], board_.packets_out(), in_flight, lost_);
    ++resent_;
    ++segments_sent_;
    probe_was_resent_ = true;
  }
  has_probe_ = true;
  probe_high_ = board_.next();
  timer_ = Timer::none;
  rearm();
}

// tcp_schedule_loss_probe: two round trips after the last segment (RFC 8985, 7.2).
bool Sender::schedule_probe(bool advancing) {
  const bool is_calm = state_ == CaState::open || state_ == CaState::cwr;
  if (board_.packets_out() == 0 || !settings_.sack || !is_calm) return false;
  Microseconds wait_us = RTO_INITIAL_US;
  if (rtt_.is_known()) {
    wait_us = (rtt_.srtt_us8() >> 2) + (board_.packets_out() == 1 ? RTO_MIN_US : TIMEOUT_MIN_US);
  }
  const std::int64_t until_us = advancing ? static_cast<std::int64_t>(rtt_.rto_us()) : until_timeout_us();
  if (until_us > 0) wait_us = std::min(wait_us, static_cast<Microseconds>(until_us));
  set_timer(Timer::probe, wait_us);
  return true;
}

// tcp_retransmit_timer
void Sender::on_retransmission_timeout() {
  output_.note_timeout();
  const bool is_news = state_ != CaState::loss && !law_->explains_reductions();
  enter_loss();
  if (is_news) note_reduction(FLOW_TIMEOUT, cwnd_, 1);
  ++retransmits_;
  transmit(board_.una(), true);
  rtt_.back_off();
  set_timer(Timer::retransmission, rtt_.rto_us());
}

// tcp_rack_reo_timeout
void Sender::on_reordering_timeout() {
  const std::uint32_t in_flight = board_.in_flight();
  const std::uint32_t lost_before = lost_;
  const bool is_impatient = state_ >= CaState::recovery || board_.sacked_out() >= rack_.reordering();
  const std::uint32_t window_us = rack_.window_us(rtt_.min_us(), rtt_.srtt_us(), is_impatient);
  rack_.detect(board_, now_us_, window_us, [this](SegmentNumber number) { note_lost(number); });
  if (in_flight != board_.in_flight()) {
    if (state_ != CaState::recovery) {
      enter_recovery(false);
      if (in_reduction() && !law_->owns_window()) {
        set_cwnd(prr_.window(ssthresh_, board_.in_flight(), 1, lost_ == lost_before));
      }
    }
    resend_lost();
  }
  if (timer_ != Timer::retransmission) rearm();
}

// tcp_rearm_rto
void Sender::rearm() {
  if (board_.packets_out() == 0) {
    timer_ = Timer::none;
    timer_at_ = NEVER;
    return;
  }
  Microseconds wait_us = rtt_.rto_us();
  if (timer_ == Timer::reordering || timer_ == Timer::probe) {
    wait_us = static_cast<Microseconds>(std::max<std::int64_t>(until_timeout_us(), 1));
  }
  set_timer(Timer::retransmission, wait_us);
}

// Paced data that is still to go does not count into the time (tcp_reset_xmit_timer).
void Sender::set_timer(Timer timer, Microseconds in_us) {
  const Nanoseconds paced = may_send_at_ > now_ && paces_by_timer_ ? may_send_at_ - now_ : 0;
  timer_ = timer;
  timer_at_ = now_ + ns_of(std::min(in_us, RTO_MAX_US)) + (timer == Timer::reordering ? 0 : paced);
}

// tcp_rto_delta_us
std::int64_t Sender::until_timeout_us() const {
  const Microseconds sent_us = board_[board_.una()].sent_us;
  return static_cast<std::int64_t>(sent_us + rtt_.rto_us()) - static_cast<std::int64_t>(now_us_);
}

bool Sender::is_cwnd_limited() const {
  if (is_cwnd_limited_) return true;
  return is_slow_start() && cwnd_ < 2 * max_packets_out_;
}

std::uint64_t Sender::receiver_room() const {
  return window_end_ > board_.next() ? window_end_ - board_.next() : 0;
}

std::uint64_t Sender::unsent() const { return written_ - board_.next(); }

void Sender::set_cwnd(std::uint32_t packets) { cwnd_ = std::clamp(packets, 1U, settings_.cwnd_clamp); }

void Sender::pace(bool by_timer, std::uint64_t bytes_per_s) {
  paces_by_timer_ = by_timer;
  pacing_bytes_per_s_ = std::min(bytes_per_s, settings_.max_pacing_bytes_per_s);
}

std::uint64_t Sender::bytes_before(SegmentNumber number) const {
  return std::min<std::uint64_t>(number * settings_.mss_bytes, written_bytes_);
}

std::uint32_t Sender::payload_of(SegmentNumber number) const {
  return static_cast<std::uint32_t>(bytes_before(number + 1) - bytes_before(number));
}

}  // namespace clarion::sim
