// SPDX-License-Identifier: Apache-2.0
#include "host.hpp"

#include "core/byte_order.hpp"
#include "core/header.hpp"

namespace clarion::sim {
namespace {

constexpr std::uint8_t PROTOCOL_TCP = 6;
constexpr std::uint8_t PROTOCOL_UDP = 17;
constexpr std::uint32_t UDP_BYTES = 8;
constexpr std::uint32_t IP_DESTINATION = 16;

}  // namespace

Endpoint* Host::receive(Nanoseconds now, const std::uint8_t* frame, std::uint32_t stored,
                        std::uint32_t length) {
  const IpPayload ip = parse_ip(frame, length);
  if (!ip.found || ip.fragment) return nullptr;
  if (load_be32(frame + ip.at + IP_DESTINATION) != address_.ip) return nullptr;
  std::uint32_t at = ip.at + ip.begin;
  const std::uint32_t end = ip.at + ip.end;
  std::uint8_t protocol = ip.protocol;
  received header;
  bool has_header = false;
  if (protocol == shim_.protocol() && shim_.attached()) {
    has_header = shim_.read(frame + at, stored - at, header);
    if (!has_header) return nullptr;
    at += header.length;
    protocol = header.next_protocol;
  }
  if (protocol == PROTOCOL_UDP && at + UDP_BYTES <= stored) {
    DatagramReceiver* receiver = datagrams_.find(load_be16(frame + at + 2));
    if (receiver != nullptr) receiver->receive(now, end - at - UDP_BYTES);
    return nullptr;
  }
  TcpFields tcp;
  if (protocol != PROTOCOL_TCP || !read_tcp(frame, stored, at, end, tcp)) return nullptr;
  read_ip(frame + ip.at, ip.begin, tcp);
  Endpoint* endpoint = endpoints_.find(tcp.destination_port);
  if (endpoint != nullptr) endpoint->receive(now, tcp, has_header ? &header : nullptr);
  return endpoint;
}

bool Host::send(Nanoseconds now, const Address& from, const Address& to, const TcpFields& tcp,
                const HeaderBytes& header, Endpoint* owner) {
  write_frame(frame_, from, to, tcp, header);
  return uplink_.send(now, frame_, owner);
}

bool Host::send_datagram(Nanoseconds now, const Address& from, const Address& to,
                         std::uint32_t payload_bytes) {
  write_datagram(frame_, from, to, payload_bytes);
  return uplink_.send(now, frame_, nullptr);
}

}  // namespace clarion::sim
