// SPDX-License-Identifier: Apache-2.0
// Frames with the option of JetMax and MaxNet, behind two NOPs or so.
#pragma once

#include <algorithm>

#include "frames.hpp"
#include "router/link_option.hpp"

namespace clarion::emu {

inline std::vector<std::uint8_t> link_frame(const LinkOption& option, std::size_t nops = 2) {
  auto tcp = tcp_segment(20 + 100);
  tcp[12] = 0xa0;
  std::fill_n(tcp.begin() + 20, 20, std::uint8_t{1});
  store_be16(tcp.data() + 16, 0x5678);
  link_option::write_data(tcp.data() + 20 + nops, option);
  return ipv4_frame(6, tcp);
}

inline LinkOption link_option_of(const std::vector<std::uint8_t>& frame, std::size_t nops = 2) {
  return link_option::read_data(frame.data() + 54 + nops);
}

}  // namespace clarion::emu
