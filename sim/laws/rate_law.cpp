// SPDX-License-Identifier: Apache-2.0
#include "rate_law.hpp"

#include "stack_view.hpp"

#define _Static_assert static_assert
#include "hosts/bpf/cc/bbr.h"
#include "hosts/bpf/cc/bbr3.h"
#include "hosts/bpf/cc/jetmax.h"
#include "hosts/bpf/cc/keshav.h"
#include "hosts/bpf/cc/maxnet.h"
#include "hosts/bpf/cc/pcc.h"
#include "hosts/bpf/cc/prague.h"
#undef _Static_assert

namespace clarion::sim {
namespace {

// A law that sets window and pacing rate itself.
class WindowOwner : public CongestionControl {
 public:
  bool owns_window() const override { return true; }
  void grow(Sender& /*sender*/, std::uint32_t /*acked*/) override {}
  void on_acked(Sender& /*sender*/, std::uint32_t /*packets*/, std::int64_t /*rtt_us*/) override {}

 protected:
  static void control(Sender& sender, const cc_stack& tcp) {
    apply(sender, tcp);
    sender.pace(true, tcp.pacing_bytes_per_s);
  }
};

template <class Law>
class RateLaw final : public WindowOwner {
 public:
  explicit RateLaw(std::uint32_t seed) : seed_(seed) {}

  void start(Sender& sender) override {
    cc_stack tcp = stack_of(sender);
    Law::init(&state_, &tcp, seed_);
    control(sender, tcp);
  }
  void on_ack(Sender& sender, const RateSample& rate) override {
    cc_stack tcp = stack_of(sender);
    const stack_ack ack = ack_of(rate);
    if (Law::on_ack(&state_, &tcp, &ack)) sender.mark_app_limited();
    control(sender, tcp);
  }
  void set_state(Sender& sender, CaState next) override {
    if (next != CaState::loss) return;
    const cc_stack tcp = stack_of(sender);
    Law::on_timeout(&state_, &tcp);
  }
  void on_event(Sender& sender, CaEvent event) override {
    if (event != CaEvent::tx_start) return;
    cc_stack tcp = stack_of(sender);
    Law::on_tx_start(&state_, &tcp);
    control(sender, tcp);
  }
  std::uint32_t ssthresh(Sender& sender) override {
    const cc_stack tcp = stack_of(sender);
    return Law::ssthresh(&state_, &tcp);
  }
  std::uint32_t undo_cwnd(Sender& sender) override {
    const cc_stack tcp = stack_of(sender);
    return Law::undo(&state_, &tcp);
  }

 private:
  typename Law::State state_{};
  std::uint32_t seed_;
};

class Bbr3 final : public WindowOwner {
 public:
  Bbr3(const cc_params& params, std::uint32_t seed) : params_(params), seed_(seed) {}

  void start(Sender& sender) override {
    cc_stack tcp = seen_of(sender);
    bbr3_init(&state_, &tcp, seed_);
    control(sender, tcp);
  }
  void on_ack(Sender& sender, const RateSample& rate) override {
    cc_stack tcp = seen_of(sender);
    const stack_ack ack = ack_of(rate);
    if (bbr3_on_ack(&state_, &params_, &tcp, &ack)) sender.mark_app_limited();
    control(sender, tcp);
  }
  void on_lost(Sender& sender, const Segment& segment) override {
    const cc_stack tcp = seen_of(sender);
    stack_lost lost{};
    lost.sent_in_flight = segment.stamp.in_flight;
    lost.lost = sender.lost() - segment.stamp.lost;
    lost.is_app_limited = segment.was_app_limited;
    bbr3_on_lost(&state_, &params_, &tcp, &lost);
  }
  void set_state(Sender& sender, CaState next) override {
    cc_stack tcp = seen_of(sender);
    bbr3_on_state(&state_, &tcp, static_cast<std::uint8_t>(next));
    apply(sender, tcp);
  }
  void on_event(Sender& sender, CaEvent event) override {
    cc_stack tcp = seen_of(sender);
    if (event == CaEvent::probe_recovery) {
      bbr3_on_probe_recovery(&state_, &params_, &tcp, sender.probe_was_app_limited());
    } else if (event == CaEvent::tx_start) {
      bbr3_on_tx_start(&state_, &tcp);
      control(sender, tcp);
    }
  }
  std::uint32_t ssthresh(Sender& sender) override {
    const cc_stack tcp = seen_of(sender);
    return bbr3_ssthresh(&state_, &tcp);
  }
  std::uint32_t undo_cwnd(Sender& /*sender*/) override { return bbr3_undo(&state_); }

 private:
  // It asks for the flag that TCP keeps, not for what slow start makes of it.
  static cc_stack seen_of(const Sender& sender) {
    cc_stack tcp = stack_of(sender);
    tcp.is_cwnd_limited = sender.is_window_marked_limited();
    return tcp;
  }

  const cc_params& params_;
  bbr3 state_{};
  std::uint32_t seed_;
};

#define RATE_LAW(law)                                      \
  struct law##_functions {                                 \
    using State = ::law;                                   \
    static constexpr auto init = law##_init;               \
    static constexpr auto on_ack = law##_on_ack;           \
    static constexpr auto on_timeout = law##_on_timeout;   \
    static constexpr auto on_tx_start = law##_on_tx_start; \
    static constexpr auto ssthresh = law##_ssthresh;       \
    static constexpr auto undo = law##_undo;               \
  };
RATE_LAW(bbr)
RATE_LAW(pcc)
#undef RATE_LAW

class PacketPair final : public WindowOwner {
 public:
  explicit PacketPair(const cc_params& params) : params_(params) {}

