// SPDX-License-Identifier: Apache-2.0
#include "hls/block/classifier.hpp"

#include "hls/synth/bambu/ports.hpp"

using namespace clarion::synth;

// clang-format off
#pragma HLS interface port = arrivals_0 mode = axis
#pragma HLS interface port = arrivals_1 mode = axis
#pragma HLS interface port = arrivals_2 mode = axis
#pragma HLS interface port = packets_0 mode = axis
#pragma HLS interface port = protocol mode = none
// clang-format on
void unit(Port& arrivals_0, Port& arrivals_1, Port& arrivals_2, Port& packets_0, unsigned char protocol) {
  clarion::block::Classifier classifier;
  hls::stream<Arrival> arrivals;
  hls::stream<Packet> packets;
  arrivals.write(unpacked_arrival(Token{{from(arrivals_0), from(arrivals_1), from(arrivals_2)}}));
  classifier.step(arrivals, packets, protocol);
  to(packets_0, packed(packets.read()).word[0]);
}
