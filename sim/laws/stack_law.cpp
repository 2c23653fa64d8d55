// SPDX-License-Identifier: Apache-2.0
#include "stack_law.hpp"

#include <type_traits>

#include "stack_view.hpp"

#define _Static_assert static_assert
#include "hosts/bpf/cc/cubic.h"
#include "hosts/bpf/cc/reno.h"
#include "hosts/bpf/cc/stack_laws.h"
#include "hosts/bpf/cc/tahoe.h"
#include "hosts/bpf/cc/vcp.h"
#undef _Static_assert

namespace clarion::sim {
namespace {

// A law that leaves recovery to TCP. `Law` has the type of its state and its functions (stack.h).
template <class Law>
class StackLaw final : public CongestionControl {
 public:
  explicit StackLaw(const cc_params& params) : params_(params) {}

  bool owns_window() const override { return false; }
  bool restarts_after_loss() const override { return std::is_same_v<typename Law::State, tahoe>; }
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

#define STACK_LAW(law, name)                         \
  struct law##_functions {                           \
    using State = ::law;                             \
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
STACK_LAW(tahoe, "tahoe")
STACK_LAW(vcp, "vcp")
#define RATE_LAW(law, name)
#define SIMULATED_LAW(law, name)
#include "hosts/bpf/cc/stack_laws.def"
#undef SIMULATED_LAW
#undef RATE_LAW
#undef STACK_LAW

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
#define RATE_LAW(law, name)
#define SIMULATED_LAW(law, name)
    STACK_LAW(cubic, "cubic") STACK_LAW(reno, "reno") STACK_LAW(tahoe, "tahoe") STACK_LAW(vcp, "vcp")
#include "hosts/bpf/cc/stack_laws.def"
#undef SIMULATED_LAW
#undef RATE_LAW
#undef STACK_LAW
};

}  // namespace

std::unique_ptr<CongestionControl> make_stack_law(const std::string& name, const cc_params& params) {
  for (const Entry& each : STACK_LAWS) {
    if (name == each.name) return each.make(params);
  }
  return nullptr;
}

}  // namespace clarion::sim
