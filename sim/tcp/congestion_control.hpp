// SPDX-License-Identifier: Apache-2.0
// What decides a sender's window: Linux's tcp_congestion_ops as the simulated TCP calls it.
#pragma once

#include <cstdint>
#include <optional>

#include "delivery_rate.hpp"
#include "types.hpp"

namespace clarion::sim {

class Sender;

// enum tcp_ca_event of include/net/tcp.h. `probe_recovery` is of Google's kernel: a loss probe has repaired a
// loss.
enum class CaEvent : std::uint8_t { tx_start, cwnd_restart, complete_cwr, loss, probe_recovery = 6 };

class CongestionControl {
 public:
  virtual ~CongestionControl() = default;

  // The connection is established.
  virtual void start(Sender& sender) = 0;

  // Whether it sets window and pacing rate at every ACK by itself (cong_control). The stack then does not
  // reduce, grow or pace; it still sets the window at a timeout and at an undo.
  virtual bool owns_window() const = 0;

  // Whether it is scalable (RFC 9331): it wants accurate ECN, and its packets say so to the routers.
  virtual bool is_scalable() const { return false; }

  // Whether it wants the load codes of VCP's routers, in the bits of ECN.
  virtual bool takes_load_codes() const { return false; }

  // What its data says to routers of JetMax or MaxNet before one has seen it; none: it has no use for them.
  virtual std::optional<std::uint32_t> first_word() const { return std::nullopt; }

  // Segments that may go down to the device in one piece (tso_segs); 0: as many as TCP chooses.
  virtual std::uint32_t piece_segments(const Sender& /*sender*/) const { return 0; }

  // Whether it reports each reduction with its reason itself (Sender::note_reduction).
  virtual bool explains_reductions() const { return false; }

  // After every ACK, if it owns the window.
  virtual void on_ack(Sender& sender, const RateSample& sample) = 0;

  // If it does not: `acked` packets, while nothing reduces the window (cong_avoid).
  virtual void grow(Sender& sender, std::uint32_t acked) = 0;

  // After every ACK (pkts_acked): segments acknowledged in order, maybe none; `rtt_us` is -1 without a
  // sample.
  virtual void on_acked(Sender& sender, std::uint32_t packets, std::int64_t rtt_us) = 0;

  // Whether a loss that duplicate ACKs show is answered as a timeout is, but without back-off: from one
  // packet on, all that was sent counts as lost, and nothing gives the window back.
  virtual bool restarts_after_loss() const { return false; }

  // What a loss leaves of the window.
  virtual std::uint32_t ssthresh(Sender& sender) = 0;

  // The window after a reduction that was a mistake.
  virtual std::uint32_t undo_cwnd(Sender& sender) = 0;

  // Before the state changes.
  virtual void set_state(Sender& sender, CaState next) = 0;
  virtual void on_event(Sender& sender, CaEvent event) = 0;

  // A segment has been marked lost, or its retransmission has; its stamp is of that transmission
  // (skb_marked_lost of Google's kernel).
  virtual void on_lost(Sender& /*sender*/, const Segment& /*segment*/) {}
};

}  // namespace clarion::sim
