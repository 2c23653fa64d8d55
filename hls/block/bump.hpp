// SPDX-License-Identifier: Apache-2.0
// A bump in the wire: frames received on one port leave by the other.
#pragma once

#include "hls/block/egress.hpp"
#include "hls/block/ingress.hpp"

namespace clarion::block {

// The streams of one port.
struct BumpPort {
  Axis& from_wire;
  Axis& to_wire;
  hls::stream<Command>& ingress_commands;
  hls::stream<Reply>& ingress_replies;
  hls::stream<Command>& egress_commands;
  hls::stream<Reply>& traffic_replies;
  hls::stream<Reply>& grant_replies;
};

template <class Parts = Hardware>
class Bump {
 public:
  CLARION_INLINE void step(const BumpPort& a, const BumpPort& b, ap_uint<8> protocol, Ticks now) {
#pragma HLS inline
    send(out_a_, b_to_a_, a, protocol, now);
    send(out_b_, a_to_b_, b, protocol, now);
    in_a_.step(a.from_wire, a_to_b_, protocol, a.ingress_commands, a.ingress_replies, now);
    in_b_.step(b.from_wire, b_to_a_, protocol, b.ingress_commands, b.ingress_replies, now);
  }

  typename Parts::Watch& watch_a() { return out_a_.watch(); }
  typename Parts::Watch& watch_b() { return out_b_.watch(); }

 private:
  CLARION_INLINE static void send(Egress<Parts>& egress, Joint& from, const BumpPort& port,
                                  ap_uint<8> protocol, Ticks now) {
#pragma HLS inline
    egress.step(from, port.to_wire, protocol, 0, port.egress_commands, port.traffic_replies,
                port.grant_replies, now);
  }

  Ingress<Parts> in_a_;
  Ingress<Parts> in_b_;
  Egress<Parts> out_a_;
  Egress<Parts> out_b_;
  Joint a_to_b_{"bump.a_to_b"};
  Joint b_to_a_{"bump.b_to_a"};
};

}  // namespace clarion::block
