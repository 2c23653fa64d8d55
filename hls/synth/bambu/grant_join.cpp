// SPDX-License-Identifier: Apache-2.0
#include "hls/block/grant_join.hpp"

#include "hls/synth/bambu/asked.hpp"

using namespace clarion::synth;

namespace {

// Each is heard of with the departure that it belongs to.
struct Untold {
  CLARION_INLINE void write(ap_uint<1> /*taken*/) {}
};

}  // namespace

// clang-format off
#pragma HLS interface port = join_status_0 mode = axis
#pragma HLS interface port = departures_0 mode = axis
#pragma HLS interface port = grants_0 mode = axis
#pragma HLS interface port = releases_0 mode = axis
// clang-format on
void unit(Port& join_status_0, Port& departures_0, Port& grants_0, Port& releases_0) {
  clarion::block::GrantJoin join;
  for (;;) {
    const JoinStatus status = unpacked<JoinStatus>(Token{{from(join_status_0), 0, 0}});
    AskedInput<Departure> departures(departures_0, status.departures);
    AskedInput<std::int32_t> grants(grants_0, status.grants);
    AskedOutput<Release> releases(releases_0, !status.releases);
    Untold taken;
    join.step(departures, grants, releases, taken);
  }
}
