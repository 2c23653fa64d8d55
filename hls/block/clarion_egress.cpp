// SPDX-License-Identifier: Apache-2.0
#include "hls/block/egress.hpp"
#include "hls/block/top.hpp"

void clarion_egress(clarion::block::Axis& from_host, clarion::block::Axis& to_wire, ap_uint<8> protocol,
                    ap_uint<40> queue_elsewhere, hls::stream<clarion::block::Command>& commands,
                    hls::stream<clarion::block::Reply>& traffic_replies,
                    hls::stream<clarion::block::Reply>& grant_replies, clarion::Ticks now) {
#pragma HLS interface mode = ap_ctrl_none port = return
#pragma HLS interface mode = axis port = from_host register_mode = both
#pragma HLS interface mode = axis port = to_wire register_mode = both
#pragma HLS interface mode = axis port = commands
#pragma HLS interface mode = axis port = traffic_replies
#pragma HLS interface mode = axis port = grant_replies
#pragma HLS interface mode = ap_none port = protocol
#pragma HLS interface mode = ap_none port = queue_elsewhere
#pragma HLS interface mode = ap_none port = now
#pragma HLS aggregate variable = traffic_replies compact = bit
#pragma HLS aggregate variable = grant_replies compact = bit
#pragma HLS stable variable = protocol
#pragma HLS stable variable = queue_elsewhere
#pragma HLS stable variable = now
#pragma HLS dataflow disable_start_propagation
  static clarion::block::Egress<> block;
  block.step(from_host, to_wire, protocol, queue_elsewhere, commands, traffic_replies, grant_replies, now);
}
