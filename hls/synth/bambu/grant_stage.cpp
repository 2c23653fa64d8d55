// SPDX-License-Identifier: Apache-2.0
#include "hls/block/grant_stage.hpp"

#include "hls/synth/bambu/ports.hpp"

using namespace clarion::synth;

// clang-format off
#pragma HLS interface port = pool_0 mode = axis
#pragma HLS interface port = grants_0 mode = axis
#pragma HLS interface port = replies_0 mode = axis
#pragma HLS interface port = replies_1 mode = axis
// clang-format on
void unit(Port& pool_0, Port& grants_0, Port& replies_0, Port& replies_1) {
  static clarion::block::GrantStage stage;
  hls::stream<PoolEvent> pool;
  hls::stream<std::int32_t> grants;
  hls::stream<Reply> replies;
  pool.write(unpacked<PoolEvent>(Token{{from(pool_0), 0, 0}}));
  stage.step(pool, grants, replies);
  if (!grants.empty()) to(grants_0, packed(grants.read()).word[0]);
  if (!replies.empty()) {
    const Token reply = packed(replies.read());
    to(replies_0, reply.word[0]);
    to(replies_1, reply.word[1]);
  }
}
