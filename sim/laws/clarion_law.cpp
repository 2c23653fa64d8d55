// SPDX-License-Identifier: Apache-2.0
#include "clarion_law.hpp"

#include <algorithm>

#include "sim/tcp/sender.hpp"

#define _Static_assert static_assert
#include "hosts/bpf/cc/boost.h"
#include "hosts/bpf/cc/fast.h"
#include "hosts/bpf/cc/xcp.h"
#undef _Static_assert

#define LAW xcp
#include "hosts/bpf/cc/calls.h"
#undef LAW
#define LAW boost
#include "hosts/bpf/cc/calls.h"
#undef LAW
#define LAW fast
#include "hosts/bpf/cc/calls.h"
#undef LAW

namespace clarion::sim {
namespace {

constexpr std::uint32_t ETHERNET_IP_BYTES = 14 + 20;
constexpr std::uint32_t TCP_HEADER_BYTES = 20 + 12;  // with time stamps

// As TCP_CA_* of the kernel.
std::uint8_t number_of(CaState state) { return static_cast<std::uint8_t>(state); }

// sample_socket() of glue.h
cc_sample sample_of(const Sender& sender, const flow& flow, std::uint8_t ca_state) {
  const Scoreboard& board = sender.board();
  const SenderSettings& settings = sender.settings();
  cc_sample s{};
  s.now_us = sender.now_us();
  s.mss_bytes = settings.mss_bytes;
  s.full_len_bytes = ETHERNET_IP_BYTES + CLARION_DATA_BYTES + TCP_HEADER_BYTES + settings.mss_bytes;
  s.srtt_us = sender.rtt().srtt_us();
  s.min_rtt_us = sender.rtt().min_us() == NO_RTT ? s.srtt_us : sender.rtt().min_us();
  s.delivered_packets = sender.rate().delivered();
  s.lost_packets = sender.lost();
  s.in_flight_packets = board.in_flight();
  s.outstanding_packets = board.packets_out();
  s.ce_packets = sender.rate().delivered_ce();
  s.local_drops = flow.stats.local_drops;
  s.is_limited = sender.receiver_room() == 0;
  s.is_open = sender.state() == CaState::open && board.sacked_out() == 0 && board.lost_out() == 0;
  s.in_recovery = ca_state == number_of(CaState::recovery) || ca_state == number_of(CaState::cwr);
  s.has_to_resend =
      ca_state == number_of(CaState::recovery) && board.lost_out() != 0 && board.retrans_out() == 0;
  s.saw_reordering = sender.rack().saw_reordering();
  s.has_feedback = flow.id.aware && !flow.id.plain;
  s.has_tags = s.has_feedback && flow.id.tags && flow.echo.nr_echoes != 0;
  return s;
}

// sample_ack() of glue.h
cc_sample sample_of(const Sender& sender, const RateSample& rate, const flow& flow, std::uint8_t ca_state) {
  cc_sample s = sample_of(sender, flow, ca_state);
  s.acked_packets = rate.acked_sacked;
  s.outstanding_packets += s.acked_packets;
  s.has_delivery = rate.delivered > 0;
  s.prior_delivered = rate.prior_delivered;
  s.is_retransmitted = rate.is_retrans;
  s.rtt_us = rate.rtt_us > 0 ? static_cast<std::uint32_t>(rate.rtt_us) : 0;
  s.is_limited |= static_cast<std::uint8_t>(rate.is_app_limited && !sender.is_window_marked_limited());
  return s;
}

// apply_control() of glue.h
void apply(Sender& sender, const cc_control& control) {
  sender.set_cwnd(control.cwnd_packets);
  sender.pace(control.is_paced != 0, control.bytes_per_s);
}

// ops.h. `Law` has the type of the state and what is called of one law (calls.h).
template <class Law>
class ClarionLaw final : public CongestionControl {
 public:
  ClarionLaw(flow& flow, const cc_params& params) : flow_(flow), params_(params) {}

  bool owns_window() const override { return true; }
  bool explains_reductions() const override { return true; }

