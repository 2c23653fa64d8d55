// SPDX-License-Identifier: Apache-2.0
#include "frame_edit.hpp"

#include <netinet/in.h>

#include <algorithm>
#include <cstring>

#include "checksum.hpp"
#include "core/header.hpp"

namespace clarion::emu {
namespace {

constexpr std::uint8_t ECN_MASK = 0x03;     // of the IPv4 type of service
constexpr std::uint8_t IPV6_ECN_SHIFT = 4;  // in the second byte
constexpr std::uint8_t TCP_SYN_FIN_RST = 0x07;
constexpr std::uint32_t TCP_MIN_BYTES = 20;
constexpr std::uint32_t IPV4_CHECKSUM_AT = 10;
constexpr std::uint8_t ICMP_HOPS = 64;
constexpr std::uint32_t ICMP_BYTES = 8;
constexpr std::uint32_t ICMP4_QUOTE_BYTES = 548;   // RFC 1812: at most 576 bytes in all
constexpr std::uint32_t ICMP6_QUOTE_BYTES = 1232;  // RFC 4443: at most 1280
constexpr std::uint8_t ICMP4_UNREACHABLE = 3;
constexpr std::uint8_t ICMP4_FRAGMENTATION_NEEDED = 4;
constexpr std::uint8_t ICMP6_PACKET_TOO_BIG = 2;

bool is_v4(const std::uint8_t* ip) { return ip[0] >> 4 == 4; }

std::uint32_t header_bytes(const std::uint8_t* ip) { return (ip[0] & 0x0fU) * 4; }

void set_ipv4_checksum(std::uint8_t* ip) {
  store_be16(ip + IPV4_CHECKSUM_AT, 0);
  store_be16(ip + IPV4_CHECKSUM_AT, static_cast<std::uint16_t>(~internet_sum(ip, header_bytes(ip))));
}

std::uint8_t ecn_of(const std::uint8_t* ip) {
  return is_v4(ip) ? ip[1] & ECN_MASK : (ip[1] >> IPV6_ECN_SHIFT) & ECN_MASK;
}

// Link layer of an answer: back to where the frame came from.
std::vector<std::uint8_t> answer_to(const std::uint8_t* frame, std::uint32_t ip_at) {
  std::vector<std::uint8_t> answer(frame, frame + ip_at);
  std::copy_n(frame + 6, 6, answer.begin());
  std::copy_n(frame, 6, answer.begin() + 6);
  return answer;
}

std::vector<std::uint8_t> too_big_v4(const std::uint8_t* frame, const IpPayload& ip,
                                     std::uint32_t mtu_bytes) {
  const std::uint8_t* original = frame + ip.at;
  const std::uint32_t quoted = std::min(ip.end, ICMP4_QUOTE_BYTES);
  std::vector<std::uint8_t> answer = answer_to(frame, ip.at);
  answer.resize(ip.at + IPV4_MIN_BYTES + ICMP_BYTES + quoted);
  std::uint8_t* header = answer.data() + ip.at;
  header[0] = 0x45;
  store_be16(header + 2, static_cast<std::uint16_t>(IPV4_MIN_BYTES + ICMP_BYTES + quoted));
  header[8] = ICMP_HOPS;
  header[9] = IPPROTO_ICMP;
  std::memcpy(header + 12, original + 16, 4);
  std::memcpy(header + 16, original + 12, 4);
  set_ipv4_checksum(header);
  std::uint8_t* icmp = header + IPV4_MIN_BYTES;
  icmp[0] = ICMP4_UNREACHABLE;
  icmp[1] = ICMP4_FRAGMENTATION_NEEDED;
  store_be16(icmp + 6, static_cast<std::uint16_t>(mtu_bytes));
  std::memcpy(icmp + ICMP_BYTES, original, quoted);
  store_be16(icmp + 2, static_cast<std::uint16_t>(~internet_sum(icmp, ICMP_BYTES + quoted)));
  return answer;
}

std::vector<std::uint8_t> too_big_v6(const std::uint8_t* frame, const IpPayload& ip,
                                     std::uint32_t mtu_bytes) {
  const std::uint8_t* original = frame + ip.at;
  const std::uint32_t quoted = std::min(ip.end, ICMP6_QUOTE_BYTES);
  std::vector<std::uint8_t> answer = answer_to(frame, ip.at);
  answer.resize(ip.at + IPV6_BYTES + ICMP_BYTES + quoted);
  std::uint8_t* header = answer.data() + ip.at;
  const std::uint32_t length = ICMP_BYTES + quoted;
  std::uint8_t* icmp = header + IPV6_BYTES;
  icmp[0] = ICMP6_PACKET_TOO_BIG;
  store_be32(icmp + 4, mtu_bytes);
  std::memcpy(icmp + ICMP_BYTES, original, quoted);
  // The pseudo header's sum: addresses as they will be, length, protocol (RFC 8200).
  std::memcpy(header + 8, original + 24, 16);
  std::memcpy(header + 24, original + 8, 16);
  const std::uint32_t sum =
      std::uint32_t{internet_sum(header + 8, 32)} + length + IPPROTO_ICMPV6 + internet_sum(icmp, length);
  const std::uint32_t folded = (sum & 0xffff) + (sum >> 16);
  store_be16(icmp + 2, static_cast<std::uint16_t>(~((folded & 0xffff) + (folded >> 16))));
  header[0] = 0x60;
  store_be16(header + 4, static_cast<std::uint16_t>(length));
  header[6] = IPPROTO_ICMPV6;
  header[7] = ICMP_HOPS;
  return answer;
}

}  // namespace

std::uint32_t ip_bytes(const std::uint8_t* frame, std::uint32_t length) {
  const IpPayload ip = parse_ip(frame, length);
  return ip.found ? ip.end : 0;
}

bool is_clarion(const std::uint8_t* frame, std::uint32_t length, std::uint8_t protocol) {
  const IpPayload ip = parse_ip(frame, length);
  return ip.found && ip.protocol == protocol;
}

bool is_pure_ack(const std::uint8_t* frame, std::uint32_t length, std::uint8_t protocol) {
  const IpPayload ip = parse_ip(frame, length);
  if (!ip.found || ip.fragment) return false;
  const HeaderPlace clarion = header_place(frame, length, protocol);
  const std::uint32_t at = clarion.bytes != 0 ? clarion.at + clarion.bytes : ip.at + ip.begin;
  const std::uint8_t inner = clarion.bytes != 0 ? frame[clarion.at] : ip.protocol;
  const std::uint32_t end = ip.at + ip.end;
  if (inner != IPPROTO_TCP || at + TCP_MIN_BYTES > end) return false;
  const std::uint32_t tcp_bytes = (frame[at + 12] >> 4) * 4U;
  return (frame[at + 13] & TCP_SYN_FIN_RST) == 0 && at + tcp_bytes == end;
}

HeaderPlace header_place(const std::uint8_t* frame, std::uint32_t length, std::uint8_t protocol) {
  Meta meta;
  if (parse(frame, length, protocol, meta) == ParseResult::valid) {
    return {meta.offset, format_bytes(static_cast<unsigned>(meta.kind))};
  }
  const IpPayload ip = parse_ip(frame, length);
  if (!ip.found || ip.protocol != protocol || ip.begin >= ip.end) return {};
  return {ip.at + ip.begin, std::min<std::uint32_t>(DATA_BYTES, ip.end - ip.begin)};
}

bool strip_header(std::vector<std::uint8_t>& frame, std::uint8_t protocol) {
  Meta meta;
  const auto length = static_cast<std::uint32_t>(frame.size());
  if (parse(frame.data(), length, protocol, meta) != ParseResult::valid) return false;
  const IpPayload ip = parse_ip(frame.data(), length);
  const std::uint8_t inner = frame[meta.offset];
  const unsigned bytes = format_bytes(static_cast<unsigned>(meta.kind));
  frame.erase(frame.begin() + meta.offset, frame.begin() + meta.offset + bytes);
  std::uint8_t* header = frame.data() + ip.at;
  const bool v4 = is_v4(header);
  std::uint8_t* length_field = header + (v4 ? 2 : 4);
  store_be16(length_field, static_cast<std::uint16_t>(load_be16(length_field) - bytes));
  header[v4 ? 9 : 6] = inner;
  if (v4) set_ipv4_checksum(header);
  return true;
}

EcnField ecn_field(const std::uint8_t* frame, std::uint32_t length) {
  const IpPayload ip = parse_ip(frame, length);
  return ip.found ? static_cast<EcnField>(ecn_of(frame + ip.at)) : EcnField::not_capable;
}

bool is_ecn_capable(const std::uint8_t* frame, std::uint32_t length) {
  const EcnField field = ecn_field(frame, length);
  return field == EcnField::ect0 || field == EcnField::ect1;
}

std::uint16_t ipv4_header_sum(const std::uint8_t* ip) { return internet_sum(ip, header_bytes(ip)); }

void keep_ipv4_header_sum(std::uint8_t* ip, std::uint16_t sum) {
  store_be16(ip + IPV4_CHECKSUM_AT, 0);
  const std::uint32_t missing = sum + std::uint32_t{static_cast<std::uint16_t>(~ipv4_header_sum(ip))};
  store_be16(ip + IPV4_CHECKSUM_AT, static_cast<std::uint16_t>((missing & 0xffff) + (missing >> 16)));
}

void mark_congestion(std::uint8_t* frame, std::uint32_t length) {
  set_ecn_field(frame, length, EcnField::marked);
}

void set_ecn_field(std::uint8_t* frame, std::uint32_t length, EcnField value) {
  const IpPayload ip = parse_ip(frame, length);
  if (!ip.found) return;
  std::uint8_t* header = frame + ip.at;
  const auto bits = static_cast<std::uint8_t>(value);
  if (!is_v4(header)) {
    header[1] =
        static_cast<std::uint8_t>((header[1] & ~(ECN_MASK << IPV6_ECN_SHIFT)) | bits << IPV6_ECN_SHIFT);
    return;
  }
  const std::uint16_t before = load_be16(header);
  header[1] = static_cast<std::uint8_t>((header[1] & ~ECN_MASK) | bits);
  std::uint8_t* checksum = header + IPV4_CHECKSUM_AT;
  store_be16(checksum, checksum_replace(load_be16(checksum), before, load_be16(header)));
}

std::vector<std::uint8_t> too_big(const std::uint8_t* frame, std::uint32_t length, std::uint32_t mtu_bytes) {
  const IpPayload ip = parse_ip(frame, length);
  const bool icmp = ip.protocol == IPPROTO_ICMP || ip.protocol == IPPROTO_ICMPV6;  // answers none of its own
  if (!ip.found || icmp) return {};
  return is_v4(frame + ip.at) ? too_big_v4(frame, ip, mtu_bytes) : too_big_v6(frame, ip, mtu_bytes);
}

}  // namespace clarion::emu
