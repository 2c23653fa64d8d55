// SPDX-License-Identifier: Apache-2.0
// TCP segments and datagrams as Ethernet frames: real headers, and payload that is only counted.
#pragma once

#include <array>
#include <cstdint>

#include "switch/options.hpp"
#include "switch/router/link_option.hpp"

namespace clarion::sim {

using emu::MacAddress;

// One end of a connection, as its frames name it.
struct Address {
  MacAddress mac{};
  std::uint32_t ip = 0;  // IPv4
  std::uint16_t port = 0;
};

struct SackBlock {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

// ECN field of the IP header (RFC 3168).
enum class Ecn : std::uint8_t { not_capable = 0, ect1 = 1, ect0 = 2, ce = 3 };

// What the two ends of a connection make of it: nothing; an echo of marks (RFC 3168); their number (RFC
// 9768); or the load codes of VCP's routers. Those go back in the flags ECE and CWR, the higher bit and the
// lower one of the code: an ACK without data has no other use for both, and nothing on the way reads them.
enum class EcnUse : std::uint8_t { none, marks, accurate, load_codes };

// Quick-Start (RFC 4782), in one of its three places: in the IP header the request of a SYN and the report of
// the approved rate, in TCP's the response of a SYN-ACK, whose `ttl` is the difference between both TTLs.
struct QuickStartField {
  enum class Place : std::uint8_t { none, request, report, response };

  Place place = Place::none;
  std::uint8_t rate = 0;  // code
  std::uint8_t ttl = 0;
  std::uint32_t nonce = 0;
};

// The option of JetMax and MaxNet: of data, or its echo on an ACK.
struct LinkField {
  enum class Kind : std::uint8_t { none, data, echo };

  Kind kind = Kind::none;
  emu::LinkOption option;
};

// What a TCP header says, in host byte order.
struct TcpFields {
  static constexpr std::size_t MAX_SACKS = 4;
  static constexpr std::size_t MAX_SACKS_WITH_ECHO = 2;  // what it leaves of 40 bytes of options

  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  std::uint32_t seq = 0;
  std::uint32_t ack = 0;
  std::uint32_t window_bytes = 0;  // rounded down to what the scale shows
  std::uint32_t stamp_ms = 0;      // RFC 7323
  std::uint32_t echo_ms = 0;
  std::uint32_t payload_bytes = 0;
  std::uint8_t sacks = 0;
  std::array<SackBlock, MAX_SACKS> blocks{};
  bool syn = false;
  bool has_ack = false;
  bool fin = false;
  bool psh = false;
  bool ece = false;
  bool cwr = false;
  bool ae = false;               // RFC 9768
  bool offers = false;           // SYN: Clarion's option is there,
  std::uint8_t offer_flags = 0;  // with these flags
  Ecn ecn = Ecn::not_capable;
  QuickStartField quick_start;
  LinkField link;
  bool has_xcp_ttl = false;  // data: XCP-i's option is in the IP header
  std::uint8_t ip_ttl = 0;   // of a frame that has come in

  // AE, CWR and ECE as one number (RFC 9768, 3.2.2).
  std::uint8_t ace() const { return static_cast<std::uint8_t>((ae ? 4 : 0) | (cwr ? 2 : 0) | (ece ? 1 : 0)); }
  void set_ace(std::uint8_t number) {
    ae = (number & 4) != 0;
    cwr = (number & 2) != 0;
    ece = (number & 1) != 0;
  }
  void set_load_code(std::uint8_t code) {
    ece = (code & 2) != 0;
    cwr = (code & 1) != 0;
  }
  std::uint8_t load_code() const { return static_cast<std::uint8_t>((ece ? 2 : 0) | (cwr ? 1 : 0)); }
};

// The bytes of a frame up to its payload. `length` counts the payload, too, `stored` does not.
struct Frame {
  static constexpr std::size_t MAX_HEADER_BYTES = 160;

  std::array<std::uint8_t, MAX_HEADER_BYTES> bytes;
  std::uint32_t stored = 0;
  std::uint32_t length = 0;
};

// A Clarion header to be put between IP and TCP.
struct HeaderBytes {
  const std::uint8_t* bytes = nullptr;
  std::uint32_t length = 0;   // 0: none
  std::uint8_t protocol = 0;  // of IP, for packets that have one
};

constexpr std::uint32_t WINDOW_SHIFT = 14;  // of every connection (RFC 7323)
constexpr std::uint32_t FIXED_BYTES = 14 + 20;
constexpr std::uint32_t TCP_BYTES = 20;
constexpr std::uint8_t FIRST_TTL = 64;  // of every packet

// Bytes of the options of a segment.
std::uint32_t option_bytes(const TcpFields& tcp);

// Bytes of the options of its IP header.
std::uint32_t ip_option_bytes(const TcpFields& tcp);

// Length of the frame, with a Clarion header of `header_bytes`.
inline std::uint32_t frame_bytes(const TcpFields& tcp, std::uint32_t header_bytes) {
  return FIXED_BYTES + ip_option_bytes(tcp) + header_bytes + TCP_BYTES + option_bytes(tcp) +
         tcp.payload_bytes;
}

void write_frame(Frame& frame, const Address& from, const Address& to, const TcpFields& tcp,
                 const HeaderBytes& header);

void write_datagram(Frame& frame, const Address& from, const Address& to, std::uint32_t payload_bytes);

// What an IPv4 header of `bytes` says of its TCP segment.
void read_ip(const std::uint8_t* ip, std::uint32_t bytes, TcpFields& tcp);

// Reads a frame whose TCP header begins at `at`, of which `stored` bytes are there. False: it is none of
// ours.
bool read_tcp(const std::uint8_t* frame, std::uint32_t stored, std::uint32_t at, std::uint32_t end,
              TcpFields& tcp);

}  // namespace clarion::sim
