// SPDX-License-Identifier: Apache-2.0
// What the switch does to frames outside the core: repairs what the kernel keeps beside them, marks, takes
// headers off, answers, reads LLDP.
#include <algorithm>
#include <vector>

#include "flow_id.hpp"
#include "frame_edit.hpp"
#include "frame_repair.hpp"
#include "guarded.hpp"
#include "judge.hpp"
#include "lldp_frame.hpp"
#include "scene.hpp"
#include "target.hpp"

namespace clarion::fuzz {
namespace {

using Bytes = std::vector<std::uint8_t>;

class EditsTarget final : public Target {
 public:
  void begin(Random&) override {}

  void play(const std::uint8_t* frame, std::uint32_t length, Random& random) override {
    const std::uint64_t drawn = random.next();
    frame_ = frame;
    length_ = length;
    judged_ = judge(frame, length, PROTOCOL);
    copy_ = guarded_.hold(frame, length);
    find();
    identify();
    if (drawn % 4 == 0) complete(drawn);
    if (drawn % 4 == 1 && length >= 14) tag(drawn);
    if (drawn % 4 == 2) mark();
    if (judged_.verdict != Verdict::ordinary && drawn % 4 == 3) strip();
    if ((drawn >> 2) % 8 == 0) answer(576 + (drawn >> 5) % 9000);
    hear();
  }

  Counts counts() const override {
    return {{"stripped", stripped_}, {"marked", marked_}, {"answered", answered_}, {"hellos", hellos_}};
  }

 private:
  void renew() { copy_ = guarded_.hold(frame_, length_); }

  Bytes& expect_same() {
    expected_.assign(frame_, frame_ + length_);
    return expected_;
  }

  void require_copy(const char* reason) const {
    require(std::equal(expected_.begin(), expected_.end(), copy_), reason, copy_, length_);
  }

  void find() const {
    const std::uint32_t end = std::min(judged_.stated_end, length_);
    const std::uint32_t ip_bytes = judged_.is_ip ? end - std::min(end, judged_.ip_at) : 0;
    require(emu::ip_bytes(copy_, length_) == ip_bytes, "another length of the IP packet");
    const bool named = judged_.is_ip && judged_.protocol == PROTOCOL;
    require(emu::is_clarion(copy_, length_, PROTOCOL) == named, "another protocol");
    const emu::HeaderPlace place = emu::header_place(copy_, length_, PROTOCOL);
    if (judged_.verdict == Verdict::valid) {
      require(place.at == judged_.payload_at && place.bytes == judged_.header_bytes, "another header");
    }
    require(place.bytes <= 32 && (place.bytes == 0 || place.at + place.bytes <= end),
            "a header beyond the packet");
    const bool is_ack = emu::is_pure_ack(copy_, length_, PROTOCOL);
    require(!is_ack || (judged_.is_ip && !judged_.is_fragment && end >= judged_.payload_at + 20),
            "an acknowledgement without TCP");
  }

  // As the truth log and the reports of drops name it.
  void identify() const {
    const emu::FlowId flow = emu::identify_flow(copy_, length_, PROTOCOL);
    const bool is_valid = judged_.verdict == Verdict::valid;
    const std::uint8_t inner = is_valid ? frame_[judged_.payload_at] : judged_.protocol;
    require(flow.ip_version == (!judged_.is_ip  ? 0
                                : judged_.is_v4 ? 4
                                                : 6) &&
                flow.protocol == inner,
            "another flow");
    require(flow.format == judged_.format &&
                flow.bucket == (judged_.has_tags() ? read16(frame_ + judged_.tags_at()) : 0),
            "another header of the flow");
    const std::uint32_t behind = judged_.payload_at + judged_.header_bytes;
    const std::uint32_t end = std::min(judged_.stated_end, length_);
    const bool has_ports = judged_.is_ip && !judged_.is_fragment &&
                           ((inner == 6 && end >= behind + 20) || (inner == 17 && end >= behind + 8));
    require(flow.source_port == (has_ports ? read16(frame_ + behind) : 0), "another port of the flow");
    require(flow.payload_bytes <= length_, "more payload than frame");
  }