  void start(Sender& sender) override {
    const cc_sample s = sample_of(sender, flow_, number_of(CaState::open));
    apply(sender, Law::start(&state_, &params_, &s, &flow_));
  }

  void on_ack(Sender& sender, const RateSample& rate) override {
    const std::uint32_t before = window_packets(&state_.w);
    cc_sample s = sample_of(sender, rate, flow_, state_.w.ca_state);
    Law::ack(&state_, &params_, &s, &flow_);
    report(sender, before);
    apply(sender, Law::control(&state_, &params_, &s));
  }

  void set_state(Sender& sender, CaState next) override {
    const std::uint32_t before = window_packets(&state_.w);
    cc_sample s = sample_of(sender, flow_, state_.w.ca_state);
    Law::state(&state_, &params_, &s, &flow_, number_of(next));
    report(sender, before);
    apply(sender, Law::control(&state_, &params_, &s));
  }

  void on_event(Sender& sender, CaEvent event) override {
    if (event != CaEvent::tx_start) return;
    cc_sample s = sample_of(sender, flow_, state_.w.ca_state);
    apply(sender, Law::tx_start(&state_, &params_, &s, &flow_));
  }

  std::uint32_t ssthresh(Sender& sender) override { return std::max(sender.cwnd() / 2, 2U); }
  std::uint32_t undo_cwnd(Sender& /*sender*/) override { return Law::undo(&state_); }

  void grow(Sender& /*sender*/, std::uint32_t /*acked*/) override {}
  void on_acked(Sender& /*sender*/, std::uint32_t /*packets*/, std::int64_t /*rtt_us*/) override {}

 private:
  // report_decision() of glue.h
  void report(Sender& sender, std::uint32_t before_packets) {
    if (flow_.decision == FLOW_NOT_REDUCED) return;
    sender.note_reduction(flow_.decision, before_packets, window_packets(&state_.w));
    flow_.decision = FLOW_NOT_REDUCED;
  }

  flow& flow_;
  const cc_params& params_;
  typename Law::State state_{};
};

#define CLARION_LAW(law)                                  \
  struct law##_functions {                                \
    using State = ::law;                                  \
    static constexpr auto start = law##_call_start;       \
    static constexpr auto ack = law##_call_ack;           \
    static constexpr auto state = law##_call_state;       \
    static constexpr auto tx_start = law##_call_tx_start; \
    static constexpr auto undo = law##_call_undo;         \
    static constexpr auto control = law##_control;        \
  };

CLARION_LAW(xcp)
CLARION_LAW(boost)
CLARION_LAW(fast)

struct ParamRange {
  const char* name;
  std::uint32_t cc_params::* member;
  std::uint32_t min;
  std::uint32_t max;
};

constexpr ParamRange PARAMS[] = {
#define CC_PARAM(name, value, min, max) {#name, &cc_params::name, min, max},
#include "hosts/bpf/cc/params.def"
#undef CC_PARAM
};

}  // namespace

std::unique_ptr<CongestionControl> make_clarion_law(const std::string& name, flow& flow,
                                                    const cc_params& params) {
  if (name == "clarion_xcp") return std::make_unique<ClarionLaw<xcp_functions>>(flow, params);
  if (name == "clarion_boost") return std::make_unique<ClarionLaw<boost_functions>>(flow, params);
  if (name == "clarion_fast") return std::make_unique<ClarionLaw<fast_functions>>(flow, params);
  return nullptr;
}

const cc_params& default_params() {
  static const cc_params params = [] {
    cc_params values{};
#define CC_PARAM(name, value, min, max) values.name = value;
#include "hosts/bpf/cc/params.def"
#undef CC_PARAM
    return values;
  }();
  return params;
}

bool set_param(cc_params& params, const std::string& name, std::uint32_t value) {
  for (const ParamRange& each : PARAMS) {
    if (name != each.name) continue;
    if (value < each.min || value > each.max) return false;
    params.*each.member = value;
    return true;
  }
  return false;
}

}  // namespace clarion::sim
