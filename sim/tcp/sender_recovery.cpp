// SPDX-License-Identifier: Apache-2.0
// Loss recovery: the states of net/ipv4/tcp_input.c (tcp_fastretrans_alert and what it calls), F-RTO
// (RFC 5682) and the undo of needless reductions (Eifel, RFC 3522 and 4015; D-SACK, RFC 3708).
#include <algorithm>

#include "sender.hpp"
#include "sim/hosts/bpf_headers.hpp"

namespace clarion::sim {

// tcp_ack_is_dubious
bool Sender::is_dubious(const AckState& state) const {
  return !state.is_not_dup() || state.data_sacked || state.has_ece || state.dsacking ||
         state_ != CaState::open;
}

// tcp_fastretrans_alert
Sender::Resend Sender::alert(AckState& state) {
  if (!settings_.sack && board_.packets_out() == 0) board_.guess_arrived(0);
  if (state.has_ece) prior_ssthresh_ = 0;
  if (state_ == CaState::open) {
    retrans_stamp_ms_ = 0;
  } else if (board_.una() >= high_ && !leave_finished_state()) {
    return Resend::none;
  }
  switch (state_) {
    case CaState::recovery:
      return in_recovery(state);
    case CaState::loss:
      return in_loss(state);
    default:
      return in_order(state);
  }
}

// False: the old state is kept until something beyond it is acknowledged.
bool Sender::leave_finished_state() {
  if (state_ == CaState::cwr && board_.una() != high_) {  // only beyond it the receiver has seen CWR
    end_reduction();
    change_state(CaState::open);
  } else if (state_ == CaState::recovery) {
    if (!settings_.sack) board_.guess_arrived(0);
    if (!try_undo_recovery()) return false;
    end_reduction();
  }
  return true;
}

Sender::Resend Sender::in_recovery(AckState& state) {
  if (!state.advanced && !settings_.sack) guess_arrival(state);
  if (state.advanced && try_undo_partial(state)) return Resend::none;
  if (try_undo_dsack()) try_to_open(state);
  identify_losses(state);
  if (state_ != CaState::recovery) {
    if (!needs_recovery()) return Resend::none;
    enter_recovery(state.has_ece);
  }
  return Resend::lost;
}

Sender::Resend Sender::in_order(AckState& state) {
  if (!settings_.sack) {
    if (state.advanced) board_.guess_arrived(0);
    guess_arrival(state);
  }
  if (state_ <= CaState::disorder) try_undo_dsack();
  identify_losses(state);
  if (!needs_recovery()) {
    try_to_open(state);
    return Resend::none;
  }
  enter_recovery(state.has_ece);
  return Resend::lost;
}

// tcp_process_loss, with the sack-enhanced F-RTO: what was never resent and gets through proves the timeout
// needless.
Sender::Resend Sender::in_loss(AckState& state) {
  Resend resend = Resend::none;
  const bool recovered = board_.una() >= high_;
  const auto judge = [&] {
    if (state.advanced && try_undo_loss(false)) return;
    if (frto_) {
      if (state.original_acked && try_undo_loss(true)) return;
      if (board_.next() > high_) {
        if (state.data_sacked || state.is_dupack) frto_ = false;
      } else if (state.advanced && !recovered) {
        high_ = board_.next();
        if (unsent() > 0 && receiver_room() > 0) {
          resend = Resend::new_data;
          return;
        }
        frto_ = false;
      }
    }
    if (recovered) {
      try_undo_recovery();
      return;
    }
    if (!settings_.sack && board_.next() > high_ && state.is_dupack) {
      guess_arrival(state);
    } else if (!settings_.sack && state.advanced) {
      board_.guess_arrived(0);
    }
    resend = Resend::lost;
  };
  judge();
  identify_losses(state);
  if (state_ != CaState::open && !state.retrans_lost) return resend;
  return in_order(state);
}

// tcp_identify_packet_loss, tcp_rack_mark_lost
void Sender::identify_losses(AckState& state) {
  if (!settings_.sack) return mark_head_lost(state);
  if (board_.packets_out() == 0 || !rack_.take_news()) return;
  const std::uint32_t resent_before = board_.retrans_out();
  const bool is_impatient = state_ >= CaState::recovery || board_.sacked_out() >= rack_.reordering();
  const std::uint32_t window_us = rack_.window_us(rtt_.min_us(), rtt_.srtt_us(), is_impatient);
  const Microseconds wait_us =
      rack_.detect(board_, now_us_, window_us, [this](SegmentNumber number) { note_lost(number); });
  if (wait_us > 0) {
    set_timer(Timer::reordering, std::min(wait_us + TIMEOUT_MIN_US, rtt_.rto_us()));
    state.set_timer = false;
  }
  if (board_.retrans_out() < resent_before) state.retrans_lost = true;
}

void Sender::mark_lost(SegmentNumber number) {
  if (board_.mark_lost(number)) note_lost(number);
}

// tcp_notify_skb_loss_event
void Sender::note_lost(SegmentNumber number) {
  ++lost_;
  law_->on_lost(*this, board_[number]);
}

// tcp_enter_recovery
void Sender::enter_recovery(bool with_echo) {
  if (law_->restarts_after_loss()) return restart();
  if (!any_resent()) retrans_stamp_ms_ = 0;
  prior_ssthresh_ = 0;
  begin_undo();
  if (!in_reduction()) {
    if (!with_echo) prior_ssthresh_ = current_ssthresh();
    begin_reduction();
  }
  change_state(CaState::recovery);
}

// tcp_enter_cwr: a congestion mark, or a tail loss that a probe repaired.
void Sender::enter_cwr() {
  prior_ssthresh_ = 0;
  if (state_ >= CaState::cwr) return;
  has_undo_ = false;
  begin_reduction();
  change_state(CaState::cwr);
}

// tcp_enter_loss
void Sender::enter_loss() {
  const bool is_new = state_ < CaState::recovery;
  mark_timed_out();
  if (state_ <= CaState::disorder || high_ <= board_.una() ||
      (state_ == CaState::loss && retransmits_ == 0)) {
    prior_ssthresh_ = current_ssthresh();
    ssthresh_ = law_->ssthresh(*this);
    law_->on_event(*this, CaEvent::loss);
    begin_undo();
  }
  if (state_ <= CaState::disorder && board_.sacked_out() >= DUPACK_THRESHOLD) rack_.forget_reordering();
  const std::uint32_t cwnd = board_.in_flight() + 1;
  cwnd_count = 0;
  cwnd_stamp_us_ = now_us_;
  set_cwnd(cwnd);
  change_state(CaState::loss);
  high_ = board_.next();
  has_probe_ = false;
  cwr_queued_ = settings_.ecn;
  frto_ = is_new || retransmits_ > 0;
  if (!law_->restarts_after_loss()) return;
  frto_ = false;
  has_undo_ = false;
}

// Slow start once more, without waiting for the timer (Tahoe).
void Sender::restart() {
  note_reduction(FLOW_LOSS, cwnd_, 1);
  enter_loss();
}

// tcp_timeout_mark_lost: all but what was sent so recently that it may still arrive. A law that restarts goes
// back to the head.
void Sender::mark_timed_out() {
  if (!settings_.sack) board_.guess_arrived(0);
  const bool spares = !law_->restarts_after_loss();
  for (SegmentNumber number = board_.una(); number < board_.next(); ++number) {
    const bool is_recent = spares && rack_.timeout_us(board_[number], now_us_, 0) > 0;
    if (number == board_.una() || !is_recent) mark_lost(number);
  }
}

// tcp_init_cwnd_reduction
void Sender::begin_reduction() {
  high_ = board_.next();
  has_probe_ = false;
  cwnd_count = 0;
  prr_.begin(cwnd_);
  ssthresh_ = law_->ssthresh(*this);
  revert_quick_start();
  cwr_queued_ = settings_.ecn;
}

// tcp_end_cwnd_reduction
void Sender::end_reduction() {
  if (law_->owns_window()) return;
  if (ssthresh_ < INFINITE_SSTHRESH && (state_ == CaState::cwr || has_undo_)) {
    set_cwnd(ssthresh_);
    cwnd_stamp_us_ = now_us_;
  }
  go_on_after_quick_start();
  law_->on_event(*this, CaEvent::complete_cwr);
}

// tcp_current_ssthresh
std::uint32_t Sender::current_ssthresh() const {
  if (in_reduction()) return ssthresh_;
  return std::max(ssthresh_, (cwnd_ >> 1) + (cwnd_ >> 2));
}

// tcp_init_undo: what is under way once more may still be reported as come twice, a probe too.
void Sender::begin_undo() {
  has_undo_ = true;
  undo_marker_ = board_.una();
  const bool probes = has_probe_ && probe_was_resent_;
  undo_retrans_ = std::int64_t{board_.retrans_out()} + (probes ? 1 : 0);
  if (undo_retrans_ == 0) undo_retrans_ = -1;
}

bool Sender::may_undo() const { return has_undo_ && (undo_retrans_ == 0 || was_delayed()); }

// The ACK was sent before the first retransmission could have caused it, or nothing has been resent yet
// (tcp_packet_delayed).
bool Sender::was_delayed() const {
  if (retrans_stamp_ms_ != 0) return echo_ms_ != 0 && echo_ms_ < retrans_stamp_ms_;
  return settings_.sack || board_.una() < high_;
}

// tcp_undo_cwnd_reduction
void Sender::undo(bool forgets_losses) {
  if (forgets_losses) board_.unmark_losses();
  if (prior_ssthresh_ != 0) {
    set_cwnd(law_->undo_cwnd(*this));
    if (prior_ssthresh_ > ssthresh_) {
      ssthresh_ = prior_ssthresh_;
      cwr_queued_ = false;
    }
  }
  cwnd_stamp_us_ = now_us_;
  has_undo_ = false;
  rack_.reexamine();
}

bool Sender::try_undo_recovery() {
  if (may_undo()) {
    undo(false);
  } else {
    rack_.recovery_over();
  }
  // Without SACK duplicates of what recovery has resent must not start another (RFC 6582, 4.1;
  // tcp_is_non_sack_preventing_reopen).
  if (!settings_.sack && board_.una() == high_) {
    if (!any_resent()) retrans_stamp_ms_ = 0;
    return false;
  }
  change_state(CaState::open);
  return true;
}

// True: nothing more is to be marked or resent before the retransmissions under way are accounted for.
bool Sender::try_undo_partial(const AckState& state) {
  if (!has_undo_ || !was_delayed()) return false;
  check_reordering(state.prior_una, board_.fack());
  if (board_.retrans_out() > 0) return true;
  if (!any_resent()) retrans_stamp_ms_ = 0;
  undo(true);
  keep_open();
  return false;
}

bool Sender::try_undo_dsack() {
  if (!has_undo_ || undo_retrans_ != 0) return false;
  rack_.undone();
  undo(false);
  return true;
}

bool Sender::try_undo_loss(bool by_frto) {
  if (!by_frto && !may_undo()) return false;
  undo(true);
  retransmits_ = 0;
  if (by_frto || settings_.sack) change_state(CaState::open);
  return true;
}

void Sender::try_to_open(const AckState& state) {
  if (!any_resent()) retrans_stamp_ms_ = 0;
  if (state.has_ece) enter_cwr();
  if (state_ != CaState::cwr) keep_open();
}

// tcp_try_keep_open
void Sender::keep_open() {
  const bool is_out_of_order = board_.sacked_out() > 0 || board_.lost_out() > 0 || any_resent();
  const CaState next = is_out_of_order ? CaState::disorder : CaState::open;
  if (state_ == next) return;
  change_state(next);
  high_ = board_.next();
}

// tcp_any_retrans_done
bool Sender::any_resent() const {
  return board_.retrans_out() > 0 || (board_.packets_out() > 0 && board_[board_.una()].was_resent);
}

// tcp_process_tlp_ack: did a probe repair a loss, which then counts as congestion (RFC 8985, 7.4)?
void Sender::process_probe_ack(const Acknowledgement& ack, AckState& state) {
  if (ack.ack < probe_high_) return;
  if (!probe_was_resent_ || state.dsack_of_probe) {
    has_probe_ = false;
  } else if (ack.ack > probe_high_) {
    law_->on_event(*this, CaEvent::probe_recovery);
    begin_reduction();
    change_state(CaState::cwr);
    end_reduction();
    keep_open();
  } else if (!state.advanced && !state.is_not_dup() && !state.data_sacked) {
    has_probe_ = false;
  } else {
    state.sample.is_of_probe = true;
  }
}

// What a law does not explain shows as a change of state (hosts/bpf/decisions.bpf.c).
void Sender::explain_reduction(CaState next) {
  if (law_->explains_reductions() || next < CaState::cwr || next == state_) return;
  if (state_ >= CaState::cwr || next == CaState::loss) return;
  note_reduction(next == CaState::cwr ? FLOW_ECN : FLOW_LOSS, cwnd_, ssthresh_);
}

void Sender::change_state(CaState next) {
  explain_reduction(next);
  law_->set_state(*this, next);
  state_ = next;
}

}  // namespace clarion::sim
