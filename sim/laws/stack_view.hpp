// SPDX-License-Identifier: Apache-2.0
// What a law in the second form (hosts/bpf/cc/stack.h) sees of a simulated sender, and what it changes: what
// stack_glue.h there is for the kernel.
#pragma once

#include "sim/tcp/sender.hpp"

#define _Static_assert static_assert
#include "hosts/bpf/cc/stack.h"
#undef _Static_assert

namespace clarion::sim {

inline cc_stack stack_of(const Sender& sender) {
  static_assert(STACK_NO_RTT == NO_RTT && STACK_INFINITE_SSTHRESH == INFINITE_SSTHRESH);
  const SenderSettings& settings = sender.settings();
  cc_stack tcp{};
  tcp.cwnd = sender.cwnd();
  tcp.ssthresh = sender.ssthresh();
  tcp.cwnd_count = sender.cwnd_count;
  tcp.pacing_bytes_per_s = sender.pacing_bytes_per_s();
  tcp.max_pacing_bytes_per_s = settings.max_pacing_bytes_per_s;
  tcp.cwnd_clamp = settings.cwnd_clamp;
  tcp.mss_bytes = settings.mss_bytes;
  tcp.now_us = sender.now_us();
  tcp.last_sent_us = sender.now_us() - sender.idle_us();
  tcp.delivered_us = sender.rate().delivered_us();
  tcp.paced_ahead_us = static_cast<std::uint32_t>(sender.paced_ahead_us());
  tcp.srtt_us = sender.rtt().srtt_us();
  tcp.min_rtt_us = sender.rtt().min_us();
  tcp.una = static_cast<std::uint32_t>(sender.board().una());
  tcp.next = static_cast<std::uint32_t>(sender.board().next());
  tcp.delivered = sender.rate().delivered();
  tcp.delivered_ce = sender.rate().delivered_ce();
  tcp.lost = sender.lost();
  tcp.in_flight = sender.board().in_flight();
  tcp.ca_state = static_cast<std::uint8_t>(sender.state());
  tcp.is_cwnd_limited = sender.is_cwnd_limited();
  tcp.is_app_limited = sender.rate().is_app_limited();
  tcp.load_code = sender.load_code();
  tcp.told_link = sender.told_link();
  tcp.told_word = sender.told_word();
  tcp.controlling_link = sender.controlling_link;
  return tcp;
}

inline stack_ack ack_of(const RateSample& rate) {
  stack_ack ack{};
  ack.interval_us = rate.interval_us;
  ack.rtt_us = rate.rtt_us;
  ack.delivered = rate.delivered;
  ack.prior_delivered = rate.prior_delivered;
  ack.prior_in_flight = rate.prior_in_flight;
  ack.losses = rate.losses;
  ack.acked_packets = rate.acked_sacked;
  ack.is_app_limited = rate.is_app_limited;
  ack.has_echo = rate.has_echo;
  ack.is_of_probe = rate.is_of_probe;
  ack.sent_in_flight = rate.sent_in_flight;
  ack.lost = rate.lost;
  ack.delivered_ce = rate.delivered_ce;
  return ack;
}

inline void apply(Sender& sender, const cc_stack& tcp) {
  sender.set_cwnd(tcp.cwnd);
  sender.set_ssthresh(tcp.ssthresh);
  sender.cwnd_count = tcp.cwnd_count;
  sender.controlling_link = tcp.controlling_link;
}

// Of a law that sets the pacing rate itself.
inline void control(Sender& sender, const cc_stack& tcp) {
  apply(sender, tcp);
  sender.pace(true, tcp.pacing_bytes_per_s);
}

}  // namespace clarion::sim