  // A checksum that the sender has left to its device.
  void complete(std::uint64_t drawn) {
    const auto start = static_cast<std::uint32_t>(drawn >> 4 & 0x7f);
    const auto offset = static_cast<std::uint32_t>(drawn >> 11 & ((drawn >> 30) % 16 == 0 ? 0xffff : 0x1f));
    emu::complete_checksum(copy_, length_, start, offset);
    Bytes& expected = expect_same();
    if (start + offset + 2 > length_) return require_copy("changed outside");
    const std::uint32_t sum = ones_sum(frame_ + start, length_ - start);
    const std::uint32_t checksum = read16(copy_ + start + offset);
    require(checksum != 0 && checksum % 65535 == (65535 - sum) % 65535, "a wrong checksum", copy_, length_);
    write16(expected.data() + start + offset, checksum);
    require_copy("changed beside the checksum");
    renew();
  }

  void tag(std::uint64_t drawn) {
    Bytes& room = expected_;
    room.assign(frame_, frame_ + length_);
    room.insert(room.begin(), emu::VLAN_TAG_BYTES, 0);
    const auto tci = static_cast<std::uint16_t>(drawn >> 8);
    require(emu::insert_vlan_tag(room.data() + emu::VLAN_TAG_BYTES, 0x8100, tci) == room.data(),
            "a tag at another place");
    require(read16(room.data() + 12) == 0x8100 && read16(room.data() + 14) == tci, "another tag");
    room.erase(room.begin() + 12, room.begin() + 16);
    require(std::equal(room.begin(), room.end(), frame_), "changed beside the tag");
  }

  // RFC 3168: ECT(0), ECT(1) become CE, with the IPv4 checksum as right or wrong as before.
  void mark() {
    const std::uint32_t at = judged_.ip_at;
    const unsigned ecn = !judged_.is_ip ? 0 : judged_.is_v4 ? frame_[at + 1] % 4 : frame_[at + 1] / 16 % 4;
    const bool capable = ecn == 1 || ecn == 2;
    require(emu::is_ecn_capable(copy_, length_) == capable, "capable of ECN: not so");
    if (!capable) return;
    emu::mark_congestion(copy_, length_);
    Bytes& expected = expect_same();
    expected[at + 1] |= judged_.is_v4 ? 0x03 : 0x30;
    if (judged_.is_v4) {
      require(ones_sum(copy_ + at, 20) == ones_sum(frame_ + at, 20), "the IPv4 checksum is not mended", copy_,
              length_);
      std::copy_n(copy_ + at + 10, 2, expected.begin() + at + 10);
    }
    require_copy("changed beside the mark");
    ++marked_;
    renew();
  }

  void strip() {
    Bytes stripped(frame_, frame_ + length_);
    const bool done = emu::strip_header(stripped, PROTOCOL);
    Bytes& expected = expect_same();
    require(done == (judged_.verdict == Verdict::valid), "taken off: not so");
    if (done) {
      std::uint8_t* ip = expected.data() + judged_.ip_at;
      std::uint8_t* bytes = ip + (judged_.is_v4 ? 2 : 4);
      write16(bytes, read16(bytes) - judged_.header_bytes);
      ip[judged_.is_v4 ? 9 : 6] = frame_[judged_.payload_at];
      const auto begin = expected.begin() + judged_.payload_at;
      expected.erase(begin, begin + judged_.header_bytes);
      if (judged_.is_v4) {
        require(ones_sum(stripped.data() + judged_.ip_at, judged_.payload_at - judged_.ip_at) == 0,
                "a wrong IPv4 checksum");
        std::copy_n(stripped.begin() + judged_.ip_at + 10, 2, expected.begin() + judged_.ip_at + 10);
      }
      ++stripped_;
    }
    require(stripped == expected, "not as without the header", stripped.data(),
            static_cast<std::uint32_t>(stripped.size()));
  }

