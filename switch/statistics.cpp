// SPDX-License-Identifier: Apache-2.0
#include "statistics.hpp"

#include <charconv>
#include <nlohmann/json.hpp>

#include "core/host_units.hpp"

namespace clarion::emu {
namespace {

using nlohmann::json;

json xcp_telemetry(const IntervalReport& report, const CapacityMeter& meter) {
  return {{"intervals", report.intervals},
          {"measured_bps", 8 * meter.measured_bytes_per_s()},
          {"avg_rtt_us", us_of_ticks(report.avg_rtt)},
          {"interval_us", us_of_ticks(report.elapsed)},
          {"input_bytes", report.sums.input},
          {"phi_bytes_per_s", bytes_per_s(report.phi_q8)},
          {"queue_bytes", report.queue_bytes},
          {"cp", value_of(report.shares.cp)},
          {"cn", value_of(report.shares.cn)}};
}

json router_telemetry(const Port& port) {
  json out = {{"law", name_of(port.options.router.law)}};
  for (const auto& [name, value] : port.router->report()) out[name] = value;
  return out;
}

void add_netdev(json& out, Netdev* netdev) {
  const NetdevCounters counters = netdev != nullptr ? netdev->counters() : NetdevCounters{};
  out["rx_kernel_drops"] = counters.rx_kernel_drops;
  out["rx_oversized"] = counters.rx_oversized;
  out["rx_checksums_completed"] = counters.rx_checksums_completed;
  out["tx_errors"] = counters.tx_errors;
}

json port_statistics(Port& port, Nanoseconds now) {
  port.queue_statistics.settle(now);
  const PortCounters& counters = port.counters;
  const PortTelemetry telemetry = port.path->telemetry();
  const SequenceCounters& wire = telemetry.wire;
  const SequenceCounters& queue = telemetry.queue;
  json out = {{"name", port.options.name},
              {"tx_packets", counters.tx_packets},
              {"tx_bytes", counters.tx_bytes},
              {"rx_packets", counters.rx_packets},
              {"rx_bytes", counters.rx_bytes},
              {"queue_bytes", port.path->queue_bytes()},
              {"queue_packets", port.path->queued()},
              {"queue_byte_us", port.queue_statistics.byte_us()},
              {"queue_hist", queue_histogram(port.queue_statistics)},
              {"queue_max_bytes", port.queue_statistics.max_bytes()},
              {"wire_packets", port.out.flying() + port.hazards.flying()},
              {"drop_packets", counters.drop_packets},
              {"drop_bytes", counters.drop_bytes},
              {"memory_drops", counters.memory_drops},
              {"wire_lost_packets", counters.wire_lost_packets},
              {"hazard_lost_packets", counters.hazard_lost_packets},
              {"marked_packets", counters.marked_packets},
              {"ingress_lost_packets", counters.ingress_lost_packets},
              {"tx_late_packets", counters.tx_late_packets},
              {"tx_late_max_us", counters.tx_late_max_ns / 1000},
              {"rx_runts", counters.rx_runts},
              {"malformed", telemetry.malformed},
              {"corrupt_total", static_cast<std::int64_t>(wire.lost - wire.late)},
              {"congest_total", static_cast<std::int64_t>(queue.lost - queue.late)},
              {"rebased", wire.rebased + queue.rebased},
              {"xcp", xcp_telemetry(telemetry.interval, port.meter)}};
  if (port.router) out["router"] = router_telemetry(port);
  add_netdev(out, port.netdev.get());
  return out;
}

json neighbour(const Fabric& fabric, const Neighbour& each) {
  return {{"chassis_id", each.chassis.text()},
          {"port_id", each.port.text()},
          {"clarion", each.clarion.has_value()},
          {"stamps", each.clarion && each.clarion->stamps},
          {"checks", each.clarion && each.clarion->checks},
          {"until_us", fabric.switch_time_us(each.until)}};
}

json wire(const Fabric& fabric, const Port& port) {
  const bool declared = port.entries.tag && port.entries.tag->wire;
  const Judgement judgement = port.neighbours.judgement();
  const bool effective = is_bare_wire(declared, judgement);
  const Nanoseconds until = port.neighbours.judged_until();
  json neighbours = json::array();
  for (const Neighbour& each : port.neighbours.alive()) neighbours.push_back(neighbour(fabric, each));
  return {{"port", port.options.number},
          {"name", port.options.name},
          {"lldp", fabric.lldp().speaks(port)},
          {"declared", declared},
          {"judgement", name_of(judgement)},
          {"until_us", until == NEVER ? json() : json(fabric.switch_time_us(until))},
          {"effective", effective},
          {"conflict", declared && !effective},
          {"neighbours", std::move(neighbours)}};
}

}  // namespace

std::string wires_of(const Fabric& fabric, const Switch& sw) {
  json ports = json::array();
  for (const Port* port : sw.ports) ports.push_back(wire(fabric, *port));
  const json out = {{"chassis_id", sw.chassis_id},
                    {"time_us", fabric.switch_time_us(fabric.now())},
                    {"ports", std::move(ports)}};
  return out.dump(-1, ' ', false, json::error_handler_t::replace);  // neighbours write what they like
}

std::string statistics(Fabric& fabric) {
  json switches = json::array();
  for (const auto& sw : fabric.switches()) {
    json ports = json::array();
    for (Port* port : sw->ports) ports.push_back(port_statistics(*port, fabric.now()));
    switches.push_back({{"name", sw->name}, {"ports", std::move(ports)}});
  }
  return json{
      {"time_us", fabric.now() / 1000}, {"late_us", fabric.late() / 1000}, {"switches", std::move(switches)}}
      .dump();
}

json queue_histogram(const QueueStatistics& queue) {
  std::size_t bins = QueueStatistics::BINS;
  while (bins > 0 && queue.time_in_bin_us(bins - 1) == 0) --bins;
  json::array_t histogram(bins);
  for (std::size_t i = 0; i < bins; ++i) histogram[i] = queue.time_in_bin_us(i);
  return histogram;
}

json queue_histogram_lower_edges_bytes() {
  json edges = json::array();
  for (std::size_t i = 0; i < QueueStatistics::BINS; ++i) edges.push_back(QueueStatistics::lower_edge(i));
  return edges;
}

std::string describe(const Fabric& fabric) {
  json switches = json::array();
  for (const auto& sw : fabric.switches()) {
    json ports = json::array();
    for (const Port* port : sw->ports) {
      ports.push_back({{"name", port->options.name},
                       {"number", port->options.number},
                       {"netdev", port->options.netdev},
                       {"peer", port->options.peer},
                       {"rate_bps", port->options.rate_bps},
                       {"queue_limit_bytes", port->options.queue_bytes},
                       {"delay_us", port->options.delay_us}});
    }
    switches.push_back({{"name", sw->name}, {"chassis_id", sw->chassis_id}, {"ports", std::move(ports)}});
  }
  return json{{"clock", "monotonic"},
              {"lldp", fabric.lldp().speaks()},
              {"real_to_monotonic_us", real_to_monotonic_ns() / 1000},
              {"max_frame_bytes", Netdev::MAX_FRAME_BYTES},
              {"queue_hist_lower_edges_bytes", queue_histogram_lower_edges_bytes()},
              {"switches", std::move(switches)}}
      .dump();
}

}  // namespace clarion::emu