  std::uint32_t piece_segments(const Sender& /*sender*/) const override { return KESHAV_TRAIN; }
  void start(Sender& sender) override {
    keshav_init(&state_);
    sender.pace(true, Sender::NO_RATE);
  }
  void on_ack(Sender& sender, const RateSample& rate) override {
    cc_stack tcp = stack_of(sender);
    const stack_ack ack = ack_of(rate);
    keshav_on_ack(&state_, &params_, &tcp, &ack);
    control(sender, tcp);
  }
  void set_state(Sender& /*sender*/, CaState next) override {
    if (next == CaState::loss) keshav_on_timeout(&state_);
  }
  std::uint32_t ssthresh(Sender& sender) override { return sender.ssthresh(); }
  std::uint32_t undo_cwnd(Sender& sender) override { return sender.cwnd(); }
  void on_event(Sender& /*sender*/, CaEvent /*event*/) override {}

 private:
  const cc_params& params_;
  keshav state_{};
};

class Prague final : public WindowOwner {
 public:
  explicit Prague(const cc_params& params) : params_(params) {}

  bool is_scalable() const override { return true; }
  void start(Sender& sender) override {
    cc_stack tcp = stack_of(sender);
    prague_init(&state_, &tcp);
    control(sender, tcp);
  }
  void on_ack(Sender& sender, const RateSample& rate) override {
    cc_stack tcp = stack_of(sender);
    const stack_ack ack = ack_of(rate);
    prague_on_ack(&state_, &params_, &tcp, &ack);
    control(sender, tcp);
  }
  void set_state(Sender& sender, CaState next) override {
    cc_stack tcp = stack_of(sender);
    prague_on_state(&state_, &tcp, static_cast<std::uint8_t>(next));
    apply(sender, tcp);
  }
  void on_event(Sender& sender, CaEvent event) override {
    cc_stack tcp = stack_of(sender);
    prague_on_event(&state_, &tcp, static_cast<std::uint8_t>(event));
    apply(sender, tcp);
  }
  std::uint32_t ssthresh(Sender& sender) override {
    const cc_stack tcp = stack_of(sender);
    return prague_ssthresh(&state_, &params_, &tcp);
  }
  std::uint32_t undo_cwnd(Sender& sender) override {
    const cc_stack tcp = stack_of(sender);
    return prague_undo(&state_, &tcp);
  }
  std::uint32_t piece_segments(const Sender& sender) const override {
    const cc_stack tcp = stack_of(sender);
    return prague_piece_packets(&tcp);
  }

 private:
  const cc_params& params_;
  prague state_{};
};

// A law to which routers tell a rate. A loss is only sent again: it changes neither window nor rate.
template <class Law>
class ToldRate final : public WindowOwner {
 public:
  explicit ToldRate(const cc_params& params) : params_(params) {}

  std::optional<std::uint32_t> first_word() const override { return Law::first_word; }
  void start(Sender& sender) override {
    cc_stack tcp = stack_of(sender);
    Law::init(&state_, &tcp);
    control(sender, tcp);
  }
  void on_ack(Sender& sender, const RateSample& /*rate*/) override {
    cc_stack tcp = stack_of(sender);
    Law::on_ack(&state_, &params_, &tcp);
    control(sender, tcp);
  }
  void set_state(Sender& sender, CaState next) override {
    if (next != CaState::loss) return;
    const cc_stack tcp = stack_of(sender);
    Law::on_timeout(&state_, &tcp);
  }
  std::uint32_t ssthresh(Sender& sender) override { return sender.ssthresh(); }
  std::uint32_t undo_cwnd(Sender& sender) override { return sender.cwnd(); }
  void on_event(Sender& /*sender*/, CaEvent /*event*/) override {}

 private:
  const cc_params& params_;
  typename Law::State state_{};
};

#define TOLD_RATE(law, word)                             \
  struct law##_functions {                               \
    using State = ::law;                                 \
    static constexpr std::uint32_t first_word = word;    \
    static constexpr auto init = law##_init;             \
    static constexpr auto on_ack = law##_on_ack;         \
    static constexpr auto on_timeout = law##_on_timeout; \
  };
TOLD_RATE(jetmax, JETMAX_NO_RATE)
TOLD_RATE(maxnet, MAXNET_NO_PRICE)
#undef TOLD_RATE

}  // namespace

std::unique_ptr<CongestionControl> make_rate_law(const std::string& name, const cc_params& params,
                                                 std::uint32_t seed) {
  if (name == "bbr") return std::make_unique<RateLaw<bbr_functions>>(seed);
  if (name == "bbr3") return std::make_unique<Bbr3>(params, seed);
  if (name == "jetmax") return std::make_unique<ToldRate<jetmax_functions>>(params);
  if (name == "maxnet") return std::make_unique<ToldRate<maxnet_functions>>(params);
  if (name == "packet_pair") return std::make_unique<PacketPair>(params);
  if (name == "prague") return std::make_unique<Prague>(params);
  if (name == "pcc") return std::make_unique<RateLaw<pcc_functions>>(seed);
  return nullptr;
}

}  // namespace clarion::sim
