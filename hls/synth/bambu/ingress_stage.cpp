// SPDX-License-Identifier: Apache-2.0
#include "hls/block/ingress_stage.hpp"

#include "hls/synth/bambu/asked.hpp"

using namespace clarion::synth;

namespace {

// No header starts behind byte 255. If bambu knows that, places in a patch are constants.
class Packets : public AskedInput<Packet> {
 public:
  using AskedInput::AskedInput;

  CLARION_INLINE Packet read() {
    Packet packet = AskedInput::read();
    packet.meta.offset &= 0xff;
    return packet;
  }
};

}  // namespace

// clang-format off
#pragma HLS interface port = ingress_status_0 mode = axis
#pragma HLS interface port = ingress_packets_0 mode = axis
#pragma HLS interface port = ingress_commands_0 mode = axis
#pragma HLS interface port = ingress_releases_0 mode = axis
#pragma HLS interface port = ingress_replies_0 mode = axis
#pragma HLS interface port = ingress_replies_1 mode = axis
// clang-format on
void unit(Port& ingress_status_0, Port& ingress_packets_0, Port& ingress_commands_0, Port& ingress_releases_0,
          Port& ingress_replies_0, Port& ingress_replies_1) {
  clarion::block::IngressStage<> stage;
  for (;;) {  // so that what it keeps is in registers
    const IngressStatus status = unpacked<IngressStatus>(Token{{from(ingress_status_0), 0, 0}});
    Packets packets(ingress_packets_0, status.packets);
    AskedInput<Command> commands(ingress_commands_0, status.commands);
    AskedOutput<Release> releases(ingress_releases_0, !status.releases);
    AskedPair<Reply> replies(ingress_replies_0, ingress_replies_1, status.replies);
    stage.step(packets, releases, commands, replies);
  }
}
