// SPDX-License-Identifier: Apache-2.0
#include "event_log.hpp"

#include <array>
#include <charconv>

#include "fabric.hpp"
#include "flow_id.hpp"

namespace clarion::emu {
namespace {

// The P4 program writes IPv4 as ::ffff:a.b.c.d.
std::array<std::uint8_t, 16> as_ipv6(const FlowId& flow, const std::uint8_t* address) {
  std::array<std::uint8_t, 16> out{};
  if (flow.ip_version == 4) {
    out[10] = out[11] = 0xff;
    std::copy(address, address + 4, out.begin() + 12);
  } else if (flow.ip_version == 6) {
    std::copy(address, address + 16, out.begin());
  }
  return out;
}

}  // namespace

bool EventLog::begin(std::string_view kind, const Switch& sw) {
  if (lines_.size() >= CAPACITY_BYTES) {
    ++lost_;
    return false;
  }
  lines_.append("{\"").append(kind).append("\":[").append(sw.quoted_name).push_back(',');
  ++count_;
  return true;
}

void EventLog::number(std::uint64_t value) {
  std::array<char, 24> text;
  lines_.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr).push_back(',');
}

void EventLog::hex(const std::uint8_t* bytes, std::size_t count) {
  constexpr std::string_view DIGITS = "0123456789abcdef";
  lines_.push_back('"');
  for (std::size_t i = 0; i < count; ++i) {
    lines_.push_back(DIGITS[bytes[i] >> 4]);
    lines_.push_back(DIGITS[bytes[i] & 0xf]);
  }
  lines_.append("\",");
}

void EventLog::end() {
  lines_.back() = ']';
  lines_.append("}\n");
}

void EventLog::interval(const Port& port) {
  if (!begin("interval", *port.parent)) return;
  const PortTelemetry telemetry = port.path->telemetry();
  const IntervalReport& report = telemetry.interval;
  const std::array<std::uint64_t, 19> members = {port.options.number,
                                                 report.intervals & TICKS_MAX,
                                                 report.elapsed,
                                                 report.avg_rtt,
                                                 report.sums.input,
                                                 report.sums.sum_x,
                                                 report.sums.sum_x_rtt,
                                                 report.queue_bytes,
                                                 report.rate_q8,
                                                 static_cast<std::uint64_t>(report.phi_q8),
                                                 report.shares.pos,
                                                 report.shares.neg,
                                                 report.shares.cp.mantissa,
                                                 report.shares.cp.shift,
                                                 report.shares.cn.mantissa,
                                                 report.shares.cn.shift,
                                                 telemetry.wire.lost,
                                                 telemetry.queue.lost,
                                                 port.meter.measured_bytes_per_s()};
  for (const std::uint64_t member : members) number(member);
  end();
}

void EventLog::drop(const Port& port, std::uint64_t timestamp_us, const std::uint8_t* frame,
                    std::uint32_t length, std::uint8_t clarion_protocol) {
  if (timestamp_us / 1'000'000 != drops_second_) {
    drops_second_ = timestamp_us / 1'000'000;
    drops_reported_ = 0;
  }
  if (drops_reported_ >= DROPS_PER_SECOND || !begin("drop", *port.parent)) return;
  ++drops_reported_;
  const FlowId flow = identify_flow(frame, length, clarion_protocol);
  number(timestamp_us);
  number(port.options.number);
  number(length);
  hex(as_ipv6(flow, flow.source).data(), 16);
  hex(as_ipv6(flow, flow.destination).data(), 16);
  for (const std::uint64_t member :
       {std::uint64_t{flow.protocol}, std::uint64_t{flow.source_port}, std::uint64_t{flow.destination_port},
        std::uint64_t{flow.format}, std::uint64_t{flow.bucket}, std::uint64_t{port.drop_number}}) {
    number(member);
  }
  end();
}

void EventLog::packet(const Switch& sw, std::uint64_t port, std::uint64_t timestamp_us,
                      const std::uint8_t* frame, std::uint32_t length) {
  if (!begin("packet", sw)) return;
  number(port);
  number(timestamp_us);
  hex(frame, length);
  end();
}

}  // namespace clarion::emu
