// SPDX-License-Identifier: Apache-2.0
// The Clarion header: where its fields are, how a frame is parsed and which bytes are rewritten.
// docs/wire-format.md is the specification.
#pragma once

#include <cstdint>

#include "byte_order.hpp"
#include "platform.hpp"

namespace clarion {

constexpr std::uint8_t HEADER_VERSION = 1;

enum class Kind : std::uint8_t { ordinary = 0, data = 1, ack = 2, tag = 3 };  // = format on the wire

constexpr unsigned DATA_BYTES = 32;
constexpr unsigned ACK_BYTES = 12;
constexpr unsigned TAG_BYTES = 16;

constexpr unsigned OFFSET_LENGTH = 1;
constexpr unsigned OFFSET_VERSION_FORMAT = 2;
constexpr unsigned OFFSET_FLAGS = 3;
constexpr unsigned OFFSET_RTT = 4;
constexpr unsigned OFFSET_X = 8;
constexpr unsigned OFFSET_DELTA_THROUGHPUT = 12;
constexpr unsigned OFFSET_REVERSE_FEEDBACK = 16;
constexpr unsigned OFFSET_DATA_TAGS = 20;  // bucket, link_seq, corrupt, congest, rev_corrupt, rev_congest
constexpr unsigned OFFSET_TAG_TAGS = 4;    // the same block in a TAG header

// Parts of the flags, and of DATA's word of the round trip time. What is not here passes unchanged.
constexpr std::uint8_t FLAGS_HOP_MASK = 0x0e;  // regulating hops so far; saturates
constexpr std::uint8_t FLAGS_HOP_ONE = 0x02;
constexpr unsigned FLAGS_HOP_SHIFT = 1;
constexpr std::uint32_t RTT_MASK = 0xfffffff8;  // the three bits below are `field`
constexpr std::uint8_t FIELD_MASK = 0x07;

// Inside the block of tags.
constexpr unsigned TAGS_BUCKET = 0;
constexpr unsigned TAGS_LINK_SEQ = 2;
constexpr unsigned TAGS_CORRUPT = 4;
constexpr unsigned TAGS_CONGEST = 6;

// What the stages need to know of one packet. Set by ingress, copied for each egress copy, completed by
// enqueue and consumed by dequeue.
struct Meta {
  Kind kind = Kind::ordinary;
  bool in_queue = false;              // DATA, TAG: stamped at this port, queue_seq is valid
  bool xcp = false;                   // XCP was on at the port when the packet came,
  bool maxmin = false;                // and of generation 2
  std::uint16_t offset = 0;           // of the Clarion header in the frame, bytes; valid unless ordinary
  std::uint16_t bucket = 0;           // DATA, TAG: flow tag
  std::uint16_t link_seq = 0;         // DATA, TAG: number given by the sender of the incoming link
  std::uint16_t queue_seq = 0;        // DATA, TAG: number given by enqueue
  std::uint16_t corrupt = 0;          // DATA, TAG: path total of wire losses so far, modulo 2^16
  std::uint16_t congest = 0;          // DATA, TAG: path total of queue drops so far, modulo 2^16
  std::uint8_t flags = 0;             // DATA: as they came
  std::uint32_t rtt = 0;              // DATA: ticks, a multiple of 8; 0 = unknown
  std::uint32_t x = 0;                // DATA: ticks
  std::int32_t delta_throughput = 0;  // DATA: requested bytes/s
};

CLARION_INLINE bool carries_tags(Kind kind) { return kind == Kind::data || kind == Kind::tag; }

CLARION_INLINE unsigned tags_offset(Kind kind) {
  return kind == Kind::data ? OFFSET_DATA_TAGS : OFFSET_TAG_TAGS;
}

enum class ParseResult : std::uint8_t { ordinary, valid, malformed };

// Where the protocol named by the IP header starts and how far the IP packet reaches.
struct IpPayload {
  bool found = false;     // an IP header that can be read
  bool fragment = false;  // IPv4: not a whole datagram
  std::uint8_t protocol = 0;
  bool tagged = false;      // behind a VLAN tag
  std::uint32_t at = 0;     // of the IP header, bytes from the start of the frame
  std::uint32_t begin = 0;  // bytes from the start of the IP header
  std::uint32_t end = 0;    // by the IP length, at most the end of the frame; from there too
};

constexpr unsigned ETHERNET_BYTES = 14;
constexpr unsigned VLAN_BYTES = 4;
constexpr unsigned IPV4_MIN_BYTES = 20;
constexpr unsigned IPV6_BYTES = 40;
constexpr std::uint16_t ETHERTYPE_VLAN = 0x8100;
constexpr std::uint16_t ETHERTYPE_IPV4 = 0x0800;
constexpr std::uint16_t ETHERTYPE_IPV6 = 0x86dd;
constexpr std::uint16_t IPV4_FRAGMENT_MASK = 0x3fff;  // more-fragments flag and offset

// The IP header. Of two constants, so that hardware needs a choice of two here, not a shifter.
template <class Bytes>
CLARION_INLINE Bytes ip_header(Bytes frame, bool tagged) {
  return tagged ? frame + (ETHERNET_BYTES + VLAN_BYTES) : frame + ETHERNET_BYTES;
}

// `available`: bytes of the frame from the IP header on; begin and end count from there, too.
template <class Bytes>
CLARION_INLINE IpPayload parse_ipv4(Bytes header, std::uint32_t available) {
  IpPayload ip;
  if (available < IPV4_MIN_BYTES) return ip;
  const std::uint32_t header_bytes = (header[0] & 0x0fu) * 4;
  if (header[0] >> 4 != 4 || header_bytes < IPV4_MIN_BYTES) return ip;
  const std::uint32_t end = load_be16(header + 2);
  ip.found = true;
  ip.fragment = (load_be16(header + 6) & IPV4_FRAGMENT_MASK) != 0;
  ip.protocol = header[9];
  ip.begin = header_bytes;
  ip.end = end < available ? end : available;
  return ip;
}

template <class Bytes>
CLARION_INLINE IpPayload parse_ipv6(Bytes header, std::uint32_t available) {
  IpPayload ip;
  if (available < IPV6_BYTES || header[0] >> 4 != 6) return ip;
  const std::uint32_t end = IPV6_BYTES + load_be16(header + 4);
  ip.found = true;
  ip.protocol = header[6];
  ip.begin = IPV6_BYTES;
  ip.end = end < available ? end : available;
  return ip;
}

// Ethernet with at most one VLAN tag, then IPv4 with options or IPv6 without extension headers.
template <class Bytes>
CLARION_INLINE IpPayload parse_ip(Bytes frame, std::uint32_t length) {
  IpPayload ip;
  if (length < ETHERNET_BYTES + VLAN_BYTES) return ip;
  const bool tagged = load_be16(frame + 12) == ETHERTYPE_VLAN;
  const std::uint32_t at = tagged ? ETHERNET_BYTES + VLAN_BYTES : ETHERNET_BYTES;
  const std::uint16_t ethertype = tagged ? load_be16(frame + 16) : load_be16(frame + 12);
  const Bytes header = ip_header(frame, tagged);
  if (ethertype == ETHERTYPE_IPV4) ip = parse_ipv4(header, length - at);
  if (ethertype == ETHERTYPE_IPV6) ip = parse_ipv6(header, length - at);
  ip.tagged = tagged;
  ip.at = at;
  return ip;
}

// Length that the second byte must state for a format; 0 if there is no such format.
CLARION_INLINE unsigned format_bytes(unsigned format) {
  switch (format) {
    case static_cast<unsigned>(Kind::data):
      return DATA_BYTES;
    case static_cast<unsigned>(Kind::ack):
      return ACK_BYTES;
    case static_cast<unsigned>(Kind::tag):
      return TAG_BYTES;
    default:
      return 0;
  }
}

template <class Bytes>
CLARION_INLINE void read_fields(Bytes header, Meta& meta) {
  if (carries_tags(meta.kind)) {
    const Bytes tags = header + tags_offset(meta.kind);
    meta.bucket = load_be16(tags + TAGS_BUCKET);
    meta.link_seq = load_be16(tags + TAGS_LINK_SEQ);
    meta.corrupt = load_be16(tags + TAGS_CORRUPT);
    meta.congest = load_be16(tags + TAGS_CONGEST);
  }
  if (meta.kind == Kind::data) {
    meta.flags = header[OFFSET_FLAGS];
    meta.rtt = load_be32(header + OFFSET_RTT) & RTT_MASK;
    meta.x = load_be32(header + OFFSET_X);
    meta.delta_throughput = static_cast<std::int32_t>(load_be32(header + OFFSET_DELTA_THROUGHPUT));
  }
}

// The hop that limits the flow, 0 if unknown; DATA has it.
template <class Bytes>
CLARION_INLINE std::uint8_t field_of(Bytes header) {
  return header[OFFSET_RTT + 3] & FIELD_MASK;
}

// Fills `meta` from a frame. Ordinary: not IP or another protocol. Malformed: the IP header names the
// Clarion protocol but what follows cannot be trusted. In both cases meta.kind is ordinary. `field`: that
// of DATA, otherwise 0.
template <class Bytes>
CLARION_INLINE ParseResult parse(Bytes frame, std::uint32_t length, std::uint8_t protocol, Meta& meta,
                                 std::uint8_t& field) {
  meta = Meta{};
  field = 0;
  const IpPayload ip = parse_ip(frame, length);
  if (!ip.found || ip.protocol != protocol) return ParseResult::ordinary;
  if (ip.fragment || ip.begin + ACK_BYTES > ip.end) return ParseResult::malformed;
  const Bytes header = ip_header(frame, ip.tagged) + ip.begin;
  const unsigned format = header[OFFSET_VERSION_FORMAT] & 0x0fu;
  const unsigned bytes = format_bytes(format);
  if (header[OFFSET_VERSION_FORMAT] >> 4 != HEADER_VERSION || bytes == 0 || header[OFFSET_LENGTH] != bytes ||
      ip.begin + bytes > ip.end) {
    return ParseResult::malformed;
  }
  meta.kind = static_cast<Kind>(format);
  meta.offset = static_cast<std::uint16_t>(ip.at + ip.begin);
  read_fields(header, meta);
  if (meta.kind == Kind::data) field = field_of(header);
  return ParseResult::valid;
}

template <class Bytes>
CLARION_INLINE ParseResult parse(Bytes frame, std::uint32_t length, std::uint8_t protocol, Meta& meta) {
  std::uint8_t field = 0;
  return parse(frame, length, protocol, meta, field);
}

// Writes the path totals; they are the same two fields in DATA and TAG.
template <class Bytes>
CLARION_INLINE void write_totals(Bytes frame, const Meta& meta) {
  const Bytes tags = frame + meta.offset + tags_offset(meta.kind);
  store_be16(tags + TAGS_CORRUPT, meta.corrupt);
  store_be16(tags + TAGS_CONGEST, meta.congest);
}

template <class Bytes>
CLARION_INLINE void write_link_seq(Bytes frame, const Meta& meta, std::uint16_t link_seq) {
  store_be16(frame + meta.offset + tags_offset(meta.kind) + TAGS_LINK_SEQ, link_seq);
}

template <class Bytes>
CLARION_INLINE void write_delta_throughput(Bytes frame, const Meta& meta, std::int32_t granted) {
  store_be32(frame + meta.offset + OFFSET_DELTA_THROUGHPUT, static_cast<std::uint32_t>(granted));
}

// One more hop that regulates the flow.
CLARION_INLINE std::uint8_t flags_with_hop(std::uint8_t flags) {
  const bool all = (flags & FLAGS_HOP_MASK) == FLAGS_HOP_MASK;
  return all ? flags : static_cast<std::uint8_t>(flags + FLAGS_HOP_ONE);
}

// Which hop this is on the path, 1 to 7: the last stands for all behind it, too.
CLARION_INLINE std::uint8_t hop_behind(std::uint8_t flags) {
  return static_cast<std::uint8_t>((flags_with_hop(flags) & FLAGS_HOP_MASK) >> FLAGS_HOP_SHIFT);
}

template <class Bytes>
CLARION_INLINE std::uint8_t read_field(Bytes frame, const Meta& meta) {
  return field_of(frame + meta.offset);
}

template <class Bytes>
CLARION_INLINE void write_field(Bytes frame, const Meta& meta, std::uint8_t field) {
  (frame + meta.offset)[OFFSET_RTT + 3] = static_cast<std::uint8_t>((meta.rtt & RTT_MASK & 0xff) | field);
}

template <class Bytes>
CLARION_INLINE void write_hop(Bytes frame, const Meta& meta) {
  (frame + meta.offset)[OFFSET_FLAGS] = flags_with_hop(meta.flags);
}

}  // namespace clarion
