// SPDX-License-Identifier: Apache-2.0
// One port's way out: from the host, or from the other port of a bump in the wire, through a queue to the
// wire.
//
// clang-format off
//   from_host ─► FrameIntake ─► Classifier ─► EgressStage ─► GrantJoin ─► FrameRelease ─► to_wire
//                    │  arrivals       packets    │▲    │ departures ▲ releases  ▲
//                    │                       ends ▼│    ▼ pool       │ grants    │
//                    │                  IntervalStage  GrantStage ───┘           │
//                    │                       reports                             │
//                    └──────────────── beats: packet memory ─────────────────────┘
// clang-format on
//
// A call of step is one clock, written from the end to the start.
#pragma once

#include "hls/block/axis.hpp"
#include "hls/block/classifier.hpp"
#include "hls/block/egress_stage.hpp"
#include "hls/block/frame_intake.hpp"
#include "hls/block/frame_release.hpp"
#include "hls/block/grant_join.hpp"
#include "hls/block/grant_stage.hpp"
#include "hls/block/mailbox.hpp"
#include "hls/block/parts.hpp"
#include "hls/block/sizes.hpp"

namespace clarion::block {

template <class Parts = Hardware>
class Egress {
 public:
  // From the host, or by a joint from the ingress of another port.
  template <class In>
  CLARION_INLINE void step(In& from_host, Axis& to_wire, ap_uint<8> protocol, ap_uint<40> queue_elsewhere,
                           hls::stream<Command>& commands, hls::stream<Reply>& replies,
                           hls::stream<Reply>& pool_replies, Ticks now) {
#pragma HLS inline
#pragma HLS bind_storage variable = beats_ type = fifo impl = uram
#pragma HLS bind_storage variable = packets_ type = fifo impl = bram
    release_.step(releases_, beats_, to_wire, sent_);
    join_.step(departures_, grants_, releases_, credits_);
    grant_.step(pool_, grants_, pool_replies);
    interval_.step(ends_, reports_);
    stage_.step(packets_, departures_, credits_, sent_, pool_, ends_, reports_, commands, replies,
                queue_elsewhere, now);
    classifier_.step(arrivals_, packets_, protocol);
    intake_.step(from_host, beats_, arrivals_, now);
  }

  typename Parts::Watch& watch() { return stage_.watch; }

 private:
  FrameIntake intake_;
  Classifier classifier_;
  EgressStage<Parts> stage_;
  typename Parts::IntervalStage interval_;
  GrantStage grant_;
  GrantJoin join_;
  FrameRelease release_;

  hls::stream<StoredBeat, QUEUE_BEATS> beats_{"egress.beats"};
  hls::stream<Arrival, 2> arrivals_{"egress.arrivals"};
  hls::stream<Packet, DECISION_DEPTH> packets_{"egress.packets"};
  // As many as are on their way through the multiplications and the pools at one in two clocks. Grants have a
  // place for each of them, and for those in GrantJoin: so a slow wire never holds the pools, nor commands
  // behind it.
  hls::stream<Departure, DEPARTURES> departures_{"egress.departures"};
  hls::stream<ap_uint<1>, DEPARTURES> credits_{"egress.credits"};
  hls::stream<PoolEvent, 16> pool_{"egress.pool"};
  hls::stream<std::int32_t, 64> grants_{"egress.grants"};
  hls::stream<Release, 2> releases_{"egress.releases"};
  hls::stream<ap_uint<16>, 4> sent_{"egress.sent"};
  hls::stream<IntervalEnd, 2> ends_{"egress.ends"};
  hls::stream<IntervalReport, 2> reports_{"egress.reports"};
};

}  // namespace clarion::block
