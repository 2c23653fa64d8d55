// SPDX-License-Identifier: Apache-2.0
#include "stack_law.hpp"

#include <algorithm>

#include "sim/tcp/sender.hpp"

#define _Static_assert static_assert
#include "hosts/bpf/cc/bbr.h"
#include "hosts/bpf/cc/cubic.h"
#include "hosts/bpf/cc/reno.h"
#include "hosts/bpf/cc/stack_laws.h"
#include "hosts/bpf/cc/vcp.h"
#undef _Static_assert

namespace clarion::sim {
namespace {

cc_stack stack_of(const Sender& sender) {
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
  tcp.lost = sender.lost();
  tcp.in_flight = sender.board().in_flight();
  tcp.ca_state = static_cast<std::uint8_t>(sender.state());
  tcp.is_cwnd_limited = sender.is_cwnd_limited();
  tcp.is_app_limited = sender.rate().is_app_limited();
  tcp.load_code = sender.load_code();
  return tcp;
}

stack_ack ack_of(const RateSample& rate) {
  stack_ack ack{};
  ack.interval_us = rate.interval_us;
  ack.rtt_us = rate.rtt_us;
  ack.delivered = rate.delivered;
  ack.prior_delivered = rate.prior_delivered;
  ack.prior_in_flight = rate.prior_in_flight;
  ack.losses = rate.losses;
  ack.acked_packets = rate.acked_sacked;
  ack.is_app_limited = rate.is_app_limited;
  return ack;
}

void apply(Sender& sender, const cc_stack& tcp) {
  sender.set_cwnd(tcp.cwnd);
  sender.set_ssthresh(tcp.ssthresh);
  sender.cwnd_count = tcp.cwnd_count;
}

// A law that leaves recovery to TCP. `Law` has the type of its state and its functions (stack.h).
template <class Law>
class StackLaw final : public CongestionControl {
 public:
  explicit StackLaw(const cc_params& params) : params_(params) {}

  bool owns_window() const override { return false; }
  void start(Sender& sender) override {
    const cc_stack tcp = stack_of(sender);
    Law::init(&state_, &params_, &tcp);
  }
  void grow(Sender& sender, std::uint32_t acked) override {
    cc_stack tcp = stack_of(sender);
    Law::grow(&state_, &params_, &tcp, acked);
    apply(sender, tcp);
  }
  void on_acked(Sender& sender, std::uint32_t packets, std::int64_t rtt_us) override {
    cc_stack tcp = stack_of(sender);
    Law::on_acked(&state_, &params_, &tcp, packets, rtt_us);
    apply(sender, tcp);
  }
  std::uint32_t ssthresh(Sender& sender) override {
    const cc_stack tcp = stack_of(sender);
    return Law::ssthresh(&state_, &params_, &tcp);
  }
  std::uint32_t undo_cwnd(Sender& sender) override {
    const cc_stack tcp = stack_of(sender);
    return Law::undo(&state_, &params_, &tcp);
  }
  void set_state(Sender& sender, CaState next) override {
    cc_stack tcp = stack_of(sender);
    Law::on_state(&state_, &params_, &tcp, static_cast<std::uint8_t>(next));
    apply(sender, tcp);
  }
  void on_event(Sender& sender, CaEvent event) override {
    cc_stack tcp = stack_of(sender);
    Law::on_event(&state_, &params_, &tcp, static_cast<std::uint8_t>(event));
    apply(sender, tcp);
  }
  void on_ack(Sender& /*sender*/, const RateSample& /*sample*/) override {}

 private:
  const cc_params& params_;
  typename Law::State state_{};
};

#define STACK_LAW(law, name)                        \
  struct law##_functions {                          \
    using State = ::law;                            \
    static constexpr auto init = law##_init;         \
    static constexpr auto grow = law##_grow;         \
    static constexpr auto on_acked = law##_on_acked; \
    static constexpr auto ssthresh = law##_ssthresh; \
    static constexpr auto undo = law##_undo;         \
    static constexpr auto on_state = law##_on_state; \
    static constexpr auto on_event = law##_on_event; \
  };
STACK_LAW(cubic, "cubic")
STACK_LAW(reno, "reno")
STACK_LAW(vcp, "vcp")
#include "hosts/bpf/cc/stack_laws.def"
#undef STACK_LAW

class Bbr final : public CongestionControl {
 public:
  explicit Bbr(std::uint32_t seed) : seed_(seed) {}

  bool owns_window() const override { return true; }
  void start(Sender& sender) override {
    cc_stack tcp = stack_of(sender);
    bbr_init(&state_, &tcp, seed_);
    control(sender, tcp);
  }
  void on_ack(Sender& sender, const RateSample& rate) override {
    cc_stack tcp = stack_of(sender);
    const stack_ack ack = ack_of(rate);
    if (bbr_on_ack(&state_, &tcp, &ack)) sender.mark_app_limited();
    control(sender, tcp);
  }
  void set_state(Sender& sender, CaState next) override {
    if (next != CaState::loss) return;
    const cc_stack tcp = stack_of(sender);
    bbr_on_timeout(&state_, &tcp);
  }
  void on_event(Sender& sender, CaEvent event) override {
    if (event != CaEvent::tx_start) return;
    cc_stack tcp = stack_of(sender);
    bbr_on_tx_start(&state_, &tcp);
    control(sender, tcp);
  }
  std::uint32_t ssthresh(Sender& sender) override {
    const cc_stack tcp = stack_of(sender);
    return bbr_ssthresh(&state_, &tcp);
  }
  std::uint32_t undo_cwnd(Sender& sender) override {
    const cc_stack tcp = stack_of(sender);
    return bbr_undo(&state_, &tcp);
  }
  void grow(Sender& /*sender*/, std::uint32_t /*acked*/) override {}
  void on_acked(Sender& /*sender*/, std::uint32_t /*packets*/, std::int64_t /*rtt_us*/) override {}

 private:
  static void control(Sender& sender, const cc_stack& tcp) {
    apply(sender, tcp);
    sender.pace(true, tcp.pacing_bytes_per_s);
  }

  bbr state_{};
  std::uint32_t seed_;
};

template <class Law>
std::unique_ptr<CongestionControl> make(const cc_params& params) {
  return std::make_unique<StackLaw<Law>>(params);
}

struct Entry {
  const char* name;
  std::unique_ptr<CongestionControl> (*make)(const cc_params& params);
};

constexpr Entry STACK_LAWS[] = {
#define STACK_LAW(law, name) {name, make<law##_functions>},
    STACK_LAW(cubic, "cubic") STACK_LAW(reno, "reno") STACK_LAW(vcp, "vcp")
#include "hosts/bpf/cc/stack_laws.def"
#undef STACK_LAW
};

}  // namespace

std::unique_ptr<CongestionControl> make_stack_law(const std::string& name, const cc_params& params,
                                                  std::uint32_t seed) {
  if (name == "bbr") return std::make_unique<Bbr>(seed);
  for (const Entry& each : STACK_LAWS) {
    if (name == each.name) return each.make(params);
  }
  return nullptr;
}

std::vector<std::string> stack_laws() {
  std::vector<std::string> names = {"bbr"};
  for (const Entry& each : STACK_LAWS) names.emplace_back(each.name);
  return names;
}

}  // namespace clarion::sim
