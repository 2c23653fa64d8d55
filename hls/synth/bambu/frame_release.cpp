// SPDX-License-Identifier: Apache-2.0
#include "hls/block/frame_release.hpp"

#include "hls/synth/bambu/asked.hpp"

using namespace clarion::synth;

namespace {

// This process only ever waits for one stream at a time, so it may wait in a read or a write.
using Releases = AskedInput<Release>;
using Beats = AskedPair<StoredBeat>;
using Sent = AskedOutput<ap_uint<16>>;

class Out {
 public:
  CLARION_INLINE Out(Port& data, Port& rest) : beats_(data, rest, true) {}

  CLARION_INLINE bool full() const { return false; }
  CLARION_INLINE friend void put(Out& to, const StoredBeat& beat) { to.beats_.write(beat); }

 private:
  AskedPair<StoredBeat> beats_;
};

}  // namespace

// clang-format off
#pragma HLS interface port = releases_0 mode = axis
#pragma HLS interface port = beats_0 mode = axis
#pragma HLS interface port = beats_1 mode = axis
#pragma HLS interface port = out_0 mode = axis
#pragma HLS interface port = out_1 mode = axis
#pragma HLS interface port = sent_0 mode = axis
// clang-format on
void unit(Port& releases_0, Port& beats_0, Port& beats_1, Port& out_0, Port& out_1, Port& sent_0) {
  clarion::block::FrameRelease release;
  Releases releases(releases_0, true);
  Beats beats(beats_0, beats_1, true);
  Out out(out_0, out_1);
  Sent sent(sent_0, false);
  for (;;) release.step(releases, beats, out, sent);
}
