// SPDX-License-Identifier: Apache-2.0
// The data plane's unsolicited reports, as lines for the control socket. The buffer is bounded; what does not
// fit is counted as lost.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace clarion::emu {

struct Port;
struct Switch;

class EventLog {
 public:
  static constexpr std::size_t CAPACITY_BYTES = 1 << 20;  // between two deliveries, which are 100 us apart

  // A control interval of the port ended: the members of the P4 program's interval_report_t.
  void interval(const Port& port);

  // The port's queue dropped a frame: the members of queue_drop_t. The rate is limited, or drops would crowd
  // out interval reports; the member `drops` counts every drop.
  static constexpr std::uint64_t DROPS_PER_SECOND = 2000;
  void drop(const Port& port, std::uint64_t timestamp_us, const std::uint8_t* frame, std::uint32_t length,
            std::uint8_t clarion_protocol);

  // A frame for the controller, with the number of the port that it came in by.
  void packet(const Switch& sw, std::uint64_t port, std::uint64_t timestamp_us, const std::uint8_t* frame,
              std::uint32_t length);

  bool empty() const { return lines_.empty() && lost_ == 0; }
  const std::string& lines() const { return lines_; }
  std::uint64_t count() const { return count_; }  // reports in lines()
  std::uint64_t lost() const { return lost_; }
  void clear() {
    lines_.clear();
    count_ = lost_ = 0;
  }

 private:
  bool begin(std::string_view kind, const Switch& sw);
  void number(std::uint64_t value);
  void hex(const std::uint8_t* bytes, std::size_t count);
  void end();

  std::string lines_;
  std::uint64_t count_ = 0;
  std::uint64_t lost_ = 0;
  std::uint64_t drops_second_ = 0;  // the current second, and the drops reported in it
  std::uint64_t drops_reported_ = 0;
};

}  // namespace clarion::emu
