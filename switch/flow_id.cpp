// SPDX-License-Identifier: Apache-2.0
#include "flow_id.hpp"

#include <netinet/in.h>

#include <cstring>

#include "core/header.hpp"

namespace clarion::emu {
namespace {

void read_addresses(const std::uint8_t* header, FlowId& flow) {
  flow.ip_version = header[0] >> 4;
  const std::uint32_t bytes = flow.ip_version == 4 ? 4 : 16;
  const std::uint8_t* source = header + (flow.ip_version == 4 ? 12 : 8);
  std::memcpy(flow.source, source, bytes);
  std::memcpy(flow.destination, source + bytes, bytes);
}

void read_transport(const std::uint8_t* transport, std::uint32_t length, FlowId& flow) {
  const bool tcp = flow.protocol == IPPROTO_TCP && length >= 20;
  const bool udp = flow.protocol == IPPROTO_UDP && length >= 8;
  if (tcp || udp) {
    flow.source_port = load_be16(transport);
    flow.destination_port = load_be16(transport + 2);
  }
  if (tcp) flow.tcp_sequence = load_be32(transport + 4);
  const std::uint32_t header = tcp ? (transport[12] >> 4) * 4U : udp ? 8U : 0U;
  flow.payload_bytes = length > header ? length - header : 0;
}

}  // namespace

FlowId identify_flow(const std::uint8_t* frame, std::uint32_t length, std::uint8_t clarion_protocol) {
  FlowId flow;
  const IpPayload ip = parse_ip(frame, length);
  if (!ip.found) return flow;
  read_addresses(frame + ip.at, flow);
  flow.protocol = ip.protocol;
  std::uint32_t transport = ip.at + ip.begin;
  Meta meta;
  if (parse(frame, length, clarion_protocol, meta) == ParseResult::valid) {
    const std::uint8_t* header = frame + meta.offset;
    flow.format = static_cast<std::uint8_t>(meta.kind);
    flow.bucket = meta.bucket;
    flow.protocol = header[0];
    transport += header[OFFSET_LENGTH];
  }
  const std::uint32_t end = ip.at + ip.end;
  if (!ip.fragment && transport < end) read_transport(frame + transport, end - transport, flow);
  return flow;
}

}  // namespace clarion::emu
