// SPDX-License-Identifier: Apache-2.0
#include "hls/block/bump.hpp"
#include "hls/block/top.hpp"

using clarion::block::Axis;
using clarion::block::Command;
using clarion::block::Reply;

void clarion_bump(Axis& from_wire_a, Axis& to_wire_a, hls::stream<Command>& ingress_commands_a,
                  hls::stream<Reply>& ingress_replies_a, hls::stream<Command>& egress_commands_a,
                  hls::stream<Reply>& traffic_replies_a, hls::stream<Reply>& grant_replies_a,
                  Axis& from_wire_b, Axis& to_wire_b, hls::stream<Command>& ingress_commands_b,
                  hls::stream<Reply>& ingress_replies_b, hls::stream<Command>& egress_commands_b,
                  hls::stream<Reply>& traffic_replies_b, hls::stream<Reply>& grant_replies_b,
                  ap_uint<8> protocol, clarion::Ticks now) {
#pragma HLS interface mode = ap_ctrl_none port = return
#pragma HLS interface mode = axis port = from_wire_a register_mode = both
#pragma HLS interface mode = axis port = to_wire_a register_mode = both
#pragma HLS interface mode = axis port = ingress_commands_a
#pragma HLS interface mode = axis port = ingress_replies_a
#pragma HLS interface mode = axis port = egress_commands_a
#pragma HLS interface mode = axis port = traffic_replies_a
#pragma HLS interface mode = axis port = grant_replies_a
#pragma HLS interface mode = axis port = from_wire_b register_mode = both
#pragma HLS interface mode = axis port = to_wire_b register_mode = both
#pragma HLS interface mode = axis port = ingress_commands_b
#pragma HLS interface mode = axis port = ingress_replies_b
#pragma HLS interface mode = axis port = egress_commands_b
#pragma HLS interface mode = axis port = traffic_replies_b
#pragma HLS interface mode = axis port = grant_replies_b
#pragma HLS interface mode = ap_none port = protocol
#pragma HLS interface mode = ap_none port = now
#pragma HLS aggregate variable = ingress_replies_a compact = bit
#pragma HLS aggregate variable = traffic_replies_a compact = bit
#pragma HLS aggregate variable = grant_replies_a compact = bit
#pragma HLS aggregate variable = ingress_replies_b compact = bit
#pragma HLS aggregate variable = traffic_replies_b compact = bit
#pragma HLS aggregate variable = grant_replies_b compact = bit
#pragma HLS stable variable = protocol
#pragma HLS stable variable = now
#pragma HLS dataflow disable_start_propagation
  static clarion::block::Bump<> block;
  const clarion::block::BumpPort a{from_wire_a,       to_wire_a,         ingress_commands_a,
                                   ingress_replies_a, egress_commands_a, traffic_replies_a,
                                   grant_replies_a};
  const clarion::block::BumpPort b{from_wire_b,       to_wire_b,         ingress_commands_b,
                                   ingress_replies_b, egress_commands_b, traffic_replies_b,
                                   grant_replies_b};
  block.step(a, b, protocol, now);
}
