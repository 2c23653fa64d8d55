// SPDX-License-Identifier: Apache-2.0
// Frames as the wires carry them: AXI4-Stream, 512 bits wide, with the side-band of the OpenNIC 250 MHz box.
#pragma once

#include <ap_axi_sdata.h>
#include <ap_int.h>
#include <hls_stream.h>

#include "core/platform.hpp"

namespace clarion::block {

constexpr unsigned BEAT_BYTES = 64;
constexpr unsigned FRAME_MIN_BYTES = 60;  // without the checksum
constexpr unsigned FRAME_MAX_BYTES = 9600;
constexpr unsigned FRAME_MAX_BEATS = FRAME_MAX_BYTES / BEAT_BYTES;

using Data = ap_uint<8 * BEAT_BYTES>;
using Keep = ap_uint<BEAT_BYTES>;
using User = ap_uint<48>;  // size 16, source 16, destination 16, from the low end

using Beat = hls::axis<Data, 48, 0, 0>;
using Axis = hls::stream<Beat>;

// What packet memory holds of a beat. The length says which bytes of the last one count.
struct StoredBeat {
  Data data = 0;
  Keep keep = 0;
  User user = 0;
  bool last = false;
};

// From one block to another in one top. `hls::axis` is for the ports of a top alone.
using Joint = hls::stream<StoredBeat>;

CLARION_INLINE StoredBeat take(Axis& from) {
  const Beat beat = from.read();
  return StoredBeat{beat.data, beat.keep, beat.user, beat.last == 1};
}
CLARION_INLINE StoredBeat take(Joint& from) { return from.read(); }

CLARION_INLINE void put(Axis& to, const StoredBeat& stored) {
  Beat beat;
  beat.data = stored.data;
  beat.keep = beat.strb = stored.keep;
  beat.user = stored.user;
  beat.last = stored.last;
  to.write(beat);
}
CLARION_INLINE void put(Joint& to, const StoredBeat& stored) { to.write(stored); }

}  // namespace clarion::block
