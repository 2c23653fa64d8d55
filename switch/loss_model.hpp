// SPDX-License-Identifier: Apache-2.0
// Decides, packet by packet, which ones a wire corrupts. A corrupted packet is lost, as behind a bad FCS.
#pragma once

#include <cmath>
#include <cstdint>

#include "options.hpp"
#include "random.hpp"

namespace clarion::emu {

class LossModel {
 public:
  explicit LossModel(RandomStream random) : random_(random) {}

  // Keeps the random stream where it is; a burst that was under way ends.
  void configure(const LossOptions& config) {
    config_ = config;
    log_bit_kept_ = config.model == LossOptions::Model::bit ? std::log1p(-config.rate) : 0;
    bad_ = false;
  }

  bool enabled() const { return config_.model != LossOptions::Model::none; }

  // Number of random draws per packet depends on the model only, never on the outcome.
  bool lost(std::uint32_t length_bytes) {
    switch (config_.model) {
      case LossOptions::Model::none:
        return false;
      case LossOptions::Model::packet:
        return random_.uniform() < config_.rate;
      case LossOptions::Model::bit:
        // 1 - (1 - ber)^(8 len), exact also where ber is far below the resolution of 1 - ber.
        return random_.uniform() < -std::expm1(8.0 * length_bytes * log_bit_kept_);
      case LossOptions::Model::gilbert_elliott:
        return gilbert_elliott();
    }
    return false;
  }

 private:
  // The state moves first, then the packet meets the new state; the chain starts good.
  bool gilbert_elliott() {
    const double move = random_.uniform();
    const double loss = random_.uniform();
    bad_ = bad_ ? move >= config_.r : move < config_.p;
    return loss < (bad_ ? config_.bad_loss : config_.good_loss);
  }

  LossOptions config_;
  RandomStream random_;
  double log_bit_kept_ = 0;
  bool bad_ = false;
};

}  // namespace clarion::emu
