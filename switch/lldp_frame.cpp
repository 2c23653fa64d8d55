// SPDX-License-Identifier: Apache-2.0
#include "lldp_frame.hpp"

#include <algorithm>

namespace clarion::emu {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t HEADER_BYTES = 14;  // of Ethernet
constexpr std::size_t LEAST_BYTES = 60;   // of a frame
constexpr std::uint8_t ETHERTYPE[] = {0x88, 0xcc};

enum : unsigned { END = 0, CHASSIS = 1, PORT = 2, TTL = 3, ORGANISATION = 127 };  // types of TLVs

// Clarion's TLV: OUI (locally administered), subtype, version, flags.
constexpr std::uint8_t CLARION[] = {0x0a, 0xc1, 0xa7, 1};
constexpr std::uint8_t VERSION = 1;
constexpr std::uint8_t STAMPS = 0x01;
constexpr std::uint8_t CHECKS = 0x02;

void append(Bytes& out, unsigned type, const Bytes& value) {
  const std::size_t head = type << 9 | value.size();
  out.push_back(static_cast<std::uint8_t>(head >> 8));
  out.push_back(static_cast<std::uint8_t>(head));
  out.insert(out.end(), value.begin(), value.end());
}

Bytes bytes_of(const LldpId& id) {
  const std::size_t length = std::min(id.value.size(), LldpId::MAX_BYTES);
  Bytes value(1 + length, id.subtype);
  std::copy_n(id.value.begin(), length, value.begin() + 1);
  return value;
}

// An individual, locally administered address that stays the same for a port: FNV-1a of its IDs.
void append_source(Bytes& out, const LldpFrame& frame) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::string& id : {frame.chassis.value, frame.port.value}) {
    for (const char c : id) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3;
  }
  out.push_back(0x02);
  for (unsigned i = 0; i < 5; ++i) out.push_back(static_cast<std::uint8_t>(hash >> (8 * i)));
}

struct Tlv {
  unsigned type = END;
  const std::uint8_t* value = nullptr;
  std::size_t length = 0;
};

class Tlvs {
 public:
  Tlvs(const std::uint8_t* at, const std::uint8_t* end) : at_(at), end_(end) {}

  // False: there is none that is whole.
  bool next(Tlv& tlv) {
    if (end_ - at_ < 2) return false;
    const unsigned head = static_cast<unsigned>(at_[0]) << 8 | at_[1];
    tlv = {head >> 9, at_ + 2, head & 0x1ff};
    if (static_cast<std::size_t>(end_ - tlv.value) < tlv.length) return false;
    at_ = tlv.value + tlv.length;
    return true;
  }

  bool at_end() const { return at_ == end_; }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

bool read_id(Tlvs& tlvs, unsigned type, LldpId& id) {
  Tlv tlv;
  if (!tlvs.next(tlv) || tlv.type != type || tlv.length < 2 || tlv.length > 1 + LldpId::MAX_BYTES)
    return false;
  id.subtype = tlv.value[0];
  id.value.assign(reinterpret_cast<const char*>(tlv.value) + 1, tlv.length - 1);
  return true;
}

std::optional<ClarionPort> read_clarion(const Tlv& tlv) {
  if (tlv.type != ORGANISATION || tlv.length < sizeof CLARION + 2) return std::nullopt;
  if (!std::equal(std::begin(CLARION), std::end(CLARION), tlv.value)) return std::nullopt;
  const std::uint8_t* value = tlv.value + sizeof CLARION;
  if (value[0] != VERSION) return std::nullopt;
  return ClarionPort{(value[1] & STAMPS) != 0, (value[1] & CHECKS) != 0};
}

}  // namespace

bool is_for_nearest_bridge(const std::uint8_t* frame, std::uint32_t length) {
  return length >= HEADER_BYTES && std::equal(std::begin(NEAREST_BRIDGE), std::end(NEAREST_BRIDGE), frame);
}

std::string LldpId::text() const {
  const bool prints = std::all_of(value.begin(), value.end(), [](char c) { return c >= ' ' && c <= '~'; });
  if (prints || subtype == LOCAL) return value;
  constexpr const char* DIGITS = "0123456789abcdef";
  std::string text;
  for (const char c : value) {
    const auto byte = static_cast<std::uint8_t>(c);
    if (!text.empty()) text.push_back(':');
    text.push_back(DIGITS[byte >> 4]);
    text.push_back(DIGITS[byte & 0xf]);
  }
  return text;
}

Bytes compose_lldp(const LldpFrame& frame) {
  Bytes out(std::begin(NEAREST_BRIDGE), std::end(NEAREST_BRIDGE));
  append_source(out, frame);
  out.insert(out.end(), std::begin(ETHERTYPE), std::end(ETHERTYPE));
  append(out, CHASSIS, bytes_of(frame.chassis));
  append(out, PORT, bytes_of(frame.port));
  append(out, TTL, {static_cast<std::uint8_t>(frame.ttl_s >> 8), static_cast<std::uint8_t>(frame.ttl_s)});
  if (frame.clarion) {
    Bytes value(std::begin(CLARION), std::end(CLARION));
    const unsigned flags = (frame.clarion->stamps ? STAMPS : 0u) | (frame.clarion->checks ? CHECKS : 0u);
    value.insert(value.end(), {VERSION, static_cast<std::uint8_t>(flags)});
    append(out, ORGANISATION, value);
  }
  append(out, END, {});
  out.resize(std::max(out.size(), LEAST_BYTES));
  return out;
}

std::optional<LldpFrame> parse_lldp(const std::uint8_t* frame, std::uint32_t length) {
  if (length < HEADER_BYTES || !std::equal(std::begin(ETHERTYPE), std::end(ETHERTYPE), frame + 12)) {
    return std::nullopt;
  }
  Tlvs tlvs(frame + HEADER_BYTES, frame + length);
  LldpFrame found;
  Tlv tlv;
  if (!read_id(tlvs, CHASSIS, found.chassis) || !read_id(tlvs, PORT, found.port)) return std::nullopt;
  if (!tlvs.next(tlv) || tlv.type != TTL || tlv.length < 2) return std::nullopt;
  found.ttl_s = static_cast<std::uint16_t>(tlv.value[0] << 8 | tlv.value[1]);
  while (!tlvs.at_end()) {
    if (!tlvs.next(tlv)) return std::nullopt;
    if (tlv.type == END && tlv.length == 0) break;  // behind it is padding
    if (tlv.type <= TTL) return std::nullopt;       // an end with a value, or one of the first three again
    if (!found.clarion) found.clarion = read_clarion(tlv);
  }
  return found;
}

}  // namespace clarion::emu
