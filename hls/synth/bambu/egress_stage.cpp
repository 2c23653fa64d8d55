// SPDX-License-Identifier: Apache-2.0
#include "hls/block/egress_stage.hpp"

#include "hls/synth/bambu/asked.hpp"

using namespace clarion::synth;

namespace {

// What comes with the status of a step.
template <class T>
class Told {
 public:
  CLARION_INLINE Told(const T& token, bool there) : token_(token), there_(there) {}

  CLARION_INLINE bool empty() const { return !there_; }
  CLARION_INLINE T read() const { return token_; }

 private:
  T token_;
  bool there_;
};

}  // namespace

// clang-format off
#pragma HLS interface port = egress_status_0 mode = axis
#pragma HLS interface port = packets_0 mode = axis
#pragma HLS interface port = reports_0 mode = axis
#pragma HLS interface port = reports_1 mode = axis
#pragma HLS interface port = commands_0 mode = axis
#pragma HLS interface port = departures_0 mode = axis
#pragma HLS interface port = pool_0 mode = axis
#pragma HLS interface port = ends_0 mode = axis
#pragma HLS interface port = ends_1 mode = axis
#pragma HLS interface port = traffic_replies_0 mode = axis
#pragma HLS interface port = traffic_replies_1 mode = axis
// clang-format on
void unit(Port& egress_status_0, Port& packets_0, Port& reports_0, Port& reports_1, Port& commands_0,
          Port& departures_0, Port& pool_0, Port& ends_0, Port& ends_1, Port& traffic_replies_0,
          Port& traffic_replies_1) {
  clarion::block::EgressStage<> stage;
  for (;;) {
    const EgressStatus status = unpacked<EgressStatus>(Token{{from(egress_status_0), 0, 0}});
    Told<ap_uint<1>> taken(1, status.taken);
    Told<ap_uint<16>> sent(status.sent, status.sent != 0);
    AskedInput<Packet> packets(packets_0, status.packets);
    AskedPair<clarion::IntervalReport> reports(reports_0, reports_1, status.reports);
    AskedOutput<Departure> departures(departures_0, !status.departures);
    AskedOutput<PoolEvent> pool(pool_0, !status.pool);
    AskedPair<IntervalEnd> ends(ends_0, ends_1, status.ends);
    AskedInput<Command> commands(commands_0, status.commands);
    AskedPair<Reply> replies(traffic_replies_0, traffic_replies_1, status.replies);
    stage.step(packets, departures, taken, sent, pool, ends, reports, commands, replies,
               status.queue_elsewhere, status.now);
  }
}
