// SPDX-License-Identifier: Apache-2.0
// Reads frames from packet memory and sends them with their patch applied, or discards them: one beat per
// clock, unless the receiver is not ready.
#pragma once

#include "hls/block/axis.hpp"
#include "hls/block/window.hpp"

namespace clarion::block {

// The decision on the next frame in packet memory: to be sent, or discarded.
struct Release {
  ap_uint<8> stored = 0;  // beats, at least one
  bool send = false;
  ap_uint<16> length = 0;  // bytes
  HeaderPatch patch;
};

// Discards the lengths of sent frames, where nothing keeps account of a queue.
struct Unheard {
  CLARION_INLINE bool full() const { return false; }
  CLARION_INLINE void write(ap_uint<16> /*length*/) {}
};

class FrameRelease {
 public:
  // `sent` gets the length of each frame once its last beat is out.
  template <class Releases, class Beats, class Out, class Sent>
  CLARION_PROCESS void step(Releases& releases, Beats& beats, Out& out, Sent&& sent) {
#pragma HLS pipeline II = 1
    if (left_ != 0 && !beats.empty() && !(release_.send && (out.full() || sent.full()))) {
      const StoredBeat stored = beats.read();
      if (release_.send) put(out, patched(stored));
      if (release_.send && left_ == 1) sent.write(release_.length);
      --left_;
      if (at_ < 2) ++at_;
    }
    if (left_ == 0 && !releases.empty()) {  // for the next clock
      release_ = releases.read();
      left_ = release_.stored;
      at_ = 0;
    }
  }

 private:
  CLARION_INLINE StoredBeat patched(StoredBeat beat) const {
    if (at_ < 2) beat.data = PatchMask(release_.patch).applied(beat.data, at_ == 1);
    return beat;
  }

  Release release_;
  ap_uint<8> left_ = 0;  // beats of the frame still to be read
  ap_uint<2> at_ = 0;    // index of the next beat, at most 2: patches end before that
};

}  // namespace clarion::block
