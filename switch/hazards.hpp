// SPDX-License-Identifier: Apache-2.0
// One direction of a link that is not a wire: what modems, bridges, policers and middleboxes do to packets
// between two ports. In the order in which a packet meets them: outage, longest packet, policer, header,
// queue, loss of acknowledgements, corruption, delay, late packets, duplicates.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "clock.hpp"
#include "options.hpp"
#include "random.hpp"
#include "truth_log.hpp"
#include "wire.hpp"

namespace clarion::emu {

using FrameBytes = std::vector<std::uint8_t>;

class Hazards {
 public:
  using Cause = TruthLog::Cause;
  // What happens to a frame, as it was then.
  using Report = std::function<void(Cause, const FrameBytes&)>;

  Hazards(RandomStream random, std::uint8_t protocol) : protocol_(protocol), random_(random) {}

  void configure(const HazardOptions& options) {
    options_ = options;
    is_on_ = options.on();
  }
  bool on() const { return is_on_; }

  // A frame is fully on the link at `time`, which does not go back. `wire` corrupts and delays it.
  void enter(Nanoseconds time, FrameBytes frame, Wire& wire, const Report& report);

  // When the next frame comes out; NEVER if there is none.
  Nanoseconds next_time() const { return under_way_.empty() ? NEVER : under_way_.begin()->first.first; }
  FrameBytes take_next();

  std::size_t flying() const { return under_way_.size(); }

 private:
  using Key = std::pair<Nanoseconds, std::uint64_t>;  // arrival, then order

  // A displaced frame that waits for others to pass.
  struct Waiting {
    Key key;
    std::uint64_t left;
  };

  bool chance(double share) { return share > 0 && random_.uniform() < share; }
  bool policed(Nanoseconds time, std::size_t length);
  bool header_blocks(FrameBytes& frame, const Report& report);
  bool queue_full(Nanoseconds& time, std::size_t length);
  void flip_bit(FrameBytes& frame);
  void send(Nanoseconds arrival, FrameBytes frame, const Report& report);
  Key put(Nanoseconds arrival, FrameBytes frame);
  void pass_waiting(Nanoseconds arrival);

  std::map<Key, FrameBytes> under_way_;
  bool is_on_ = false;
  std::uint8_t protocol_;
  HazardOptions options_;
  RandomStream random_;

  double tokens_bytes_ = -1;  // of the policer; below 0: full
  Nanoseconds tokens_at_ = 0;

  std::deque<std::pair<Nanoseconds, std::size_t>> queue_;  // frames that wait: when each leaves, its length
  std::size_t queue_bytes_ = 0;
  Nanoseconds queue_free_at_ = 0;

  std::uint64_t order_ = 0;
  std::vector<Waiting> waiting_;
};

}  // namespace clarion::emu
