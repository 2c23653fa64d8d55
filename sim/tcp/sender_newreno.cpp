// SPDX-License-Identifier: Apache-2.0
// Recovery without SACK (RFC 6582), as net/ipv4/tcp_input.c has it: each duplicate ACK is taken for a packet
// that has arrived, nobody knows which.
#include <algorithm>

#include "sender.hpp"

namespace clarion::sim {

// tcp_add_reno_sack
void Sender::guess_arrival(const AckState& state) {
  if (!state.is_dupack) return;
  const std::uint32_t before = board_.sacked_out();
  board_.guess_arrived(before + 1);
  limit_guess();
  if (board_.sacked_out() > before) rate_.count(board_.sacked_out() - before, state.has_ece);
}

// tcp_limit_reno_sacked: at least what is lost, or the head, has not arrived. More duplicates than that are
// reordering (tcp_check_reno_reordering).
void Sender::limit_guess() {
  const std::uint32_t out = board_.packets_out();
  const std::uint32_t holes = std::min(std::max(board_.lost_out(), 1U), out);
  if (board_.sacked_out() + holes <= out) return;
  board_.guess_arrived(out - holes);
  rack_.note_reordering(board_.una(), board_.una() + out);
}

// tcp_remove_reno_sacks: what is acknowledged in order now, but for the hole itself, was among those that
// arrived.
void Sender::settle_guess(const AckState& state) {
  if (state.acked == 0) return;
  const std::uint32_t guessed = board_.sacked_out();
  rate_.count(state.acked > guessed ? state.acked - guessed : 1, state.has_ece);
  board_.guess_arrived(state.acked - 1 >= guessed ? 0 : guessed - (state.acked - 1));
  limit_guess();
}

// tcp_newreno_mark_lost: three duplicates, and in recovery every ACK that does not cover all of it (RFC
// 6582, 3.2).
void Sender::mark_head_lost(const AckState& state) {
  const bool is_signal = state_ < CaState::recovery && board_.sacked_out() >= rack_.reordering();
  const bool is_partial = state_ == CaState::recovery && state.advanced;
  if (board_.packets_out() > 0 && (is_signal || is_partial) && !board_[board_.una()].is_lost) {
    mark_lost(board_.una());
  }
}

}  // namespace clarion::sim
