// SPDX-License-Identifier: Apache-2.0
#include "stack_law.hpp"

#include <algorithm>

#include "sim/tcp/sender.hpp"

#define _Static_assert static_assert
#include "hosts/bpf/cc/bbr.h"
#include "hosts/bpf/cc/cubic.h"
#include "hosts/bpf/cc/reno.h"
#undef _Static_assert

namespace clarion::sim {
namespace {

std::uint32_t known(std::uint32_t rtt_us) { return rtt_us == NO_RTT ? 0 : rtt_us; }

cc_stack stack_of(const Sender& sender) {
  cc_stack tcp{};
  tcp.cwnd = sender.cwnd();
  tcp.ssthresh = sender.ssthresh();
  tcp.cwnd_count = sender.cwnd_count;
  tcp.cwnd_clamp = sender.settings().cwnd_clamp;
  tcp.now_us = sender.now_us();
  tcp.last_sent_us = sender.now_us() - sender.idle_us();
  tcp.pacing_bytes_per_s = sender.pacing_bytes_per_s();
  tcp.una = static_cast<std::uint32_t>(sender.board().una());
  tcp.next = static_cast<std::uint32_t>(sender.board().next());
  tcp.is_cwnd_limited = sender.is_cwnd_limited();
  return tcp;
}

void apply(Sender& sender, const cc_stack& tcp) {
  sender.set_cwnd(tcp.cwnd);
  sender.set_ssthresh(tcp.ssthresh);
  sender.cwnd_count = tcp.cwnd_count;
}

// Without acknowledgements or pauses to watch.
class Reno final : public CongestionControl {
 public:
  bool owns_window() const override { return false; }
  void start(Sender& sender) override {
    const cc_stack tcp = stack_of(sender);
    reno_init(&state_, &tcp);
  }
  void grow(Sender& sender, std::uint32_t acked) override {
    cc_stack tcp = stack_of(sender);
    reno_grow(&state_, &tcp, acked);
    apply(sender, tcp);
  }
  std::uint32_t ssthresh(Sender& sender) override {
    const cc_stack tcp = stack_of(sender);
    return reno_ssthresh(&state_, &tcp);
  }
  std::uint32_t undo_cwnd(Sender& sender) override {
    const cc_stack tcp = stack_of(sender);
    return reno_undo(&state_, &tcp);
  }
  void on_ack(Sender& /*sender*/, const RateSample& /*sample*/) override {}
  void on_acked(Sender& /*sender*/, std::uint32_t /*packets*/, std::int64_t /*rtt_us*/) override {}
  void set_state(Sender& /*sender*/, CaState /*next*/) override {}
  void on_event(Sender& /*sender*/, CaEvent /*event*/) override {}

 private:
  reno state_{};
};

class Cubic final : public CongestionControl {
 public:
  bool owns_window() const override { return false; }
  void start(Sender& sender) override {
    const cc_stack tcp = stack_of(sender);
    cubic_init(&state_, &tcp);
  }
  void grow(Sender& sender, std::uint32_t acked) override {
    cc_stack tcp = stack_of(sender);
    cubic_grow(&state_, &tcp, acked);
    apply(sender, tcp);
  }
  void on_acked(Sender& sender, std::uint32_t /*packets*/, std::int64_t rtt_us) override {
    if (rtt_us < 0) return;
    cc_stack tcp = stack_of(sender);
    cubic_on_acked(&state_, &tcp, static_cast<std::uint32_t>(rtt_us));
    apply(sender, tcp);
  }
  std::uint32_t ssthresh(Sender& sender) override {
    const cc_stack tcp = stack_of(sender);
    return cubic_ssthresh(&state_, &tcp);
  }
  std::uint32_t undo_cwnd(Sender& sender) override {
    const cc_stack tcp = stack_of(sender);
    return cubic_undo(&state_, &tcp);
  }
  void set_state(Sender& sender, CaState next) override {
    if (next != CaState::loss) return;
    const cc_stack tcp = stack_of(sender);
    cubic_on_timeout(&state_, &tcp);
  }
  void on_event(Sender& sender, CaEvent event) override {
    if (event != CaEvent::tx_start) return;
    const cc_stack tcp = stack_of(sender);
    cubic_on_tx_start(&state_, &tcp);
  }
  void on_ack(Sender& /*sender*/, const RateSample& /*sample*/) override {}

