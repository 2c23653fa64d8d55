// SPDX-License-Identifier: Apache-2.0
// A capture file with comments on packets: pcapng, draft-ietf-opsawg-pcapng, sections 4.1 to 4.3.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "log_file.hpp"

namespace clarion::emu {

class PcapngFile {
 public:
  // Ethernet interfaces with these names, in their order; of each frame the first `snap_bytes` are kept.
  PcapngFile(const Path& option, const std::string& path, const std::vector<std::string>& interfaces,
             std::uint32_t snap_bytes);

  // `stored` bytes of the frame are there. `unix_time_ns`: of its first bit.
  void packet(std::uint32_t interface, std::uint64_t unix_time_ns, const std::uint8_t* frame,
              std::uint32_t stored, std::uint32_t length, std::string_view comment);

  void tick(Nanoseconds now) { file_.tick(now); }
  void flush() { file_.flush(); }

 private:
  LogFile file_;
  std::uint32_t snap_bytes_;
};

}  // namespace clarion::emu
