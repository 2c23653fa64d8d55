// SPDX-License-Identifier: Apache-2.0
// One port's way in: from the wire to the host, or to the other port of a bump in the wire.
//
// clang-format off
//   from_wire ─► FrameIntake ─► Classifier ─► IngressStage ─► FrameRelease ─► to_host
//                    │  arrivals       packets         releases    ▲
//                    └──────────────── beats: packet memory ───────┘
// clang-format on
//
// A call of step is one clock. It is written from the end to the start, so that what one process writes is
// read by the next in the clock after, as in hardware.
#pragma once

#include "hls/block/axis.hpp"
#include "hls/block/classifier.hpp"
#include "hls/block/frame_intake.hpp"
#include "hls/block/frame_release.hpp"
#include "hls/block/ingress_stage.hpp"
#include "hls/block/mailbox.hpp"
#include "hls/block/parts.hpp"
#include "hls/block/sizes.hpp"

namespace clarion::block {

template <class Parts = Hardware>
class Ingress {
 public:
  // To the host, or by a joint to the egress of another port.
  template <class Out>
  CLARION_INLINE void step(Axis& from_wire, Out& to_host, ap_uint<8> protocol, hls::stream<Command>& commands,
                           hls::stream<Reply>& replies, Ticks now) {
#pragma HLS inline
#pragma HLS bind_storage variable = beats_ type = fifo impl = bram
#pragma HLS bind_storage variable = releases_ type = fifo impl = bram
    release_.step(releases_, beats_, to_host, Unheard{});
    stage_.step(packets_, releases_, commands, replies);
    classifier_.step(arrivals_, packets_, protocol);
    intake_.step(from_wire, beats_, arrivals_, now);
  }

 private:
  FrameIntake intake_;
  Classifier classifier_;
  IngressStage<Parts> stage_;
  FrameRelease release_;

  hls::stream<StoredBeat, RECEIVE_BEATS> beats_{"ingress.beats"};
  hls::stream<Arrival, 2> arrivals_{"ingress.arrivals"};
  hls::stream<Packet, 32> packets_{"ingress.packets"};  // while commands take their clocks
  // As many as packet memory has beats: so the stage never waits for a slow receiver, the frames do.
  hls::stream<Release, RECEIVE_BEATS> releases_{"ingress.releases"};
};

}  // namespace clarion::block
