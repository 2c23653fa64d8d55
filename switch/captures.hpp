// SPDX-License-Identifier: Apache-2.0
// A capture of every link, with what became of each packet as its comment. docs: switch/README.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "options.hpp"
#include "pcapng.hpp"
#include "truth_log.hpp"

namespace clarion::emu {

struct Port;

// Where the packets that enter the link at a port are written, and those that come in from its device.
struct CaptureEnd {
  PcapngFile* file = nullptr;  // null: nowhere
  std::uint32_t out = 0;       // interfaces of the file, one for each direction of the link
  std::uint32_t in = 0;
};

class Captures {
 public:
  using Causes = std::vector<TruthLog::Cause>;

  // Without a directory it captures nothing. `to_unix_ns` turns the fabric's time into Unix time.
  Captures(const CaptureOptions& options, std::int64_t to_unix_ns)
      : options_(options), to_unix_ns_(to_unix_ns) {}

  // Opens the files of all links. Fault: the directory cannot be written.
  void open(const std::vector<std::unique_ptr<Port>>& ports);

  // A packet at the time at which it enters the link, or at which it is lost; `stored` bytes of it are there.
  void packet(const Port& port, TruthLog::Direction direction, Nanoseconds time, const std::uint8_t* frame,
              std::uint32_t stored, std::uint32_t length, const Causes& causes = {}) const;

  void tick(Nanoseconds now);
  void flush();

 private:
  PcapngFile* file(const std::string& name, const std::vector<std::string>& interfaces);

  CaptureOptions options_;
  std::int64_t to_unix_ns_;
  std::vector<std::unique_ptr<PcapngFile>> files_;
};

}  // namespace clarion::emu
