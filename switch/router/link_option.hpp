// SPDX-License-Identifier: Apache-2.0
// The TCP option in which JetMax and MaxNet speak with their routers. Neither paper's layout is public: this
// one is ours, of the kind for experiments, with a number that is not registered (RFC 6994).
//
//   data  kind, length 16, ExID | controlling link, proposed link | word | interval
//   ACK   kind, length 10, ExID | proposed link, word             as the newest data packet has brought them
#pragma once

#include <cstdint>

#include "../checksum.hpp"
#include "core/byte_order.hpp"
#include "core/header.hpp"

namespace clarion::emu {

struct LinkOption {
  std::uint16_t controlling = 0;  // the link that decides on the flow's rate now; 0: none yet
  std::uint16_t proposed = 0;     // that which is to decide next; 0: no router has seen the packet
  std::uint32_t word = 0;         // the law's: a rate that routers lower, or a price that they raise
  std::uint32_t interval_ns = 0;  // from one packet of the flow to the next
};

namespace link_option {

constexpr std::uint8_t KIND = 253;
constexpr std::uint16_t EXID = 0xC1A9;
constexpr std::uint8_t DATA_BYTES = 16;
constexpr std::uint8_t ECHO_BYTES = 10;
constexpr std::uint32_t PROPOSED_AT = 6;  // in the option of data

inline void write_data(std::uint8_t* at, const LinkOption& option) {
  at[0] = KIND;
  at[1] = DATA_BYTES;
  store_be16(at + 2, EXID);
  store_be16(at + 4, option.controlling);
  store_be16(at + PROPOSED_AT, option.proposed);
  store_be32(at + 8, option.word);
  store_be32(at + 12, option.interval_ns);
}

inline void write_echo(std::uint8_t* at, const LinkOption& option) {
  at[0] = KIND;
  at[1] = ECHO_BYTES;
  store_be16(at + 2, EXID);
  store_be16(at + 4, option.proposed);
  store_be32(at + 6, option.word);
}

// Of an option that is whole; of another length or number it is not this one.
inline bool is_data(const std::uint8_t* at) {
  return at[0] == KIND && at[1] == DATA_BYTES && load_be16(at + 2) == EXID;
}

inline bool is_echo(const std::uint8_t* at) {
  return at[0] == KIND && at[1] == ECHO_BYTES && load_be16(at + 2) == EXID;
}

inline LinkOption read_data(const std::uint8_t* at) {
  return {load_be16(at + 4), load_be16(at + PROPOSED_AT), load_be32(at + 8), load_be32(at + 12)};
}

inline LinkOption read_echo(const std::uint8_t* at) { return {0, load_be16(at + 4), load_be32(at + 6), 0}; }

// The option of a data packet in its frame, of which at least the headers are there. Safe with any bytes.
class Place {
 public:
  Place(std::uint8_t* frame, std::uint32_t length) : Place(static_cast<const std::uint8_t*>(frame), length) {
    writable_ = frame;
  }
  Place(const std::uint8_t* frame, std::uint32_t length) : frame_(frame) {
    constexpr std::uint8_t TCP = 6;
    constexpr std::uint32_t TCP_BYTES = 20;
    const IpPayload ip = parse_ip(frame, length);
    segment_ = ip.at + ip.begin;
    if (!ip.found || ip.fragment || ip.protocol != TCP || segment_ + TCP_BYTES > length) return;
    const std::uint32_t end = segment_ + (frame[segment_ + 12] >> 4) * 4U;
    if (end <= length) find(segment_ + TCP_BYTES, end);
  }

  bool found() const { return at_ != 0; }
  LinkOption read() const { return read_data(frame_ + at_); }

  // TCP's checksum follows, right or wrong as it was. Only of a frame that may be written.
  void propose(std::uint16_t link, std::uint32_t word) {
    std::uint8_t bytes[6];
    store_be16(bytes, link);
    store_be32(bytes + 2, word);
    std::uint16_t checksum = load_be16(frame_ + segment_ + CHECKSUM_AT);
    for (std::uint32_t i = 0; i < sizeof bytes; ++i) {
      std::uint8_t& byte = writable_[at_ + PROPOSED_AT + i];
      const unsigned shift = (at_ + PROPOSED_AT + i - segment_) % 2 == 0 ? 8 : 0;
      checksum = checksum_replace(checksum, static_cast<std::uint16_t>(byte << shift),
                                  static_cast<std::uint16_t>(bytes[i] << shift));
      byte = bytes[i];
    }
    store_be16(writable_ + segment_ + CHECKSUM_AT, checksum);
  }

 private:
  static constexpr std::uint32_t CHECKSUM_AT = 16;

  void find(std::uint32_t at, std::uint32_t end) {
    constexpr std::uint8_t END = 0;
    constexpr std::uint8_t NOP = 1;
    while (at < end && frame_[at] != END) {
      if (frame_[at] == NOP) {
        ++at;
        continue;
      }
      if (end - at < 2 || frame_[at + 1] < 2 || frame_[at + 1] > end - at) return;
      if (frame_[at + 1] == DATA_BYTES && is_data(frame_ + at)) {
        at_ = at;
        return;
      }
      at += frame_[at + 1];
    }
  }

  const std::uint8_t* frame_;
  std::uint8_t* writable_ = nullptr;
  std::uint32_t segment_ = 0;
  std::uint32_t at_ = 0;  // 0: there is none
};

}  // namespace link_option
}  // namespace clarion::emu
