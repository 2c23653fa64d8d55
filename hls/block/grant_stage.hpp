// SPDX-License-Identifier: Apache-2.0
// The pools of a port, and what each departing DATA packet is granted of them.
//
// A DATA header ends behind byte 64 of its frame, so such frames have two beats at least, and the next one
// needs the pools two clocks later at the earliest: this is the one stage that may take two.
#pragma once

#include "core/xcp_departure.hpp"
#include "hls/block/axis.hpp"
#include "hls/block/mailbox.hpp"

namespace clarion::block {

static_assert(ETHERNET_BYTES + IPV4_MIN_BYTES + DATA_BYTES > BEAT_BYTES, "DATA frames of one beat");

// In the order in which things happen at the port.
struct PoolEvent {
  enum class Kind : std::uint8_t { departure, refill, restart, report };

  Kind kind = Kind::departure;
  std::uint32_t x = 0;                // departure: ticks
  std::int32_t delta_throughput = 0;  // departure: requested bytes/s
  ap_uint<16> length = 0;             // departure: bytes
  ap_uint<3> beat = 0;                // report: of the answer
  Shares shares;                      // refill
};

class GrantStage {
 public:
  template <class Events, class Grants>
  CLARION_PROCESS void step(Events& events, Grants& grants, hls::stream<Reply>& replies) {
#pragma HLS pipeline II = 2
    if (events.empty() || grants.full() || replies.full()) return;
    const PoolEvent event = events.read();
    if (event.kind == PoolEvent::Kind::departure) {
      const FairShare share = fair_share(gain_p_, gain_n_, event.x, event.length.to_uint());
      grants.write(departure_.step(event.delta_throughput, share));
    } else if (event.kind == PoolEvent::Kind::report) {
      replies.write(report(event.beat));
    } else if (event.kind == PoolEvent::Kind::refill) {
      departure_.refill(event.shares);
      gain_p_ = event.shares.cp;
      gain_n_ = event.shares.cn;
    } else {
      departure_.restart();
      gain_p_ = gain_n_ = Gain{};
    }
  }

 private:
  // One of the last two beats of the answer to `read`; there is nothing in that of generation 2.
  CLARION_INLINE Reply report(ap_uint<3> beat) const {
    using namespace registers;
    const Shares& left = departure_.left();
    Reply reply = answer(STATUS_OK);
    reply.index = beat;
    reply.last = beat == EGRESS_READ_BEATS - 1;
    if (reply.last == 1) return reply;
    put_words(reply.data, EGRESS_READ_POS, left.pos);
    put_words(reply.data, EGRESS_READ_NEG, left.neg);
    put_word(reply.data, EGRESS_READ_CP, left.cp.mantissa);
    put_word(reply.data, EGRESS_READ_CP_SHIFT, left.cp.shift);
    put_word(reply.data, EGRESS_READ_CN, left.cn.mantissa);
    put_word(reply.data, EGRESS_READ_CN_SHIFT, left.cn.shift);
    put_word(reply.data, EGRESS_READ_CARRY, departure_.carry_q8());
    return reply;
  }

  XcpDeparture departure_;
  Gain gain_p_;  // of the interval, whether or not the pools are spent: so the multiplications need not wait
  Gain gain_n_;  // for the packet in front
};

}  // namespace clarion::block
