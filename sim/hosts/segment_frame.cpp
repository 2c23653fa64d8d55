// SPDX-License-Identifier: Apache-2.0
#include "segment_frame.hpp"

#include <algorithm>
#include <cstring>

#include "core/byte_order.hpp"
#include "switch/router/quick_start.hpp"
#include "switch/router/xcp_i.hpp"

namespace clarion::sim {
namespace {

using Place = QuickStartField::Place;
namespace link_option = emu::link_option;
namespace quick_start = emu::quick_start;

constexpr std::uint8_t PROTOCOL_TCP = 6;
constexpr std::uint8_t PROTOCOL_UDP = 17;
constexpr std::uint32_t UDP_BYTES = 8;

// RFC 9293, 7323, 2018, 6994
constexpr std::uint8_t OPTION_END = 0;
constexpr std::uint8_t OPTION_NOP = 1;
constexpr std::uint8_t OPTION_MSS = 2;
constexpr std::uint8_t OPTION_WINDOW_SCALE = 3;
constexpr std::uint8_t OPTION_SACK_PERMITTED = 4;
constexpr std::uint8_t OPTION_SACK = 5;
constexpr std::uint8_t OPTION_STAMPS = 8;
constexpr std::uint8_t OPTION_EXPERIMENT = 254;
constexpr std::uint16_t CLARION_EXID = 0xC1A7;
constexpr std::uint16_t MSS_OFFERED = 1460;

constexpr std::uint8_t FLAG_FIN = 0x01;
constexpr std::uint8_t FLAG_SYN = 0x02;
constexpr std::uint8_t FLAG_PSH = 0x08;
constexpr std::uint8_t FLAG_ACK = 0x10;
constexpr std::uint8_t FLAG_ECE = 0x40;
constexpr std::uint8_t FLAG_CWR = 0x80;
constexpr std::uint8_t FLAG_AE = 0x01;  // of the byte before

constexpr std::uint32_t STAMP_BYTES = 12;  // with two NOPs in front
constexpr std::uint32_t SYN_BYTES = 20;    // MSS, SACK permitted, stamps, NOP, window scale
constexpr std::uint32_t OFFER_BYTES = 8;   // Clarion's option, padded

std::uint16_t checksum(const std::uint8_t* bytes, std::uint32_t length) {
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < length; i += 2) sum += load_be16(bytes + i);
  sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~(sum + (sum >> 16)));
}

std::uint8_t* put_stamps(std::uint8_t* at, const TcpFields& tcp) {
  at[0] = OPTION_STAMPS;
  at[1] = 10;
  store_be32(at + 2, tcp.stamp_ms);
  store_be32(at + 6, tcp.echo_ms);
  return at + 10;
}

// `function` is that of the option in the IP header, 0 in TCP's.
void put_quick_start(std::uint8_t* at, std::uint8_t option, std::uint8_t function,
                     const QuickStartField& field) {
  at[0] = option;
  at[1] = quick_start::BYTES;
  at[2] = static_cast<std::uint8_t>(function << 4 | field.rate);
  at[3] = field.ttl;
  store_be32(at + 4, field.nonce << 2);
}

void read_quick_start(const std::uint8_t* at, Place place, QuickStartField& field) {
  field = {place, static_cast<std::uint8_t>(at[2] & 0xf), at[3], load_be32(at + 4) >> 2};
}

std::uint8_t* put_syn_options(std::uint8_t* at, const TcpFields& tcp) {
  at[0] = OPTION_MSS;
  at[1] = 4;
  store_be16(at + 2, MSS_OFFERED);
  at[4] = OPTION_SACK_PERMITTED;
  at[5] = 2;
  at = put_stamps(at + 6, tcp);
  at[0] = OPTION_NOP;
  at[1] = OPTION_WINDOW_SCALE;
  at[2] = 3;
  at[3] = WINDOW_SHIFT;
  at += 4;
  if (tcp.quick_start.place == Place::response) {
    put_quick_start(at, quick_start::TCP_OPTION, 0, tcp.quick_start);
    at += quick_start::BYTES;
  }
  if (!tcp.offers) return at;
  at[0] = OPTION_EXPERIMENT;
  at[1] = 5;
  store_be16(at + 2, CLARION_EXID);
  at[4] = tcp.offer_flags;
  std::memset(at + 5, OPTION_END, 3);
  return at + OFFER_BYTES;
}

