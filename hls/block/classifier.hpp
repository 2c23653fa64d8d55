// SPDX-License-Identifier: Apache-2.0
// Parses the window of each frame with the core's parser. No state: the first bytes of a frame come in as a
// wide register, and a description of the frame goes out to the stages.
#pragma once

#include "core/header.hpp"
#include "hls/block/frame_intake.hpp"

namespace clarion::block {

// The description of a frame for the stages; members as in Arrival.
struct Packet {
  Meta meta;  // of an ordinary frame if malformed or errored
  bool malformed = false;
  ap_uint<16> length = 0;
  ap_uint<8> stored = 0;
  bool whole = false;
  bool errored = false;
  ap_uint<16> untold = 0;
  Ticks now = 0;
};

class Classifier {
 public:
  template <class Arrivals, class Packets>
  CLARION_PROCESS void step(Arrivals& arrivals, Packets& packets, ap_uint<8> protocol) {
#pragma HLS pipeline II = 1
    if (arrivals.empty() || packets.full()) return;
    const Arrival arrival = arrivals.read();
    Packet packet{};
    if (!arrival.errored) {
      const ParseResult result = parse(arrival.window, arrival.length.to_uint(),
                                       static_cast<std::uint8_t>(protocol.to_uint()), packet.meta);
      packet.malformed = result == ParseResult::malformed;
    }
    packet.length = arrival.length;
    packet.stored = arrival.stored;
    packet.whole = arrival.whole;
    packet.errored = arrival.errored;
    packet.untold = arrival.untold;
    packet.now = arrival.now;
    packets.write(packet);
  }
};

}  // namespace clarion::block
