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

// Credits of the stage that sends departures here. It counts them instead of looking whether the stream is
// full: in a pipeline that is some clocks old at the write, and a write that waits would stop the whole
// stage.
constexpr unsigned DEPARTURES = 40;
static_assert(DEPARTURES < 256, "EgressStage counts them in 8 bits");

class GrantJoin {
 public:
  // `credits` gets one back for each departure that has left its place in the stream.
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
