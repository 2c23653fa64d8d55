// SPDX-License-Identifier: Apache-2.0
#include "captures.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "port.hpp"

namespace clarion::emu {
namespace {

std::string name_of(const Port& port) { return port.switch_name + ":" + port.options.name; }

// For file names: switches and ports have any other character.
std::string as_file_name(std::string name) {
  std::replace_if(name.begin(), name.end(), [](char c) { return c == ':' || c == '/'; }, '.');
  return name;
}

std::string comment_of(const Captures::Causes& causes) {
  std::string comment;
  for (const TruthLog::Cause cause : causes) {
    if (!comment.empty()) comment += ", ";
    comment += TruthLog::is_loss(cause) ? "lost: " : "changed: ";
    comment += TruthLog::name_of(cause);
  }
  return comment;
}

}  // namespace

void Captures::open(const std::vector<std::unique_ptr<Port>>& ports) {
  if (options_.directory.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(options_.directory, error);
  if (error) {
    const Path option = Path("capture") / "directory";
    throw Fault{option, FaultCode::invalid, "cannot make " + options_.directory + ": " + error.message()};
  }
  for (const auto& port : ports) {
    if (port->capture.file != nullptr) continue;  // as the other end of a link
    const std::string here = name_of(*port);
    const std::string there = port->peer != nullptr ? name_of(*port->peer) : port->options.netdev;
    const std::string name =
        port->peer != nullptr ? as_file_name(here) + "--" + as_file_name(there) : as_file_name(here);
    PcapngFile* made = file(name, {here + " > " + there, there + " > " + here});
    port->capture = {made, 0, 1};
    if (port->peer != nullptr) port->peer->capture = {made, 1, 0};
  }
}

PcapngFile* Captures::file(const std::string& name, const std::vector<std::string>& interfaces) {
  const std::string path = options_.directory + "/" + name + ".pcapng";
  const auto bytes = static_cast<std::uint32_t>(options_.frame_bytes);
  return files_
      .emplace_back(std::make_unique<PcapngFile>(Path("capture") / "directory", path, interfaces, bytes))
      .get();
}

void Captures::packet(const Port& port, TruthLog::Direction direction, Nanoseconds time,
                      const std::uint8_t* frame, std::uint32_t stored, std::uint32_t length,
                      const Causes& causes) const {
  if (port.capture.file == nullptr) return;
  const std::uint32_t interface = direction == TruthLog::Direction::out ? port.capture.out : port.capture.in;
  port.capture.file->packet(interface, time + static_cast<Nanoseconds>(to_unix_ns_), frame, stored, length,
                            comment_of(causes));
}

void Captures::tick(Nanoseconds now) {
  for (const auto& each : files_) each->tick(now);
}

void Captures::flush() {
  for (const auto& each : files_) each->flush();
}

}  // namespace clarion::emu
