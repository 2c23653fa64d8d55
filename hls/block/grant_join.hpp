// SPDX-License-Identifier: Apache-2.0
// Writes the granted feedback of DATA packets into their patches; other packets pass unchanged.
#pragma once

#include "core/header.hpp"
#include "hls/block/frame_release.hpp"

namespace clarion::block {

// A packet that leaves the queue.
struct Departure {
  Release release;
  bool granted = false;  // waits for its grant
};

// Credits of EgressStage for departures: it counts them instead of testing whether the stream is full. In a
// pipeline that test is some clocks old by the time of the write, and a blocked write would stop the stage.
constexpr unsigned DEPARTURES = 40;
static_assert(DEPARTURES < 256, "EgressStage counts them in 8 bits");

class GrantJoin {
 public:
  // Returns one credit for each departure that is read from the stream.
  template <class Departures, class Grants, class Releases, class Credits>
  CLARION_PROCESS void step(Departures& departures, Grants& grants, Releases& releases, Credits& credits) {
#pragma HLS pipeline II = 1
    const bool ready = departure_valid_ && !releases.full() && !(departure_.granted && grants.empty());
    if (ready) {
      if (departure_.granted) {
        Meta meta;
        meta.offset = static_cast<std::uint16_t>(departure_.release.patch.offset.to_uint());
        write_delta_throughput(PatchWriter(departure_.release.patch), meta, grants.read());
      }
      releases.write(departure_.release);
      departure_valid_ = false;
    }
    if (!departure_valid_ && !departures.empty()) {  // for the next clock
      departure_ = departures.read();
      credits.write(1);
      departure_valid_ = true;
    }
  }

 private:
  Departure departure_;
  bool departure_valid_ = false;
};

}  // namespace clarion::block
