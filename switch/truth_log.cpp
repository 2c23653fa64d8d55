// SPDX-License-Identifier: Apache-2.0
#include "truth_log.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "error.hpp"
#include "flow_id.hpp"

namespace clarion::emu {
namespace {

constexpr std::size_t BUFFER_BYTES = 1 << 20;
constexpr std::size_t LONGEST_LINE_BYTES = 512;
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
    : path_(path), clarion_protocol_(clarion_protocol) {
  if (path.empty()) return;
  fd_ = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd_ < 0)
    throw Fault{"truth_log", FaultCode::invalid, "cannot write " + path + ": " + std::strerror(errno)};
  buffer_.reserve(BUFFER_BYTES + LONGEST_LINE_BYTES);
  buffer_ = HEADER;
  flush();
}

TruthLog::~TruthLog() {
  flush();
  if (fd_ >= 0) close(fd_);
}

void TruthLog::append(std::uint64_t value) {
  std::array<char, 24> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  buffer_.append(text.data(), end).push_back(',');
}

void TruthLog::record(Nanoseconds time, std::string_view switch_name, std::string_view port,
                      Direction direction, Cause cause, const std::uint8_t* frame, std::uint32_t length) {
  if (fd_ < 0) return;
  const FlowId flow = identify_flow(frame, length, clarion_protocol_);
  std::array<char, 48> text{};
  append(time / 1000);
  append(switch_name);
  append(port);
  append(direction == Direction::out ? "out" : "in");
  append(CAUSES[static_cast<std::size_t>(cause)]);
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
  buffer_.back() = '\n';
  if (buffer_.size() > BUFFER_BYTES) flush();
}

void TruthLog::tick(Nanoseconds now) {
  if (now - written_ < SECOND_NS) return;
  written_ = now;
  flush();
}

void TruthLog::flush() {
  for (std::size_t done = 0; fd_ >= 0 && done < buffer_.size();) {
    const ssize_t n = write(fd_, buffer_.data() + done, buffer_.size() - done);
    if (n > 0) {
      done += static_cast<std::size_t>(n);
    } else if (errno != EINTR) {
      warn("truth_log: " + path_ + ": " + std::strerror(errno) + "; logging stops, forwarding goes on");
      close(fd_);
      fd_ = -1;
    }
  }
  buffer_.clear();
}

}  // namespace clarion::emu
