// SPDX-License-Identifier: Apache-2.0
#include "hls/block/frame_intake.hpp"

#include "hls/synth/bambu/asked.hpp"

using namespace clarion::synth;

namespace {

// Packet memory.
class Beats {
 public:
  CLARION_INLINE Beats(Port& data, Port& rest, bool room) : beats_(data, rest, room) {}

  CLARION_INLINE bool write_nb(const StoredBeat& beat) {
    if (beats_.full()) return false;
    beats_.write(beat);
    return true;
  }

 private:
  AskedPair<StoredBeat> beats_;
};

class Arrivals {
 public:
  CLARION_INLINE Arrivals(Port& fields, Port& first, Port& second, bool room)
      : fields_(fields), first_(first), second_(second), room_(room) {}

  CLARION_INLINE bool write_nb(const Arrival& arrival) {
    if (!room_) return false;
    const Token token = packed_arrival(arrival);
    to(fields_, token.word[0]);
    to(first_, token.word[1]);
    to(second_, token.word[2]);
    return true;
  }

 private:
  Port& fields_;
  Port& first_;
  Port& second_;
  bool room_;
};

}  // namespace

// clang-format off
#pragma HLS interface port = intake_status_0 mode = axis
#pragma HLS interface port = intake_data_0 mode = axis
#pragma HLS interface port = beats_0 mode = axis
#pragma HLS interface port = beats_1 mode = axis
#pragma HLS interface port = arrivals_0 mode = axis
#pragma HLS interface port = arrivals_1 mode = axis
#pragma HLS interface port = arrivals_2 mode = axis
// clang-format on
void unit(Port& intake_status_0, Port& intake_data_0, Port& beats_0, Port& beats_1, Port& arrivals_0,
          Port& arrivals_1, Port& arrivals_2) {
  clarion::block::FrameIntake intake;
  for (;;) {  // so that what it keeps is in registers
    const IntakeStatus status = unpacked<IntakeStatus>(Token{{from(intake_status_0), 0, 0}});
    Beats beats(beats_0, beats_1, status.beats);
    Arrivals arrivals(arrivals_0, arrivals_1, arrivals_2, status.arrivals);
    Axis wire;
    if (status.wire) {
      Beat beat;
      beat.data = from(intake_data_0);
      beat.keep = status.keep;
      beat.user = status.user;
      beat.last = status.last;
      wire.write(beat);
    }
    intake.step(wire, beats, arrivals, status.now);
  }
}
