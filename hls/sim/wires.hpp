// SPDX-License-Identifier: Apache-2.0
// What goes over the ports of a unit in simulation: sizes of frames, commands and their answers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "hls/sim/register_map.hpp"

namespace clarion::sim {

constexpr unsigned BEAT_BYTES = 64;
constexpr unsigned FRAME_MIN_BYTES = 60;  // without the checksum
constexpr unsigned FRAME_MAX_BYTES = 9600;

// As `tkeep`: a beat that this many bytes are left for.
inline std::uint64_t keep_of(std::size_t bytes) {
  return bytes >= BEAT_BYTES ? UINT64_MAX : (std::uint64_t{1} << bytes) - 1;
}

// A command, from the operation on.
using CommandWords = std::array<std::uint32_t, registers::COMMAND_WORDS>;

// A beat of an answer.
struct ReplyBeat {
  std::array<std::uint32_t, registers::BEAT_WORDS> words{};
  unsigned index = 0;
  bool last = false;
  std::uint8_t status = 0;
};

// From the port: {data, 4 bits without meaning, status 8, last, index 3}.
inline ReplyBeat reply_of(const std::uint32_t* port) {
  ReplyBeat beat;
  for (unsigned i = 0; i < registers::BEAT_WORDS; ++i) beat.words[i] = port[i] >> 16 | port[i + 1] << 16;
  beat.index = port[0] & 7;
  beat.last = port[0] >> 3 & 1;
  beat.status = static_cast<std::uint8_t>(port[0] >> 4);
  return beat;
}

// Between a mailbox and its unit. The mailbox holds a command until the unit takes it, with the last beat of
// the answer. What the unit says is of the clock that it has just had, until it is looked at.
struct MailboxWires {
  std::optional<CommandWords> command;
  bool taken = false;
  std::optional<ReplyBeat> reply;
};

}  // namespace clarion::sim
