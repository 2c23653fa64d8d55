// SPDX-License-Identifier: Apache-2.0
#include "shim.hpp"

#include <cstring>

namespace clarion::sim {
namespace {

constexpr std::uint32_t BUCKET_HASH = 2654435769;  // hosts/bpf/handshake.bpf.c

}  // namespace

void Shim::open(flow& flow, bool aware, std::uint32_t own_ip) {
  flow.id.bucket = static_cast<std::uint16_t>((own_ip * BUCKET_HASH >> 16) + next_bucket_++);
  flow.id.tags = settings_.tags ? 1 : 0;
  flow.id.aware = aware ? 1 : 0;
}

bool Shim::allows(flow& flow, const OutgoingState& segment) const {
  if (segment.payload_bytes == 0) return !flow.id.plain;
  passage_packet packet{};
  packet.seq = segment.seq;
  packet.payload_bytes = segment.payload_bytes;
  packet.una = segment.una;
  packet.is_again = passage_before(segment.seq, segment.next);
  if (flow.passage.state >= PASSAGE_PROBING) packet.now_us = segment.now_us;
  return passage_allows(&flow, &packet);
}

HeaderBytes Shim::put_on(flow& flow, const OutgoingState& segment) {
  if (!flow.id.aware || !allows(flow, segment)) return {};
  const clarion_format format = compose_format(&flow, segment.payload_bytes);
  if (format == CLARION_NONE) return {};
  const std::uint32_t length = clarion_length(format);
  std::uint16_t link_seq = 0;
  if (format != CLARION_ACK) {
    link_seq = static_cast<std::uint16_t>(buckets_[flow.id.bucket % BUCKETS].next_seq++);
  }
  header_ = {};
  compose_header(&header_, &flow, format, IPPROTO_TCP, segment.frame_bytes + length, link_seq);
  ++flow.stats.tx_headers;
  return {reinterpret_cast<const std::uint8_t*>(&header_), length, settings_.protocol};
}

bool Shim::read(const std::uint8_t* header, std::uint32_t available, received& out) {
  clarion_header copy{};
  out = {};
  if (available >= sizeof(clarion_prefix)) {
    std::memcpy(&copy, header, sizeof(clarion_prefix));
    out.format = copy.prefix.version_format & 0xf;
  }
  const std::uint32_t length = clarion_length(out.format);
  if (copy.prefix.version_format >> 4 != CLARION_VERSION || length == 0 || copy.prefix.length != length ||
      available < length) {
    ++malformed_;
    return false;
  }
  std::memcpy(&copy, header, length);
  if (out.format == CLARION_DATA) receive_data(&out, &copy.data);
  if (out.format == CLARION_ACK) receive_ack(&out, &copy.ack);
  if (out.format == CLARION_TAG) receive_tag(&out, &copy.tag);
  out.length = static_cast<std::uint8_t>(length);
  out.next_protocol = copy.prefix.next_protocol;
  out.flags = copy.prefix.flags;
  if (out.format != CLARION_ACK) {
    Bucket& bucket = buckets_[out.bucket % BUCKETS];
    clarion_sequence_check(&bucket.wire, out.link_seq, settings_.wire_is_bare ? 1 : 0);
  }
  return true;
}

void Shim::update(flow& flow, const received& header, bool has_payload) {
  const bool has_check = header.format != CLARION_ACK;
  receive_flow(&flow, &header, has_check ? &buckets_[header.bucket % BUCKETS].wire : nullptr, has_payload);
}

}  // namespace clarion::sim
