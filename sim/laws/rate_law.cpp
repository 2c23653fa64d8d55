// SPDX-License-Identifier: Apache-2.0
#include "rate_law.hpp"

#include "law_of_stack.hpp"

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
};

template <class Law>
class RateLaw final : public LawOfStack<typename Law::State, Law::ssthresh, Law::undo, WindowOwner> {
 public:
  RateLaw(const cc_params& params, std::uint32_t seed)
      : LawOfStack<typename Law::State, Law::ssthresh, Law::undo, WindowOwner>(params), seed_(seed) {}

  void start(Sender& sender) override { this->change_rate(sender, Law::init, seed_); }
  void on_ack(Sender& sender, const RateSample& rate) override {
    const stack_ack ack = ack_of(rate);
    this->change_rate(sender, Law::on_ack, &ack);
  }
  void set_state(Sender& sender, CaState next) override {
    if (next == CaState::loss) this->ask(sender, Law::on_timeout);
  }
  void on_event(Sender& sender, CaEvent event) override {
    if (event == CaEvent::tx_start) this->change_rate(sender, Law::on_tx_start);
  }

 private:
  std::uint32_t seed_;
};

// It asks for the flag that TCP keeps, not for what slow start makes of it.
cc_stack seen_by_bbr3(const Sender& sender) {
  cc_stack tcp = stack_of(sender);
  tcp.is_cwnd_limited = sender.is_window_marked_limited();
  return tcp;
}

class Bbr3 final : public LawOfStack<bbr3, bbr3_ssthresh, bbr3_undo, WindowOwner, seen_by_bbr3> {
 public:
  Bbr3(const cc_params& params, std::uint32_t seed) : LawOfStack(params), seed_(seed) {}

  void start(Sender& sender) override { change_rate(sender, bbr3_init, seed_); }
  void on_ack(Sender& sender, const RateSample& rate) override {
    const stack_ack ack = ack_of(rate);
    change_rate(sender, bbr3_on_ack, &ack);
  }
  void on_lost(Sender& sender, const Segment& segment) override {
    stack_lost lost{};
    lost.sent_in_flight = segment.stamp.in_flight;
    lost.lost = sender.lost() - segment.stamp.lost;
    lost.is_app_limited = segment.was_app_limited;
    ask(sender, bbr3_on_lost, &lost);
  }
  void set_state(Sender& sender, CaState next) override {
    change(sender, bbr3_on_state, static_cast<std::uint8_t>(next));
  }
  void on_event(Sender& sender, CaEvent event) override {
    if (event == CaEvent::probe_recovery) {
      ask(sender, bbr3_on_probe_recovery, sender.probe_was_app_limited());
    } else if (event == CaEvent::tx_start) {
      change_rate(sender, bbr3_on_tx_start);
    }
  }

 private:
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

// A law to which a loss says nothing: it is only sent again.
class LossBlind : public WindowOwner {
 public:
  std::uint32_t ssthresh(Sender& sender) override { return sender.ssthresh(); }
  std::uint32_t undo_cwnd(Sender& sender) override { return sender.cwnd(); }
  void on_event(Sender& /*sender*/, CaEvent /*event*/) override {}
};

class PacketPair final : public LossBlind {
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

 private:
  const cc_params& params_;
  keshav state_{};
};

class Prague final : public LawOfStack<prague, prague_ssthresh, prague_undo, WindowOwner> {
 public:
  using LawOfStack::LawOfStack;

  bool is_scalable() const override { return true; }
  void start(Sender& sender) override { change_rate(sender, prague_init); }
  void on_ack(Sender& sender, const RateSample& rate) override {
    const stack_ack ack = ack_of(rate);
    change_rate(sender, prague_on_ack, &ack);
  }
  void set_state(Sender& sender, CaState next) override {
    change(sender, prague_on_state, static_cast<std::uint8_t>(next));
  }
  void on_event(Sender& sender, CaEvent event) override {
    change(sender, prague_on_event, static_cast<std::uint8_t>(event));
  }
  std::uint32_t piece_segments(const Sender& sender) const override {
    const cc_stack tcp = stack_of(sender);
    return prague_piece_packets(&tcp);
  }
};

// A law to which routers tell a rate.
template <class Law>
class ToldRate final : public LossBlind {
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
  if (name == "bbr") return std::make_unique<RateLaw<bbr_functions>>(params, seed);
  if (name == "bbr3") return std::make_unique<Bbr3>(params, seed);
  if (name == "jetmax") return std::make_unique<ToldRate<jetmax_functions>>(params);
  if (name == "maxnet") return std::make_unique<ToldRate<maxnet_functions>>(params);
  if (name == "packet_pair") return std::make_unique<PacketPair>(params);
  if (name == "clarion_prague") return std::make_unique<Prague>(params);
  if (name == "pcc") return std::make_unique<RateLaw<pcc_functions>>(params, seed);
  return nullptr;
}

}  // namespace clarion::sim
