// SPDX-License-Identifier: Apache-2.0
// Sends a frame from packet memory with its patch in it, or lets it go; one beat per clock, as fast as it is
// taken.
#ifndef CLARION_BLOCK_FRAME_RELEASE_HPP
#define CLARION_BLOCK_FRAME_RELEASE_HPP

#include "hls/block/axis.hpp"
#include "hls/block/window.hpp"

namespace clarion::block {

// What is to become of the next frame in packet memory.
struct Release {
  ap_uint<8> stored = 0;  // beats, at least one
  bool send = false;
  HeaderPatch patch;
};

class FrameRelease {
 public:
  template <class Releases, class Beats>
  CLARION_INLINE void step(Releases& releases, Beats& beats, Axis& out) {
#pragma HLS pipeline II = 1
    if (left_ != 0 && !beats.empty() && !(release_.send && out.full())) {
      const StoredBeat stored = beats.read();
      if (release_.send) out.write(patched(stored));
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
  CLARION_INLINE Beat patched(const StoredBeat& stored) const {
    Beat beat;
    const bool in_window = at_ < 2;
    beat.data = in_window ? PatchMask(release_.patch).applied(stored.data, at_ == 1) : stored.data;
    beat.keep = beat.strb = stored.keep;
    beat.user = stored.user;
    beat.last = stored.last;
    return beat;
  }

  Release release_;
  ap_uint<8> left_ = 0;  // beats of the frame
  ap_uint<2> at_ = 0;    // beat, from 2 on whichever
};

}  // namespace clarion::block

#endif  // CLARION_BLOCK_FRAME_RELEASE_HPP
