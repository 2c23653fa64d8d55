// SPDX-License-Identifier: Apache-2.0
#include "stack_law.hpp"

#include <type_traits>

#include "law_of_stack.hpp"

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
class StackLaw final : public LawOfStack<typename Law::State, Law::ssthresh, Law::undo> {
 public:
  static constexpr bool TAKES_LOAD_CODES = std::is_same_v<typename Law::State, vcp>;

  using LawOfStack<typename Law::State, Law::ssthresh, Law::undo>::LawOfStack;

  bool owns_window() const override { return false; }
  bool takes_load_codes() const override { return TAKES_LOAD_CODES; }
  bool restarts_after_loss() const override { return std::is_same_v<typename Law::State, tahoe>; }
  void start(Sender& sender) override { this->ask(sender, Law::init); }
  void grow(Sender& sender, std::uint32_t acked) override { this->change(sender, Law::grow, acked); }
  void on_acked(Sender& sender, std::uint32_t packets, std::int64_t rtt_us) override {
    this->change(sender, Law::on_acked, packets, rtt_us);
  }
  void set_state(Sender& sender, CaState next) override {
    this->change(sender, Law::on_state, static_cast<std::uint8_t>(next));
  }
  void on_event(Sender& sender, CaEvent event) override {
    this->change(sender, Law::on_event, static_cast<std::uint8_t>(event));
  }
  void on_ack(Sender& /*sender*/, const RateSample& /*sample*/) override {}
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
  bool takes_load_codes;
};

constexpr Entry STACK_LAWS[] = {
#define STACK_LAW(law, name) {name, make<law##_functions>, StackLaw<law##_functions>::TAKES_LOAD_CODES},
#define RATE_LAW(law, name)
#define SIMULATED_LAW(law, name)
    STACK_LAW(cubic, "cubic") STACK_LAW(reno, "reno") STACK_LAW(tahoe, "tahoe") STACK_LAW(vcp, "vcp")
#include "hosts/bpf/cc/stack_laws.def"
#undef SIMULATED_LAW
#undef RATE_LAW
#undef STACK_LAW
};

const Entry* find(const std::string& name) {
  for (const Entry& each : STACK_LAWS) {
    if (name == each.name) return &each;
  }
  return nullptr;
}

}  // namespace

std::unique_ptr<CongestionControl> make_stack_law(const std::string& name, const cc_params& params) {
  const Entry* entry = find(name);
  return entry != nullptr ? entry->make(params) : nullptr;
}

bool slow_starts(const std::string& name) {
  const Entry* entry = find(name);
  return entry != nullptr && !entry->takes_load_codes;
}

}  // namespace clarion::sim
