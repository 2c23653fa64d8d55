// SPDX-License-Identifier: Apache-2.0
// The AXI4-Lite front end of the simulated block, the same as nic/rtl/clarion_axil.sv: one call of step() is
// one clock.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/types.hpp"
#include "hls/sim/register_map.hpp"
#include "hls/sim/wires.hpp"

namespace clarion::sim {

// Constants of the build, shown in the registers of block `clarion`.
struct BlockFacts {
  unsigned ports = 0;
  unsigned buckets = 0;
  unsigned queue_beats = 0;
  unsigned clock_hz = 250'000'000;
  std::uint32_t build = 0;
};

// A unit behind the window.
struct WindowUnit {
  bool egress = false;
  unsigned port = 0;
  MailboxWires* wires = nullptr;
};

class RegisterFile {
 public:
  static constexpr unsigned WORDS = registers::WINDOW_BYTES / 4;
  static constexpr unsigned MAX_UNITS = registers::WINDOW_BYTES / registers::STRIDE_BYTES - 1;
  static constexpr std::uint8_t ALL_BYTES = 0xf;

  enum class Access { none, read_only, writable };

  struct Reading {
    bool ok;  // false: SLVERR
    std::uint32_t value;
  };

  // The units in the order of the window, at most MAX_UNITS.
  RegisterFile(const BlockFacts& facts, const std::vector<WindowUnit>& units);

  // Bus accesses: a refused one counts in `refused` and changes nothing.
  Reading read32(std::uint32_t offset);
  bool write32(std::uint32_t offset, std::uint32_t value, std::uint8_t strobes = ALL_BYTES);

  // Accesses of the simulation only, without side effects.
  Access access(std::uint32_t offset) const;
  std::uint32_t value(std::uint32_t offset) const;

  void set_now(Ticks now) { now_ = now; }
  std::uint8_t protocol() const { return static_cast<std::uint8_t>(protocol_); }
  std::size_t units() const { return mailboxes_.size(); }

  // One clock of all mailboxes, after that of the units, which the caller clocks.
  void step();
  // Whether the unit at this position has a request that is not carried out yet.
  bool busy(std::size_t unit) const {
    return mailboxes_[unit].unit.wires->command || mailboxes_[unit].request != mailboxes_[unit].done;
  }

 private:
  struct Mailbox {
    WindowUnit unit;
    std::uint32_t request = 0;
    std::uint32_t taken = 0;  // number of the request that runs
    std::uint32_t done = 0;
    std::uint32_t status = 0;
    CommandWords command{};
    std::array<std::uint32_t, registers::REPLY_WORDS> reply{};
  };

  static void take_up(Mailbox& mailbox);
  static void collect(Mailbox& mailbox);
  std::uint32_t header(unsigned block, std::uint32_t at) const;
  std::uint32_t clarion(std::uint32_t at) const;
  static std::uint32_t mailbox(const Mailbox& mailbox, std::uint32_t at);
  Access clarion_access(std::uint32_t at) const;
  static Access mailbox_access(std::uint32_t at);
  bool refuse();

  BlockFacts facts_;
  std::vector<Mailbox> mailboxes_;
  Ticks now_ = 0;
  std::uint32_t scratch_ = registers::RESET_CLARION_SCRATCH;
  std::uint32_t protocol_ = registers::RESET_CLARION_PROTOCOL;
  std::uint32_t refused_ = 0;
};

}  // namespace clarion::sim
