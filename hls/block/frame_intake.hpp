// SPDX-License-Identifier: Apache-2.0
// Takes a beat in every clock, without back-pressure, and stores it in packet memory; announces each frame to
// the next stage with its last beat.
//
// A frame for which packet memory is too full is stored as far as it fits and marked as not whole. Invalid
// frames (length, keep, a wrong size in the side-band) are announced as well.
#pragma once

#include "core/types.hpp"
#include "hls/block/axis.hpp"
#include "hls/block/window.hpp"

namespace clarion::block {

// The announcement of a received frame.
struct Arrival {
  Window window;           // its first 128 bytes
  ap_uint<16> length = 0;  // bytes, if not errored
  ap_uint<8> stored = 0;   // beats in packet memory
  bool whole = false;      // all of it is stored
  bool errored = false;    // invalid, to be discarded
  ap_uint<16> untold = 0;  // frames lost just before it: not stored, and without an announcement of their own
  Ticks now = 0;           // arrival of its last beat
};

class FrameIntake {
 public:
  template <class In, class Beats, class Arrivals>
  CLARION_PROCESS void step(In& in, Beats& beats, Arrivals& arrivals, Ticks now) {
#pragma HLS pipeline II = 1
    // Writes here and in store() do not block, because a blocked one would stop the receive side.
    if (pending_valid_ && arrivals.write_nb(pending_)) pending_valid_ = false;
    if (in.empty()) return;
    const StoredBeat beat = take(in);
    store(beat, beats);
    examine(beat);
    if (!beat.last) return;
    if (pending_valid_) {  // the stages behind are stalled: this frame was not stored, and is only counted
      if (untold_ != 0xffff) ++untold_;
    } else {
      pending_ = arrival(now);
      pending_valid_ = true;
      untold_ = 0;
    }
    begin();
  }

 private:
  template <class Beats>
  CLARION_INLINE void store(const StoredBeat& beat, Beats& beats) {
    if (count_ == 0) whole_ = !pending_valid_;
    if (whole_ && count_ < FRAME_MAX_BEATS && beats.write_nb(beat)) {
      ++stored_;
    } else {
      whole_ = false;
    }
  }

  CLARION_INLINE void examine(const StoredBeat& beat) {
    if (count_ == 0) {
      first_ = beat.data;
      stated_ = beat.user(15, 0);
    }
    if (count_ == 1) second_ = beat.data;
    // Only the last beat may have bytes that do not count, and only at its end.
    const std::uint64_t keep = beat.keep.to_uint64();
    const bool contiguous = (keep & (keep + 1)) == 0 && keep != 0;
    if (!contiguous || (!beat.last && keep != UINT64_MAX)) gaps_ = true;
    unsigned bytes = 0;
    for (unsigned i = 0; i < BEAT_BYTES; ++i) {
#pragma HLS unroll
      bytes += keep >> i & 1;
    }
    length_ += bytes;
    if (count_ <= FRAME_MAX_BEATS) {
      ++count_;
    } else {
      length_ = FRAME_MAX_BYTES + 1;  // does not wrap
    }
  }

  CLARION_INLINE Arrival arrival(Ticks now) const {
    const bool size_lies = stated_ != 0 && stated_ != length_;
    const bool errored = gaps_ || size_lies || length_ < FRAME_MIN_BYTES || length_ > FRAME_MAX_BYTES;
    return Arrival{Window(first_, second_), length_, stored_, whole_, errored, untold_, now};
  }

  CLARION_INLINE void begin() {
    first_ = second_ = 0;
    length_ = 0;
    count_ = stored_ = 0;
    gaps_ = false;
  }

  Arrival pending_ = {};  // announcement of the last frame, sent in the next clock
  bool pending_valid_ = false;
  Data first_ = 0;
  Data second_ = 0;
  ap_uint<16> stated_ = 0;
  ap_uint<16> length_ = 0;
  ap_uint<8> count_ = 0;
  ap_uint<8> stored_ = 0;
  ap_uint<16> untold_ = 0;  // since the last announcement, saturating
  bool gaps_ = false;
  bool whole_ = true;
};

}  // namespace clarion::block
