// SPDX-License-Identifier: Apache-2.0
#include "hls/block/ingress.hpp"
#include "hls/block/top.hpp"

void clarion_ingress(clarion::block::Axis& from_wire, clarion::block::Axis& to_host, ap_uint<8> protocol,
                     hls::stream<clarion::block::Command>& commands,
                     hls::stream<clarion::block::Reply>& replies, clarion::Ticks now) {
#pragma HLS interface mode = ap_ctrl_none port = return
#pragma HLS interface mode = axis port = from_wire register_mode = both
#pragma HLS interface mode = axis port = to_host register_mode = both
#pragma HLS interface mode = axis port = commands
#pragma HLS interface mode = axis port = replies
#pragma HLS interface mode = ap_none port = protocol
#pragma HLS interface mode = ap_none port = now
#pragma HLS aggregate variable = replies compact = bit
#pragma HLS stable variable = protocol
#pragma HLS stable variable = now
#pragma HLS dataflow disable_start_propagation
  static clarion::block::Ingress<> block;
  block.step(from_wire, to_host, protocol, commands, replies, now);
}
