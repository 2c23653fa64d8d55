// SPDX-License-Identifier: Apache-2.0
// Puts what DATA packets are granted into their patches; other packets pass.
#pragma once

#include "core/header.hpp"
#include "hls/block/frame_release.hpp"

namespace clarion::block {

// A packet that leaves the queue.
struct Departure {
  Release release;
  bool granted = false;  // waits for its grant
};

// So many may be under way to here. The stage that sends them counts them instead of asking whether the
// stream is full: what it hears of that is some clocks old when it writes, and a write that waits would hold
// all it does.
constexpr unsigned DEPARTURES = 40;
static_assert(DEPARTURES < 256, "EgressStage counts them in 8 bits");

class GrantJoin {
 public:
  // `taken` hears of each departure that has made its place free.
  template <class Departures, class Grants, class Releases, class Taken>
  CLARION_PROCESS void step(Departures& departures, Grants& grants, Releases& releases, Taken& taken) {
#pragma HLS pipeline II = 1
    const bool ready = waiting_ && !releases.full() && !(departure_.granted && grants.empty());
    if (ready) {
      if (departure_.granted) {
        Meta meta;
        meta.offset = static_cast<std::uint16_t>(departure_.release.patch.offset.to_uint());
        write_delta_throughput(PatchWriter(departure_.release.patch), meta, grants.read());
      }
      releases.write(departure_.release);
      waiting_ = false;
    }
    if (!waiting_ && !departures.empty()) {  // for the next clock
      departure_ = departures.read();
      taken.write(1);
      waiting_ = true;
    }
  }

 private:
  Departure departure_;
  bool waiting_ = false;
};

}  // namespace clarion::block
