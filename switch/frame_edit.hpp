// SPDX-License-Identifier: Apache-2.0
// What queues and middleboxes on the way read and change in frames. All are safe with any bytes.
#pragma once

#include <cstdint>
#include <vector>

namespace clarion::emu {

// Length of the IP packet in a frame; 0 if there is none.
std::uint32_t ip_bytes(const std::uint8_t* frame, std::uint32_t length);

// Whether the IP header names the protocol of the Clarion header.
bool is_clarion(const std::uint8_t* frame, std::uint32_t length, std::uint8_t protocol);

// A TCP segment without payload and without SYN, FIN or RST, behind a Clarion header or not.
bool is_pure_ack(const std::uint8_t* frame, std::uint32_t length, std::uint8_t protocol);

// Where the Clarion header is; no bytes if there is no valid one. Of one that is not valid, or not whole, the
// bytes that a frame has room for, at most the longest format's.
struct HeaderPlace {
  std::uint32_t at = 0;
  std::uint32_t bytes = 0;
};
HeaderPlace header_place(const std::uint8_t* frame, std::uint32_t length, std::uint8_t protocol);

// Takes a valid Clarion header out and mends length, protocol and checksum of the IP header. False: none.
bool strip_header(std::vector<std::uint8_t>& frame, std::uint8_t protocol);

// The ECN field (RFC 3168, section 5); not_capable where there is no IP header.
enum class EcnField : std::uint8_t { not_capable = 0, ect1 = 1, ect0 = 2, marked = 3 };
EcnField ecn_field(const std::uint8_t* frame, std::uint32_t length);

// Replaces the field of an IP packet; the checksum of an IPv4 header follows, right or wrong as it was.
void set_ecn_field(std::uint8_t* frame, std::uint32_t length, EcnField value);

// The sum over an IPv4 header, and a checksum that gives a changed one the same sum: right or wrong as it
// was.
std::uint16_t ipv4_header_sum(const std::uint8_t* ip);
void keep_ipv4_header_sum(std::uint8_t* ip, std::uint16_t sum);

// Whether the sender has declared that it understands marks (ECT(0), ECT(1)), and marking it.
bool is_ecn_capable(const std::uint8_t* frame, std::uint32_t length);
void mark_congestion(std::uint8_t* frame, std::uint32_t length);  // of a frame that is capable

// The ICMP message of a router whose next link takes packets of at most `mtu_bytes`, for the sender of
// `frame`, in the name of its destination. Empty where there is nothing to answer.
std::vector<std::uint8_t> too_big(const std::uint8_t* frame, std::uint32_t length, std::uint32_t mtu_bytes);

}  // namespace clarion::emu