  // ICMP "too big": to the sender, in the name of the destination, with the begin of the packet.
  void answer(std::uint32_t mtu_bytes) {
    const Bytes answer = emu::too_big(copy_, length_, mtu_bytes);
    const bool is_icmp = judged_.protocol == 1 || judged_.protocol == 58;
    require(answer.empty() == (!judged_.is_ip || is_icmp), "answered: not so");
    if (answer.empty()) return;
    ++answered_;
    const auto length = static_cast<std::uint32_t>(answer.size());
    const std::uint32_t at = judged_.ip_at, ip_bytes = judged_.is_v4 ? 20 : 40;
    const std::uint32_t most = judged_.is_v4 ? 576 : 1280, quoted = length - at - ip_bytes - 8;
    require(length >= at + ip_bytes + 8 && length <= at + most, "an answer of another length");
    const std::uint8_t* ip = answer.data() + at;
    const std::uint32_t address_bytes = judged_.is_v4 ? 4 : 16, addresses = judged_.is_v4 ? 12 : 8;
    const std::uint8_t* original = frame_ + at + addresses;
    require(std::equal(ip + addresses, ip + addresses + address_bytes, original + address_bytes) &&
                std::equal(ip + addresses + address_bytes, ip + ip_bytes, original) &&
                std::equal(answer.data(), answer.data() + 6, frame_ + 6) &&
                std::equal(answer.data() + 6, answer.data() + 12, frame_),
            "an answer to another host", answer.data(), length);
    require(std::equal(ip + ip_bytes + 8, ip + ip_bytes + 8 + quoted, frame_ + at),
            "an answer about another packet", answer.data(), length);
    require_checksums(answer, ip_bytes);
  }

  void require_checksums(const Bytes& answer, std::uint32_t ip_bytes) const {
    const std::uint8_t* ip = answer.data() + judged_.ip_at;
    const auto icmp_bytes = static_cast<std::uint32_t>(answer.size()) - judged_.ip_at - ip_bytes;
    std::uint32_t icmp = ones_sum(ip + ip_bytes, icmp_bytes);
    if (judged_.is_v4) {
      require(ones_sum(ip, 20) == 0 && read16(ip + 2) == 20 + icmp_bytes, "an answer with a wrong header");
    } else {
      require(read16(ip + 4) == icmp_bytes, "an answer with a wrong length");
      icmp += ones_sum(ip + 8, 32) + icmp_bytes + 58;
    }
    require(icmp % 65535 == 0, "an answer with a wrong checksum", answer.data(),
            static_cast<std::uint32_t>(answer.size()));
  }

  // What LLDP says survives being written again.
  void hear() {
    if (length_ < 14 || read16(frame_ + 12) != 0x88cc) return;
    const auto heard = emu::parse_lldp(copy_, length_);
    if (!heard) return;
    ++hellos_;
    const Bytes again = emu::compose_lldp(*heard);
    const auto twice = emu::parse_lldp(again.data(), static_cast<std::uint32_t>(again.size()));
    require(twice && twice->chassis == heard->chassis && twice->port == heard->port &&
                twice->ttl_s == heard->ttl_s && twice->clarion.has_value() == heard->clarion.has_value(),
            "LLDP that says something else when it is written again", again.data(),
            static_cast<std::uint32_t>(again.size()));
  }

  const std::uint8_t* frame_ = nullptr;
  std::uint32_t length_ = 0;
  Judgement judged_;
  Guarded guarded_;
  std::uint8_t* copy_ = nullptr;
  Bytes expected_;
  std::uint64_t stripped_ = 0;
  std::uint64_t marked_ = 0;
  std::uint64_t answered_ = 0;
  std::uint64_t hellos_ = 0;
};

}  // namespace

std::unique_ptr<Target> edits_target() { return std::make_unique<EditsTarget>(); }

}  // namespace clarion::fuzz
