// SPDX-License-Identifier: Apache-2.0
// Puts what DATA packets are granted into their patches; other packets pass.
#ifndef CLARION_BLOCK_GRANT_JOIN_HPP
#define CLARION_BLOCK_GRANT_JOIN_HPP

#include "hls/block/frame_release.hpp"
#include "hls/core/header.hpp"

namespace clarion::block {

// A packet that leaves the queue.
struct Departure {
  Release release;
  bool granted = false;  // waits for its grant
};

class GrantJoin {
 public:
  template <class Departures, class Grants, class Releases>
  CLARION_PROCESS void step(Departures& departures, Grants& grants, Releases& releases) {
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
      waiting_ = true;
    }
  }

 private:
  Departure departure_;
  bool waiting_ = false;
};

}  // namespace clarion::block

#endif  // CLARION_BLOCK_GRANT_JOIN_HPP
