// SPDX-License-Identifier: Apache-2.0
#include "recorder.hpp"

#include <nlohmann/json.hpp>

#include "core/host_units.hpp"

namespace clarion::sim {
namespace {

using nlohmann::json;

// In the order of FlowSample of clarion_lab.recording.
json flow_row(std::size_t number, const Simulation::Flow& flow) {
  const Sender& sender = flow.sender->sender();
  const Scoreboard& board = sender.board();
  const std::uint64_t acked = sender.acked_bytes();
  const std::uint32_t min_us = sender.rtt().min_us();
  return json::array({number, acked + std::uint64_t{board.sacked_out()} * sender.settings().mss_bytes, acked,
                      sender.cwnd(), sender.rtt().srtt_us(), min_us == NO_RTT ? 0 : min_us,
                      board.packets_out(), 0, sender.resent(),
                      sender.pacing_bytes_per_s() == Sender::NO_RATE ? 0 : sender.pacing_bytes_per_s(),
                      sender.window_limited_us(), 0, flow.clarion.stats.corrupt, flow.clarion.stats.congest,
                      flow.receiver->received_bytes()});
}

// In the order of PortSample.
json port_row(emu::Port& port, Nanoseconds now) {
  port.queue_statistics.settle(now);
  const IntervalReport interval = port.path->telemetry().interval;
  return json::array({port.options.name, port.counters.tx_bytes, port.counters.tx_packets,
                      port.path->queue_bytes(), port.queue_statistics.byte_us(), port.counters.drop_packets,
                      port.counters.wire_lost_packets, bytes_per_s(interval.phi_q8),
                      us_of_ticks(interval.avg_rtt)});
}

}  // namespace

void Recorder::sample() {
  json flows = json::array();
  for (std::size_t i = 0; i < simulation_.flows().size(); ++i) {
    if (simulation_.flows()[i]->is_started) flows.push_back(flow_row(i, *simulation_.flows()[i]));
  }
  json ports = json::array();
  for (const auto& port : simulation_.fabric().ports()) {
    ports.push_back(port_row(*port, simulation_.fabric().now()));
  }
  const json line = {{"time_us", simulation_.now() / 1000}, {"flows", flows}, {"ports", ports}};
  std::fprintf(out_, "%s\n", line.dump().c_str());
}

void Recorder::finish() {
  json finished = json::object();
  for (std::size_t i = 0; i < simulation_.flows().size(); ++i) {
    const Nanoseconds at = simulation_.flows()[i]->finished;
    if (at != NEVER) finished[std::to_string(i)] = (at - simulation_.zero()) / 1000;
  }
  const json line = {{"finished_us", finished}, {"events", simulation_.events()}};
  std::fprintf(out_, "%s\n", line.dump().c_str());
  std::fflush(out_);
}

}  // namespace clarion::sim
