// SPDX-License-Identifier: Apache-2.0
// What the laws in the second form (hosts/bpf/cc/stack.h) have in common at a simulated sender: how their
// functions are called, what stack_ops.h there is for the kernel.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "sim/tcp/congestion_control.hpp"
#include "stack_view.hpp"

struct cc_params;

namespace clarion::sim {

// A law with its state. Functions of laws take the parameters or not, and the connection or not; they see of
// the sender what `VIEW` shows them.
template <class State, auto SSTHRESH, auto UNDO, class Base = CongestionControl,
          cc_stack (*VIEW)(const Sender&) = stack_of>
class LawOfStack : public Base {
 public:
  explicit LawOfStack(const cc_params& params) : params_(params) {}

  std::uint32_t ssthresh(Sender& sender) override { return ask(sender, SSTHRESH); }
  std::uint32_t undo_cwnd(Sender& sender) override { return ask(sender, UNDO); }

 protected:
  // A function that leaves the window as it is.
  template <class Function, class... Args>
  auto ask(const Sender& sender, Function function, Args... args) {
    cc_stack tcp = VIEW(sender);
    return call(function, tcp, args...);
  }

  // One that may change the window. What the law ignores is not even collected.
  template <class Function, class... Args>
  void change(Sender& sender, Function function, Args... args) {
    using Answer = decltype(call(function, std::declval<cc_stack&>(), args...));
    if constexpr (!std::is_same_v<Answer, stack_ignored>) {
      cc_stack tcp = VIEW(sender);
      call(function, tcp, args...);
      apply(sender, tcp);
    }
  }

  // One that may change window and pacing rate. It may answer that the application counts as the limit now.
  template <class Function, class... Args>
  void change_rate(Sender& sender, Function function, Args... args) {
    cc_stack tcp = VIEW(sender);
    if constexpr (std::is_void_v<decltype(call(function, tcp, args...))>) {
      call(function, tcp, args...);
    } else if (call(function, tcp, args...)) {
      sender.mark_app_limited();
    }
    control(sender, tcp);
  }

 private:
  template <class Function, class... Args>
  auto call(Function function, cc_stack& tcp, Args... args) {
    if constexpr (std::is_invocable_v<Function, State*, const cc_params*, cc_stack*, Args...>) {
      return function(&state_, &params_, &tcp, args...);
    } else if constexpr (std::is_invocable_v<Function, State*, cc_stack*, Args...>) {
      return function(&state_, &tcp, args...);
    } else {
      return function(&state_, args...);
    }
  }

  const cc_params& params_;
  State state_{};
};

}  // namespace clarion::sim