 private:
  cubic state_{};
};

class Bbr final : public CongestionControl {
 public:
  explicit Bbr(std::uint32_t seed) : seed_(seed) {}

  bool owns_window() const override { return true; }
  void start(Sender& sender) override {
    const cc_sample s = sample_of(sender, nullptr);
    bbr_init(&state_, &s, sender.cwnd(), seed_);
    control(sender);
  }
  void on_ack(Sender& sender, const RateSample& rate) override {
    const cc_sample s = sample_of(sender, &rate);
    std::uint64_t bw = 0;
    if (rate.delivered > 0 && rate.interval_us > 0) {
      bw = (static_cast<std::uint64_t>(rate.delivered) << BBR_BW_SHIFT) /
           static_cast<std::uint64_t>(rate.interval_us);
    }
    state_.cwnd = sender.cwnd();
    if (bbr_on_ack(&state_, &s, bw, rate.is_app_limited, rate.prior_in_flight)) sender.mark_app_limited();
    control(sender);
  }
  void set_state(Sender& sender, CaState next) override {
    const bool recovers = next >= CaState::recovery;
    state_.cwnd = sender.cwnd();
    if (next == CaState::loss) {
      bbr_on_timeout(&state_);
    } else if (recovers && !state_.in_recovery) {
      const cc_sample s = sample_of(sender, nullptr);
      bbr_on_enter_recovery(&state_, &s);
    } else if (!recovers && state_.in_recovery) {
      bbr_on_exit_recovery(&state_);
    }
    control(sender);
  }
  void on_event(Sender& sender, CaEvent event) override {
    if (event != CaEvent::tx_start) return;
    const cc_sample s = sample_of(sender, nullptr);
    bbr_on_tx_start(&state_, &s, sender.rate().is_app_limited());
    control(sender);
  }
  std::uint32_t ssthresh(Sender& sender) override {
    bbr_save_cwnd(&state_);
    return sender.ssthresh();
  }
  std::uint32_t undo_cwnd(Sender& /*sender*/) override { return bbr_undo(&state_); }
  void grow(Sender& /*sender*/, std::uint32_t /*acked*/) override {}
  void on_acked(Sender& /*sender*/, std::uint32_t /*packets*/, std::int64_t /*rtt_us*/) override {}

 private:
  static cc_sample sample_of(const Sender& sender, const RateSample* rate) {
    cc_sample s{};
    s.now_us = sender.now_us();
    s.mss_bytes = sender.settings().mss_bytes;
    s.srtt_us = sender.rtt().srtt_us();
    s.min_rtt_us = known(sender.rtt().min_us());
    s.delivered_packets = sender.rate().delivered();
    s.lost_packets = sender.lost();
    s.in_flight_packets = sender.board().in_flight();
    if (rate == nullptr) return s;
    s.acked_packets = rate->acked_sacked;
    s.has_delivery = rate->delivered > 0;
    s.prior_delivered = rate->prior_delivered;
    s.rtt_us = rate->rtt_us > 0 ? static_cast<std::uint32_t>(rate->rtt_us) : 0;
    return s;
  }

  void control(Sender& sender) {
    sender.set_cwnd(state_.cwnd);
    sender.pace(true, state_.pacing_bytes_per_s);
  }

  bbr state_{};
  std::uint32_t seed_;
};

}  // namespace

std::unique_ptr<CongestionControl> make_kernel_law(const std::string& name, std::uint32_t seed) {
  if (name == "reno") return std::make_unique<Reno>();
  if (name == "cubic") return std::make_unique<Cubic>();
  if (name == "bbr") return std::make_unique<Bbr>(seed);
  return nullptr;
}

}  // namespace clarion::sim
