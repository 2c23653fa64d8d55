// SPDX-License-Identifier: Apache-2.0
#include "recorder.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "core/host_units.hpp"
#include "switch/statistics.hpp"

namespace clarion::sim {
namespace {

using nlohmann::json;

// In the order of FlowSample of clarion_lab.recording.
json flow_row(std::size_t number, const Flow& flow) {
  if (flow.sender() == nullptr) {
    return json::array({number, flow.received_bytes(), flow.received_bytes(), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                        flow.received_bytes()});
  }
  const Sender& sender = flow.sender()->sender();
  const Scoreboard& board = sender.board();
  const std::uint64_t acked = sender.acked_bytes();
  const std::uint32_t min_us = sender.rtt().min_us();
  return json::array({number, acked + std::uint64_t{board.sacked_out()} * sender.settings().mss_bytes, acked,
                      sender.cwnd(), sender.rtt().srtt_us(), min_us == NO_RTT ? 0 : min_us,
                      board.packets_out(), 0, sender.resent(),
                      sender.pacing_bytes_per_s() == Sender::NO_RATE ? 0 : sender.pacing_bytes_per_s(),
                      sender.window_limited_us(), 0, flow.clarion().stats.corrupt,
                      flow.clarion().stats.congest, flow.received_bytes()});
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

// enum flow_reason of hosts/bpf/flow.h
constexpr const char* REASONS[] = {"none",  "congestion", "unexplained",  "loss", "timeout",
                                   "delay", "ecn",        "contradicted", "local"};
static_assert(std::size(REASONS) == FLOW_REASONS);

// As `clarion-host stats` has it.
json agent_record(const flow& flow) {
  json reductions = json::object();
  for (std::size_t reason = 1; reason < FLOW_REASONS; ++reason) {
    reductions[REASONS[reason]] = flow.stats.reduced[reason];
  }
  const bool is_plain = flow.id.aware == 0 || flow.id.plain != 0;
  const bool is_tagged = flow.id.tags != 0 || flow.id.peer_format != CLARION_NONE;
  return {{"aware", flow.id.aware != 0},
          {"mode", is_plain                   ? "plain"
                   : flow.request.wanted != 0 ? "xcp"
                   : is_tagged                ? "tag"
                                              : "plain"},
          {"plain_fallbacks", flow.id.plain_fallbacks},
          {"reductions", std::move(reductions)},
          {"gso_passed", flow.stats.gso_passed},
          {"rev_corrupt", static_cast<std::int32_t>(flow.stats.corrupt - flow.stats.local_corrupt)},
          {"rev_congest", static_cast<std::int32_t>(flow.stats.congest)}};
}

}  // namespace

Recorder::Recorder(Simulation& simulation, std::FILE* out)
    : simulation_(simulation), out_(out), waiting_(simulation.flows().size()) {
  const auto& flows = simulation.flows();
  std::iota(waiting_.rbegin(), waiting_.rend(), std::size_t{0});
  std::stable_sort(waiting_.begin(), waiting_.end(),
                   [&](std::size_t a, std::size_t b) { return flows[a]->start() > flows[b]->start(); });
}

json Recorder::flow_rows() {
  for (; !waiting_.empty() && simulation_.flows()[waiting_.back()]->is_started(); waiting_.pop_back()) {
    sampled_.push_back(waiting_.back());
  }
  json rows = json::array();
  const auto over = std::remove_if(sampled_.begin(), sampled_.end(), [&](std::size_t number) {
    const Flow& flow = *simulation_.flows()[number];
    rows.push_back(flow_row(number, flow));
    return flow.is_over();
  });
  sampled_.erase(over, sampled_.end());
  return rows;
}

void Recorder::sample() {
  json ports = json::array();
  for (const auto& port : simulation_.fabric().ports()) {
    ports.push_back(port_row(*port, simulation_.fabric().now()));
  }
  json reductions = json::array();
  json local_drops = json::array();
  for (const Reduction& each : simulation_.take_reductions()) {
    const Nanoseconds time_us = (each.time - simulation_.zero()) / 1000;
    if (each.reason == FLOW_REASONS) {
      local_drops.push_back({time_us, each.actor / 2});
    } else {
      reductions.push_back({time_us, each.actor / 2, REASONS[each.reason], each.before, each.after});
    }
  }
  write({{"time_us", simulation_.now() / 1000},
         {"flows", flow_rows()},
         {"ports", std::move(ports)},
         {"reductions", std::move(reductions)},
         {"local_drops", std::move(local_drops)}});
}

void Recorder::open_window() { histograms_at_window_start_ = histograms(); }

void Recorder::finish() {
  json finished = json::object();
  json agent = json::object();
  json sent = json::object();
  for (std::size_t i = 0; i < simulation_.flows().size(); ++i) {
    const Flow& flow = *simulation_.flows()[i];
    const std::string number = std::to_string(i);
    if (flow.finished() != NEVER) finished[number] = (flow.finished() - simulation_.zero()) / 1000;
    if (flow.sender() != nullptr && flow.sender()->has_shim()) agent[number] = agent_record(flow.clarion());
    if (flow.source() != nullptr) sent[number] = flow.source()->sent_packets();
  }
  write({{"finished_us", std::move(finished)},
         {"agent", std::move(agent)},
         {"sent_datagrams", std::move(sent)},
         {"queue_hist_lower_edges_bytes", emu::queue_histogram_lower_edges_bytes()},
         {"queue_hist_at_window_start", std::move(histograms_at_window_start_)},
         {"queue_hist", histograms()},
         {"events", simulation_.events()}});
  std::fflush(out_);
}

json Recorder::histograms() const {
  json found = json::object();
  for (const auto& port : simulation_.fabric().ports()) {
    port->queue_statistics.settle(simulation_.fabric().now());
    found[port->options.name] = emu::queue_histogram(port->queue_statistics);
  }
  return found;
}

void Recorder::write(const json& line) { std::fprintf(out_, "%s\n", line.dump().c_str()); }

}  // namespace clarion::sim