std::uint8_t* put_options(std::uint8_t* at, const TcpFields& tcp) {
  at[0] = at[1] = OPTION_NOP;
  at = put_stamps(at + 2, tcp);
  if (tcp.link.kind == LinkField::Kind::data) {
    link_option::write_data(at, tcp.link.option);
    at += link_option::DATA_BYTES;
  }
  const bool echoes = tcp.link.kind == LinkField::Kind::echo;
  if (echoes) {
    link_option::write_echo(at, tcp.link.option);
    at += link_option::ECHO_BYTES;
  }
  if (echoes == (tcp.sacks == 0)) {  // both together, and neither, need no padding
    at[0] = at[1] = OPTION_NOP;
    at += 2;
  }
  if (tcp.sacks == 0) return at;
  at[0] = OPTION_SACK;
  at[1] = static_cast<std::uint8_t>(2 + 8 * tcp.sacks);
  at += 2;
  for (std::size_t i = 0; i < tcp.sacks; ++i, at += 8) {
    store_be32(at, tcp.blocks[i].begin);
    store_be32(at + 4, tcp.blocks[i].end);
  }
  return at;
}

std::uint8_t flags_of(const TcpFields& tcp) {
  return static_cast<std::uint8_t>((tcp.fin ? FLAG_FIN : 0) | (tcp.syn ? FLAG_SYN : 0) |
                                   (tcp.psh ? FLAG_PSH : 0) | (tcp.has_ack ? FLAG_ACK : 0) |
                                   (tcp.ece ? FLAG_ECE : 0) | (tcp.cwr ? FLAG_CWR : 0));
}

void read_sacks(const std::uint8_t* option, std::uint32_t length, TcpFields& tcp) {
  tcp.sacks = static_cast<std::uint8_t>(std::min<std::uint32_t>((length - 2) / 8, TcpFields::MAX_SACKS));
  for (std::size_t i = 0; i < tcp.sacks; ++i) {
    tcp.blocks[i] = {load_be32(option + 2 + 8 * i), load_be32(option + 6 + 8 * i)};
  }
}

void read_options(const std::uint8_t* at, const std::uint8_t* end, TcpFields& tcp) {
  while (at < end && *at != OPTION_END) {
    if (*at == OPTION_NOP) {
      ++at;
      continue;
    }
    if (end - at < 2 || at[1] < 2 || at[1] > end - at) return;
    if (*at == OPTION_STAMPS && at[1] == 10) {
      tcp.stamp_ms = load_be32(at + 2);
      tcp.echo_ms = load_be32(at + 6);
    } else if (*at == OPTION_SACK) {
      read_sacks(at, at[1], tcp);
    } else if (*at == OPTION_EXPERIMENT && at[1] == 5 && load_be16(at + 2) == CLARION_EXID) {
      tcp.offers = true;
      tcp.offer_flags = at[4];
    } else if (*at == quick_start::TCP_OPTION && at[1] == quick_start::BYTES) {
      read_quick_start(at, Place::response, tcp.quick_start);
    } else if (at[1] == link_option::DATA_BYTES && link_option::is_data(at)) {
      tcp.link = {LinkField::Kind::data, link_option::read_data(at)};
    } else if (at[1] == link_option::ECHO_BYTES && link_option::is_echo(at)) {
      tcp.link = {LinkField::Kind::echo, link_option::read_echo(at)};
    }
    at += at[1];
  }
}

// Returns where the IP header begins; the frame's length is known.
std::uint8_t* put_ethernet_and_ip(Frame& frame, const Address& from, const Address& to, Ecn ecn,
                                  std::uint8_t protocol) {
  std::uint8_t* at = frame.bytes.data();
  std::memcpy(at, to.mac.data(), 6);
  std::memcpy(at + 6, from.mac.data(), 6);
  store_be16(at + 12, 0x0800);
  std::uint8_t* ip = at + 14;
  ip[0] = 0x45;
  ip[1] = static_cast<std::uint8_t>(ecn);
  store_be16(ip + 2, static_cast<std::uint16_t>(frame.length - 14));
  store_be32(ip + 4, 0x4000);  // don't fragment
  ip[8] = FIRST_TTL;
  ip[9] = protocol;
  store_be16(ip + 10, 0);
  store_be32(ip + 12, from.ip);
  store_be32(ip + 16, to.ip);
  store_be16(ip + 10, checksum(ip, 20));
  return ip;
}

// At most one of them is there.
void put_ip_option(std::uint8_t* at, const TcpFields& tcp) {
  if (tcp.has_xcp_ttl) return emu::xcp_i::write(at, FIRST_TTL, 0, 0);
  const bool reports = tcp.quick_start.place == Place::report;
  put_quick_start(at, quick_start::IP_OPTION, reports ? quick_start::REPORT : quick_start::REQUEST,
                  tcp.quick_start);
}

}  // namespace

std::uint32_t option_bytes(const TcpFields& tcp) {
  if (tcp.syn) {
    const bool responds = tcp.quick_start.place == Place::response;
    return SYN_BYTES + (tcp.offers ? OFFER_BYTES : 0) + (responds ? quick_start::BYTES : 0);
  }
  const std::uint32_t sacks = tcp.sacks == 0 ? 0U : 2U + 8U * tcp.sacks;
  const std::uint32_t data = tcp.link.kind == LinkField::Kind::data ? link_option::DATA_BYTES : 0U;
  const std::uint32_t echo = tcp.link.kind == LinkField::Kind::echo ? link_option::ECHO_BYTES : 0U;
  return STAMP_BYTES + data + (echo + sacks + 3) / 4 * 4;
}

