// SPDX-License-Identifier: Apache-2.0
// A register file as a file that software maps, in place of a card's PCIe resource file.
//
// Single stores into a mapped file cannot be observed, so poll() compares the file with what it last held.
// Registers that software changed are written over AXI4-Lite, `command` before `request`, and the units are
// clocked until they have answered. Then the file is brought up to date: a reply before its status, and that
// before `done`. A store to a register that is read-only or not there is refused and reverted.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "hls/sim/register_file.hpp"

namespace clarion::sim {

class BarServer {
 public:
  // One clock of a unit, by its position in the register file.
  using ClockUnit = std::function<void(std::size_t unit)>;

  // Makes the file. Throws std::runtime_error "PATH: reason".
  BarServer(std::string path, RegisterFile& registers, ClockUnit clock_unit);
  BarServer(const BarServer&) = delete;
  BarServer& operator=(const BarServer&) = delete;
  ~BarServer();  // software that still maps the file reads all ones, as from a card that is gone

  // True if software had changed something.
  bool poll();

 private:
  static constexpr unsigned MAX_CLOCKS = 100'000;

  bool take_requests();
  bool take_block(std::uint32_t block);
  bool take_rest();
  bool take(std::uint32_t offset);
  void carry_out();
  void show();
  std::uint32_t load(std::uint32_t offset) const;
  void store(std::uint32_t offset, std::uint32_t value);

  std::string path_;
  RegisterFile& registers_;
  ClockUnit clock_unit_;
  std::uint32_t* words_ = nullptr;     // the file
  std::vector<std::uint32_t> shown_;   // the file's content as last written or read by us
  std::vector<std::uint32_t> mapped_;  // offsets of all registers, in the order in which show() writes them
};

}  // namespace clarion::sim
