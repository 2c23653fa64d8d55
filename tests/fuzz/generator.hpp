// SPDX-License-Identifier: Apache-2.0
// Frames to try parsers with: valid ones of every kind, and the same with lies, cuts and flipped bits.
#pragma once

#include <array>
#include <cstdint>

#include "draws.hpp"

namespace clarion::fuzz {

constexpr std::uint8_t PROTOCOL = 253;
constexpr std::uint32_t LONGEST_BYTES = 9400;  // jumbo frames, with bytes added to them
constexpr unsigned STATIONS = 3;               // addresses 02:00:00:00:01:00 and on
constexpr std::uint32_t TCP_SEQ = 0x7ffffff0;  // about which sequence and acknowledgement numbers are

class Generator {
 public:
  explicit Generator(Random& random);

  // Writes a frame of up to LONGEST_BYTES and returns its length.
  std::uint32_t make(std::uint8_t* frame);

 private:
  void ethernet();
  std::uint8_t next_protocol();
  void ipv4();
  void ipv6();
  void lldp();
  void clarion();
  void transport(std::uint8_t protocol);
  void tcp();
  void payload();
  void state_lengths();
  void mutate();
  void lie_about_ip();
  void lie_about_header();

  void byte(std::uint32_t value) { frame_[length_++] = static_cast<std::uint8_t>(value); }
  void word(std::uint32_t value);
  void number(std::uint32_t value);
  void noise(std::uint32_t bytes);
  std::uint32_t wrong_length(std::uint32_t begin);

  Random& random_;
  std::array<std::uint8_t, 16384> noise_;
  std::uint16_t link_seq_ = 0;

  // Of the frame that is being made. Where something starts, 0: there is none.
  std::uint8_t* frame_ = nullptr;
  std::uint32_t length_ = 0;
  std::uint32_t ip_at_ = 0;
  std::uint32_t clarion_at_ = 0;
  std::uint32_t tcp_at_ = 0;
};

}  // namespace clarion::fuzz
