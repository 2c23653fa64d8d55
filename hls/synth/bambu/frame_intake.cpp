// SPDX-License-Identifier: Apache-2.0
#include "hls/block/frame_intake.hpp"

#include "hls/synth/bambu/ports.hpp"

using namespace clarion::synth;

namespace {

// Packet memory: a beat is stored if there is room for its first word. The second one has as much.
struct Beats {
  Port& data;
  Port& rest;

  CLARION_INLINE bool write_nb(const StoredBeat& beat) {
    const Token token = packed(beat);
    if (!to_if_room(data, token.word[0])) return false;
    to(rest, token.word[1]);
    return true;
  }
};

struct Arrivals {
  Port& fields;
  Port& first;
  Port& second;

  CLARION_INLINE bool write_nb(const Arrival& arrival) {
    const Token token = packed_arrival(arrival);
    if (!to_if_room(fields, token.word[0])) return false;
    to(first, token.word[1]);
    to(second, token.word[2]);
    return true;
  }
};

}  // namespace

// clang-format off
#pragma HLS interface port = wire_0 mode = axis
#pragma HLS interface port = wire_1 mode = axis
#pragma HLS interface port = beats_0 mode = axis
#pragma HLS interface port = beats_1 mode = axis
#pragma HLS interface port = arrivals_0 mode = axis
#pragma HLS interface port = arrivals_1 mode = axis
#pragma HLS interface port = arrivals_2 mode = axis
// clang-format on
void unit(Port& wire_0, Port& wire_1, Port& beats_0, Port& beats_1, Port& arrivals_0, Port& arrivals_1,
          Port& arrivals_2) {
  clarion::block::FrameIntake intake;
  Beats beats{beats_0, beats_1};
  Arrivals arrivals{arrivals_0, arrivals_1, arrivals_2};
  for (;;) {  // so that what it keeps is in registers
    Axis wire;
    clarion::Ticks now = 0;
    Token token;
    if (from_if_any(wire_0, token.word[0])) {
      token.word[1] = from(wire_1);
      const Arriving arriving = unpacked<Arriving>(token);
      wire.write(arriving.beat);
      now = arriving.now;
    }
    intake.step(wire, beats, arrivals, now);
  }
}
