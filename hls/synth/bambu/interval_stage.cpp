// SPDX-License-Identifier: Apache-2.0
#include "hls/block/interval_stage.hpp"

#include "hls/synth/bambu/ports.hpp"

using namespace clarion::synth;

// clang-format off
#pragma HLS interface port = ends_0 mode = axis
#pragma HLS interface port = ends_1 mode = axis
#pragma HLS interface port = reports_0 mode = axis
#pragma HLS interface port = reports_1 mode = axis
// clang-format on
void unit(Port& ends_0, Port& ends_1, Port& reports_0, Port& reports_1) {
  clarion::block::IntervalStage stage;
  hls::stream<IntervalEnd> ends;
  hls::stream<clarion::IntervalReport> reports;
  ends.write(unpacked<IntervalEnd>(Token{{from(ends_0), from(ends_1), 0}}));
  stage.step(ends, reports);
  const Token report = packed(reports.read());
  to(reports_0, report.word[0]);
  to(reports_1, report.word[1]);
}