std::uint32_t ip_option_bytes(const TcpFields& tcp) {
  const Place place = tcp.quick_start.place;
  if (place == Place::request || place == Place::report) return quick_start::BYTES;
  return tcp.has_xcp_ttl ? emu::xcp_i::BYTES : 0;
}

void write_frame(Frame& frame, const Address& from, const Address& to, const TcpFields& tcp,
                 const HeaderBytes& header) {
  const std::uint32_t options = option_bytes(tcp);
  const std::uint32_t ip_options = ip_option_bytes(tcp);
  frame.stored = FIXED_BYTES + ip_options + header.length + TCP_BYTES + options;
  frame.length = frame.stored + tcp.payload_bytes;
  std::uint8_t* ip =
      put_ethernet_and_ip(frame, from, to, tcp.ecn, header.length > 0 ? header.protocol : PROTOCOL_TCP);
  if (ip_options > 0) {
    put_ip_option(ip + 20, tcp);
    ip[0] = static_cast<std::uint8_t>(0x45 + ip_options / 4);
    store_be16(ip + 10, 0);
    store_be16(ip + 10, checksum(ip, 20 + ip_options));
  }
  if (header.length > 0) std::memcpy(ip + 20 + ip_options, header.bytes, header.length);
  std::uint8_t* segment = ip + 20 + ip_options + header.length;
  store_be16(segment, from.port);
  store_be16(segment + 2, to.port);
  store_be32(segment + 4, tcp.seq);
  store_be32(segment + 8, tcp.ack);
  segment[12] = static_cast<std::uint8_t>((TCP_BYTES + options) / 4 << 4 | (tcp.ae ? FLAG_AE : 0));
  segment[13] = flags_of(tcp);
  store_be16(segment + 14,
             static_cast<std::uint16_t>(std::min<std::uint32_t>(tcp.window_bytes >> WINDOW_SHIFT, 0xffff)));
  store_be32(segment + 16, 0);  // nothing checks the payload's checksum: there is no payload
  tcp.syn ? put_syn_options(segment + TCP_BYTES, tcp) : put_options(segment + TCP_BYTES, tcp);
}

void write_datagram(Frame& frame, const Address& from, const Address& to, std::uint32_t payload_bytes) {
  frame.stored = FIXED_BYTES + UDP_BYTES;
  frame.length = frame.stored + payload_bytes;
  std::uint8_t* ip = put_ethernet_and_ip(frame, from, to, Ecn::not_capable, PROTOCOL_UDP);
  std::uint8_t* datagram = ip + 20;
  store_be16(datagram, from.port);
  store_be16(datagram + 2, to.port);
  store_be16(datagram + 4, static_cast<std::uint16_t>(UDP_BYTES + payload_bytes));
  store_be16(datagram + 6, 0);  // no checksum (RFC 768)
}

void read_ip(const std::uint8_t* ip, std::uint32_t bytes, TcpFields& tcp) {
  tcp.ecn = static_cast<Ecn>(ip[1] & 3);
  tcp.ip_ttl = ip[8];
  if (bytes != 20 + quick_start::BYTES || ip[20] != quick_start::IP_OPTION) return;  // no other is for hosts
  const bool reports = ip[22] >> 4 == quick_start::REPORT;
  read_quick_start(ip + 20, reports ? Place::report : Place::request, tcp.quick_start);
}

bool read_tcp(const std::uint8_t* frame, std::uint32_t stored, std::uint32_t at, std::uint32_t end,
              TcpFields& tcp) {
  if (at + TCP_BYTES > stored) return false;
  const std::uint8_t* segment = frame + at;
  const std::uint32_t header_bytes = (segment[12] >> 4) * 4U;
  if (header_bytes < TCP_BYTES || at + header_bytes > stored || at + header_bytes > end) return false;
  tcp.source_port = load_be16(segment);
  tcp.destination_port = load_be16(segment + 2);
  tcp.seq = load_be32(segment + 4);
  tcp.ack = load_be32(segment + 8);
  tcp.fin = (segment[13] & FLAG_FIN) != 0;
  tcp.syn = (segment[13] & FLAG_SYN) != 0;
  tcp.psh = (segment[13] & FLAG_PSH) != 0;
  tcp.has_ack = (segment[13] & FLAG_ACK) != 0;
  tcp.ece = (segment[13] & FLAG_ECE) != 0;
  tcp.cwr = (segment[13] & FLAG_CWR) != 0;
  tcp.ae = (segment[12] & FLAG_AE) != 0;
  tcp.window_bytes = std::uint32_t{load_be16(segment + 14)} << WINDOW_SHIFT;
  tcp.payload_bytes = end - at - header_bytes;
  read_options(segment + TCP_BYTES, segment + header_bytes, tcp);
  return true;
}

}  // namespace clarion::sim
