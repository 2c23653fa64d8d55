// SPDX-License-Identifier: Apache-2.0
#include "truth_log.hpp"

#include <arpa/inet.h>

#include <array>
#include <charconv>

#include "flow_id.hpp"

namespace clarion::emu {
namespace {

constexpr std::string_view CAUSES[] = {"wire", "queue",     "policer",   "outage",   "blocked",
                                       "mark", "duplicate", "displaced", "stripped", "flipped"};
constexpr std::string_view HEADER =
    "time_us,switch,port,direction,cause,bytes,proto,src,sport,dst,dport,tcp_seq,payload_bytes,format,"
    "bucket\n";

std::string_view address_text(const FlowId& flow, const std::uint8_t* address, std::array<char, 48>& text) {
  if (flow.ip_version == 0) return {};
  return inet_ntop(flow.ip_version == 4 ? AF_INET : AF_INET6, address, text.data(), text.size());
}

}  // namespace

TruthLog::TruthLog(const std::string& path, std::uint8_t clarion_protocol)
    : clarion_protocol_(clarion_protocol) {
  if (path.empty()) return;
  file_ = std::make_unique<LogFile>("truth_log", path);
  file_->buffer() = HEADER;
  flush();
}

std::string_view TruthLog::name_of(Cause cause) { return CAUSES[static_cast<std::size_t>(cause)]; }

void TruthLog::append(std::uint64_t value) {
  std::array<char, 24> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  file_->buffer().append(text.data(), end).push_back(',');
}

void TruthLog::record(Nanoseconds time, std::string_view switch_name, std::string_view port,
                      Direction direction, Cause cause, const std::uint8_t* frame, std::uint32_t length) {
  if (!file_ || !file_->is_open()) return;
  const FlowId flow = identify_flow(frame, length, clarion_protocol_);
  std::array<char, 48> text{};
  append(time / 1000);
  append(switch_name);
  append(port);
  append(direction == Direction::out ? "out" : "in");
  append(name_of(cause));
  append(length);
  append(flow.protocol);
  append(address_text(flow, flow.source, text));
  append(flow.source_port);
  append(address_text(flow, flow.destination, text));
  append(flow.destination_port);
  append(flow.tcp_sequence);
  append(flow.payload_bytes);
  append(flow.format);
  append(flow.bucket);
  file_->buffer().back() = '\n';
  file_->appended();
}

}  // namespace clarion::emu
