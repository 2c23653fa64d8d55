// SPDX-License-Identifier: Apache-2.0
// One direction of a cable: propagation delay and corruption. Packets keep their order.
#pragma once

#include <algorithm>

#include "clock.hpp"
#include "loss_model.hpp"

namespace clarion::emu {

class Wire {
 public:
  explicit Wire(RandomStream random) : loss_(random) {}

  void configure(std::uint64_t delay_us, const LossOptions& loss) {
    delay_ns_ = delay_us * 1000;
    loss_.configure(loss);
  }

  void set_delay(std::uint64_t delay_us) { delay_ns_ = delay_us * 1000; }
  void set_loss(const LossOptions& loss) { loss_.configure(loss); }

  bool loses(std::uint32_t length_bytes) { return loss_.lost(length_bytes); }

  // When a packet that is fully on the wire at `sent` comes out. A shorter delay set at run time does not
  // let a packet overtake those already under way.
  Nanoseconds arrival_of(Nanoseconds sent) {
    return last_arrival_ = std::max(last_arrival_, sent + delay_ns_);
  }

 private:
  Nanoseconds delay_ns_ = 0;
  Nanoseconds last_arrival_ = 0;
  LossModel loss_;
};

}  // namespace clarion::emu
