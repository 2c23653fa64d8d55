// SPDX-License-Identifier: Apache-2.0
// What an acknowledgement says: net/ipv4/tcp_input.c, tcp_ack() and what it calls before recovery.
#include <algorithm>

#include "sender.hpp"

namespace clarion::sim {

void Sender::on_acknowledgement(Nanoseconds now, const Acknowledgement& ack) {
  tick(now);
  if (ack.ack > board_.next()) return;  // of data that was never sent
  AckState state;
  state.prior_una = board_.una();
  state.reorder = board_.next();
  state.sample.prior_in_flight = board_.in_flight();
  state.has_ece = settings_.ecn && ack.has_ece;
  state.sample.has_echo = state.has_ece;
  echo_ms_ = ack.echo_ms;
  load_code_ = ack.load_code;
  told_link_ = ack.told_link;
  told_word_ = ack.told_word;
  const bool is_old = ack.ack < board_.una();
  const bool had_data = board_.packets_out() > 0;
  const std::uint32_t delivered_before = rate_.delivered();
  const std::uint32_t lost_before = lost_;
  const SegmentNumber prior_fack = board_.fack();

  if (!is_old) {
    state.advanced = ack.ack > board_.una();
    if (state.advanced) retransmits_ = 0;
    const SegmentNumber window_end = ack.ack + ack.window;
    state.window_update = state.advanced || window_end > window_end_;
    if (state.window_update) window_end_ = window_end;
  }
  if (is_quick_starting_ && had_data && !is_old) end_quick_start(board_.packets_out());
  tag_sacks(ack, state);
  Resend resend = Resend::none;
  if (is_old || !had_data) {
    if (ack.blocks > 0 && (is_old || state.dsacking)) resend = alert(state);
    if (!is_old && has_probe_) process_probe_ack(ack, state);
    send_after(resend);
    return send_new();  // tcp_data_snd_check
  }
  clean(ack, state, prior_fack);
  if (settings_.accurate_ecn) count_marks(ack, state, rate_.delivered() - delivered_before);
  rack_.adapt(state.sample, rate_.delivered());
  if (has_probe_) process_probe_ack(ack, state);
  if (is_dubious(state)) {
    state.is_dupack = !state.advanced && !state.is_not_dup() && !state.dsacking;
    resend = alert(state);
  }
  if (state.set_timer && !schedule_probe(true)) rearm();
  rate_.finish(state.sample, now_us_, rate_.delivered() - delivered_before, lost_ - lost_before, lost_,
               rtt_.min_us());
  control(state);
  send_after(resend);
  send_new();
}

// tcp_sacktag_write_queue: in the order of the numbers. What the ACK before has said already is passed over.
void Sender::tag_sacks(const Acknowledgement& ack, AckState& state) {
  if (!settings_.sack || ack.blocks == 0) {
    sacks_before_ = {};
    return;
  }
  const bool has_dsack = check_dsack(ack, state);
  std::array<SegmentRange, Acknowledgement::MAX_BLOCKS> blocks{};
  for (std::size_t i = has_dsack ? 1 : 0; i < ack.blocks; ++i) {
    const auto larger = std::find_if(blocks.begin(), blocks.begin() + i, [&](const SegmentRange& each) {
      return each.begin > ack.sacks[i].begin;
    });
    std::rotate(larger, blocks.begin() + i, blocks.begin() + i + 1);
    *larger = ack.sacks[i];
  }
  for (const SegmentRange& block : blocks) {
    const SegmentRange range{std::max(block.begin, board_.una()), std::min(block.end, board_.next())};
    if (!range.empty()) tag_range(range, state);
  }
  sacks_before_ = blocks;
  if (state_ != CaState::loss || has_undo_) check_reordering(state.reorder, board_.fack());
}

void Sender::tag_range(const SegmentRange& range, AckState& state) {
  for (SegmentNumber number = range.begin; number < range.end;) {
    const auto said = std::find_if(sacks_before_.begin(), sacks_before_.end(), [&](const SegmentRange& each) {
      return each.begin <= number && number < each.end;
    });
    if (said != sacks_before_.end()) {
      number = said->end;
      continue;
    }
    if (!board_[number].is_sacked) sack(number, state);
    ++number;
  }
}

// tcp_sacktag_one
void Sender::sack(SegmentNumber number, AckState& state) {
  Segment& segment = board_[number];
  rack_.advance(number, segment, now_us_, rtt_.min_us());
  if (!segment.was_resent) {
    if (number < board_.fack()) state.reorder = std::min(state.reorder, number);
    if (number < high_) state.original_acked = true;
    if (state.first_sacked_us == 0) state.first_sacked_us = segment.sent_us;
    state.last_sacked_us = segment.sent_us;
  }
  board_.sack(number);
  state.data_sacked = true;
  rate_.count(1, state.has_ece);
  rate_.note(number, segment, state.sample);
}

// tcp_check_dsack, tcp_dsack_seen: segments that have arrived twice. They count as delivered.
bool Sender::check_dsack(const Acknowledgement& ack, AckState& state) {
  const SegmentRange& first = ack.sacks[0];
  const bool is_inside = ack.blocks > 1 && first.begin >= ack.sacks[1].begin && first.end <= ack.sacks[1].end;
  if (first.empty() || !(first.begin < ack.ack || is_inside)) return false;
  const auto segments = static_cast<std::uint32_t>(first.end - first.begin);
  dsacked_ += segments;
  if (dsacked_ > resent_) return true;  // what was never sent twice says nothing
  if (segments == 1 && has_probe_ && first.end == probe_high_) state.dsack_of_probe = true;
  if (rack_.saw_reordering() && !state.dsack_of_probe) rack_.note_dsack();
  state.dsacking = true;
  rate_.count(segments, state.has_ece);
  const bool counts = has_undo_ && undo_retrans_ > 0 && first.end > undo_marker_;
  if (counts) undo_retrans_ = std::max<std::int64_t>(0, undo_retrans_ - segments);
  return true;
}

// tcp_clean_rtx_queue: what the ACK covers in order.
void Sender::clean(const Acknowledgement& ack, AckState& state, SegmentNumber prior_fack) {
  SegmentNumber reorder = board_.next();
  for (SegmentNumber number = board_.una(); number < ack.ack; ++number) {
    Segment& segment = board_[number];
    if (segment.was_resent) {
      state.retrans_acked = true;
    } else if (!segment.is_sacked) {
      state.last_sent_us = segment.sent_us;
      if (state.first_sent_us == 0) state.first_sent_us = segment.sent_us;
      reorder = std::min(reorder, number);
      if (number < high_) state.original_acked = true;
    }
    if (!segment.is_sacked && settings_.sack) {
      rate_.count(1, state.has_ece);
      const bool needless = segment.was_resent && echo_ms_ != 0 && echo_ms_ < segment.sent_us / 1000;
      if (!needless) rack_.advance(number, segment, now_us_, rtt_.min_us());
    }
    rate_.note(number, segment, state.sample);
    board_.pop();
    ++state.acked;
    state.data_acked = true;
  }
  take_rtt(state);
  if (!settings_.sack) {
    settle_guess(state);
    // Whether the first transmission got through cannot be told any more.
    if (state.retrans_acked) state.original_acked = false;
  }
  if (state.data_acked) {
    state.set_timer = true;
    if (reorder < prior_fack && settings_.sack) check_reordering(reorder, board_.fack());
  }
  law_->on_acked(*this, state.acked, state.sample.rtt_us);
}

// tcp_accecn_process. An ACK that another has overtaken says nothing any more (RFC 9768, A.1).
void Sender::count_marks(const Acknowledgement& ack, AckState& state, std::uint32_t newly) {
  const bool is_later = static_cast<std::int32_t>(ack.stamp_ms - latest_stamp_ms_) > 0;
  if (is_later) latest_stamp_ms_ = ack.stamp_ms;
  if (newly == 0 && !is_later) return;
  const std::uint32_t marked = ce_count_.take(ack.ace, newly);
  rate_.count_marked(marked);
  state.has_ece = marked > 0;
}

void Sender::take_rtt(AckState& state) {
  std::int64_t in_order_us = -1;
  std::int64_t sacked_us = -1;
  std::int64_t law_us = -1;
  if (state.first_sent_us != 0 && !state.retrans_acked) {
    in_order_us = static_cast<std::int64_t>(now_us_ - state.first_sent_us);
    law_us = static_cast<std::int64_t>(now_us_ - state.last_sent_us);
  }
  if (state.first_sacked_us != 0) {
    sacked_us = static_cast<std::int64_t>(now_us_ - state.first_sacked_us);
    law_us = static_cast<std::int64_t>(now_us_ - state.last_sacked_us);
  }
  // tcp_ack_update_rtt: the time stamp's echo only where nothing else tells.
  if (in_order_us < 0) in_order_us = sacked_us;
  if (in_order_us < 0 && echo_ms_ != 0 && state.data_acked) {
    in_order_us = law_us =
        std::max<std::int64_t>(static_cast<std::int64_t>(now_us_ / 1000) - echo_ms_, 1) * 1000;
  }
  state.sample.rtt_us = law_us;
  if (in_order_us < 0) return;
  rtt_.observe_minimum(now_us_, static_cast<std::uint32_t>(law_us));
  rtt_.sample(static_cast<std::uint32_t>(in_order_us), board_.una(), board_.next());
  // A SACK of what was sent after the head shows that the head's timer may wait from now on.
  const bool is_later = board_.packets_out() > 0 && sacked_us >= 0 &&
                        sacked_us > static_cast<std::int64_t>(now_us_ - board_[board_.una()].sent_us);
  if (!state.data_acked && is_later) state.set_timer = true;
}

void Sender::check_reordering(SegmentNumber low, SegmentNumber fack) { rack_.note_reordering(low, fack); }

// tcp_cong_control
void Sender::control(const AckState& state) {
  if (law_->owns_window()) {
    law_->on_ack(*this, state.sample);
    return;
  }
  if (in_reduction()) {
    if (state.sample.acked_sacked > 0) {
      const bool is_clean = state.advanced && state.sample.losses == 0;
      set_cwnd(prr_.window(ssthresh_, board_.in_flight(), state.sample.acked_sacked, is_clean));
    }
  } else if (may_grow(state)) {
    law_->grow(*this, state.sample.acked_sacked);
  }
  update_pacing_rate();
}

// tcp_may_raise_cwnd: on paths that reorder every delivery counts, on others only what is in order.
bool Sender::may_grow(const AckState& state) const {
  const bool in_order = state.data_acked;
  return rack_.reordering() > DUPACK_THRESHOLD ? in_order || state.data_sacked : in_order;
}

// tcp_update_pacing_rate: without timers it bounds only what waits in this host.
void Sender::update_pacing_rate() {
  if (!rtt_.is_known()) return;
  const std::uint64_t percent =
      cwnd_ < ssthresh_ / 2 ? settings_.pacing_start_percent : settings_.pacing_percent;
  const std::uint64_t window = std::max(cwnd_, board_.packets_out());
  const std::uint64_t rate = settings_.mss_bytes * window * 8'000'000 / rtt_.srtt_us8() * percent / 100;
  pacing_bytes_per_s_ = std::min(rate, settings_.max_pacing_bytes_per_s);
}

}  // namespace clarion::sim
