// SPDX-License-Identifier: Apache-2.0
// The header shim of a host, both directions: what goes out with a header comes in again as it was.
#include <cstring>

#include "generator.hpp"
#include "judge.hpp"
#include "scene.hpp"
#include "shim_kernel.h"
#include "target.hpp"

namespace clarion::fuzz {
namespace {

constexpr std::uint32_t HEADER_MAX = 32;
constexpr std::uint8_t MARK_LEFT = 0x01;
constexpr std::uint8_t MARK_ARRIVED = 0x02;

struct Bytes {
  std::uint8_t bytes[LONGEST_BYTES + HEADER_MAX];
  std::uint32_t length = 0;

  void set(const std::uint8_t* from, std::uint32_t size) {
    std::memcpy(bytes, from, size);
    length = size;
  }
};

// Where the flags of a SYN's option are, by docs/wire-format.md; 0: it has none, or is not whole.
std::uint32_t option_flags_at(const Bytes& frame, const Judgement& judged) {
  if (!judged.is_ip || judged.protocol != 6 || judged.is_fragment) return 0;
  const std::uint32_t tcp = judged.payload_at;
  if (judged.stated_end > frame.length || judged.stated_end < tcp + 20) return 0;
  const std::uint32_t end = tcp + frame.bytes[tcp + 12] / 16 * 4u;
  if ((frame.bytes[tcp + 13] & 0x02) == 0 || end > judged.stated_end) return 0;
  for (std::uint32_t at = tcp + 20; at + 5 <= end;) {
    const std::uint8_t* option = frame.bytes + at;
    if (option[0] == 0) return 0;
    if (option[0] == 1) {
      ++at;
      continue;
    }
    if (option[0] == 254 && option[1] == 5 && read16(option + 2) == 0xc1a7) return at + 4;
    if (option[1] < 2) return 0;
    at += option[1];
  }
  return 0;
}

class ShimTarget final : public Target {
 public:
  void begin(Random& random) override {
    shim_restart();
    std::memset(&shim_kernel, 0, sizeof shim_kernel);
    any_flow(random);
  }

  void play(const std::uint8_t* frame, std::uint32_t length, Random& random) override {
    if (length < 14 || (read16(frame + 12) == 0x8100 && length < 18)) return;  // never reaches tc
    before_.set(frame, length);
    if (read16(frame + 12) == 0x8100) untag(before_);
    const std::uint64_t drawn = random.next();
    any_circumstances(drawn);
    if (drawn % 64 == 0) any_flow(random);
    const bool is_tagged_twice = read16(before_.bytes + 12) == 0x8100;  // no IP packet for the stack
    const Judgement judged = is_tagged_twice ? Judgement{} : judge(before_.bytes, before_.length, PROTOCOL);
    const bool leaves = drawn >> 6 & 1 && (judged.protocol == 6 || judged.protocol == 17 || drawn % 64 == 1);
    connect(judged, leaves, drawn >> 44);
    leaves ? leave(judged, drawn) : arrive(judged);
  }

  Counts counts() const override {
    return {{"put_on", put_on_}, {"put_on_udp", put_on_udp_}, {"taken_off", taken_off_}, {"marked", marked_}};
  }

 private:
  static void untag(Bytes& frame) {
    std::memmove(frame.bytes + 12, frame.bytes + 16, frame.length - 16);
    frame.length -= 4;
  }

  static void any_circumstances(std::uint64_t drawn) {
    shim_kernel.is_attached = (drawn >> 8) % 64 != 0;
    shim_kernel.has_socket = (drawn >> 14) % 16 != 0;
    shim_kernel.is_full_socket = (drawn >> 18) % 16 != 0;
    shim_kernel.has_flow = (drawn >> 22) % 16 != 0;
    shim_kernel.has_ask = (drawn >> 30) % 8 != 0;
    shim_kernel.is_short_of_memory = (drawn >> 26) % 64 == 0;
    shim_kernel.mtu_bytes = (drawn >> 32) % 4 == 0 ? 200 : (drawn >> 34) % 4 == 0 ? 9000 : 1532;
    shim_kernel.now_ns += drawn >> 40;
    shim_kernel.wire.is_declared = drawn >> 36 & 1;
  }

  static void any_flow(Random& random) {
    tcp_sock& tcp = shim_kernel.tcp;
    tcp.snd_una = TCP_SEQ + random.below(64);
    tcp.snd_nxt = tcp.snd_una + random.below(64);
    tcp.write_seq = tcp.snd_nxt + random.below(64);
    tcp.rcv_wup = TCP_SEQ + random.below(64);
    tcp.rcv_wnd = random.extreme();
    tcp.max_window = random.extreme();
    tcp.packets_out = random.below(2);
    flow& flow = shim_kernel.flow;
    flow.id.netns_cookie = random.one_in(16);  // mostly that of the device
    flow.id.bucket = static_cast<__u16>(random.extreme());
    flow.id.aware = !random.one_in(8);
    flow.id.tags = !random.one_in(4);
    flow.id.plain = random.one_in(4);
    flow.id.peer_format = static_cast<__u8>(random.below(4));
    flow.id.heard = !random.one_in(4);
    flow.id.plain_turn = static_cast<__u8>(random.below(3));
    flow.passage.state = random.one_in(4) ? static_cast<__u8>(random.below(5)) : __u8{0};
    flow.request.wanted = !random.one_in(4);
    flow.request.field = static_cast<__u8>(random.below(8));
    flow.request.rtt = random.extreme();
    flow.request.x = random.extreme();
    flow.request.delta_throughput = static_cast<__s32>(random.extreme());
    flow.request.full_len = random.extreme() % 9100;
    flow.echo.nr_echoes = random.below(3);
    flow_ask& ask = shim_kernel.ask;
    ask.netns_cookie = random.one_in(16);
    ask.request = flow.request;
    ask.carries = static_cast<__u8>(random.one_in(4) ? random.extreme() : 2);
    ask.tags = !random.one_in(4);
    wire& wire = shim_kernel.wire;
    wire.judgement = static_cast<__u8>(random.below(3));
    wire.until_ns = shim_kernel.now_ns + random.extreme();
  }

  // The UDP socket of the frame, mostly: sometimes it is one of TCP, or connected to another peer.
  void connect(const Judgement& judged, bool leaves, std::uint64_t drawn) {
    bpf_sock& socket = shim_kernel.socket;
    socket = {};
    const std::uint32_t udp =
        judged.payload_at + (judged.verdict == Verdict::valid ? judged.header_bytes : 0);
    if (!judged.is_ip || before_.length < udp + 4) return;
    const std::uint8_t* ip = before_.bytes + judged.ip_at;
    const std::uint32_t address_bytes = judged.is_v4 ? 4 : 16;
    const std::uint8_t* source = ip + (judged.is_v4 ? 12 : 8);
    socket.protocol = drawn % 16 == 0 ? 6 : 17;
    socket.src_port = read16(before_.bytes + udp + (leaves ? 0 : 2)) ^ (drawn % 16 == 1);
    std::memcpy(&socket.dst_port, before_.bytes + udp + (leaves ? 2 : 0), 2);
    socket.dst_port ^= drawn % 16 == 2;
    const std::uint8_t* peer = leaves ? source + address_bytes : source;
    if (judged.is_v4)
      std::memcpy(&socket.dst_ip4, peer, 4);
    else
      std::memcpy(socket.dst_ip6, peer, 16);
    socket.dst_ip4 ^= drawn % 16 == 3;
    socket.dst_ip6[3] ^= drawn % 16 == 3;
    is_peers_ = drawn % 16 == 0 || drawn % 16 > 3;
  }

  // Whose packets go with a header.
  bool knows_header(const Judgement& judged) const {
    if (!shim_kernel.has_socket || !shim_kernel.has_flow || shim_kernel.is_short_of_memory) return false;
    if (judged.protocol == 6) return shim_kernel.flow.id.aware;
    return shim_kernel.has_ask && shim_kernel.socket.protocol == 17 && is_peers_;
  }

  std::uint32_t run(std::uint32_t (*program)(shim_packet*), const Bytes& from, std::uint64_t drawn = 0) {
    after_.set(from.bytes, from.length);
    shim_packet packet{after_.bytes, from.length, read16(from.bytes + 12), 0, 0};
    if (drawn % 64 == 2) packet.gso_segs = 2;
    if (drawn % 64 == 3) packet.gso_size = 1448;
    const std::uint32_t action = program(&packet);
    after_.length = packet.length;
    return action;
  }

  void require_after(bool holds, const char* reason) const {
    require(holds, reason, after_.bytes, after_.length);
  }

  void require_same(const Bytes& expected, const char* reason) const {
    require_after(
        after_.length == expected.length && std::memcmp(after_.bytes, expected.bytes, expected.length) == 0,
        reason);
  }

  void arrive(const Judgement& judged) {
    const device_counters counted = shim_kernel.counters;
    require_after(run(shim_ingress, before_) == SHIM_PASSES, "a packet that comes in is dropped");
    // A packet cut short is none for the stack; one shorter than its own header it does not even look into.
    const bool is_cut = judged.stated_end > before_.length;
    const bool is_readable = judged.stated_end >= judged.payload_at;
    const bool is_valid = judged.verdict == Verdict::valid && !is_cut;
    const bool is_malformed = judged.verdict != Verdict::ordinary && !is_valid && is_readable;
    if (shim_kernel.is_attached) {
      require_after(shim_kernel.counters.malformed - counted.malformed == is_malformed,
                    "counted as malformed: not so");
    }
    if (!is_valid || shim_kernel.is_short_of_memory) return require_marked(judged, MARK_ARRIVED);
    require_taken_off(judged);
    ++taken_off_;
  }

  void leave(const Judgement& judged, std::uint64_t drawn) {
    require_after(run(shim_egress, before_, drawn) == SHIM_PASSES, "a packet that leaves is dropped");
    if (after_.length == before_.length) return require_marked(judged, MARK_LEFT);
    require_put_on(judged);
    ++put_on_;
    const Judgement with_header = judge(after_.bytes, after_.length, PROTOCOL);
    if (judged.stated_end > before_.length || judged.stated_end < judged.payload_at) return;
    require_after(with_header.verdict == Verdict::valid, "leaves with a header that is malformed");
    sent_ = after_;
    if (shim_kernel.is_short_of_memory) return;
    run(shim_ingress, sent_);
    copy_checksum(judged);
    require_same(before_, "comes in otherwise than it left");
  }

  // The IPv4 checksum was as right or wrong before; both zeros are one number.
  void copy_checksum(const Judgement& judged) {
    if (!judged.is_v4) return;
    const std::uint32_t at = judged.ip_at, bytes = judged.payload_at - at;
    require_after(ones_sum(before_.bytes + at, bytes) == ones_sum(after_.bytes + at, bytes),
                  "the IPv4 checksum is not mended");
    std::memcpy(before_.bytes + at + 10, after_.bytes + at + 10, 2);
  }

  static void set_ip(Bytes& frame, const Judgement& judged, std::uint8_t protocol, std::uint32_t grown) {
    std::uint8_t* ip = frame.bytes + judged.ip_at;
    std::uint8_t* length = ip + (judged.is_v4 ? 2 : 4);
    write16(length, read16(length) + grown);
    ip[judged.is_v4 ? 9 : 6] = protocol;
  }

  void require_taken_off(const Judgement& judged) {
    const std::uint32_t behind = judged.payload_at + judged.header_bytes;
    const std::uint8_t next_protocol = before_.bytes[judged.payload_at];
    copy_checksum(judged);
    set_ip(before_, judged, next_protocol, 0u - judged.header_bytes);
    std::memmove(before_.bytes + judged.payload_at, before_.bytes + behind, before_.length - behind);
    before_.length -= judged.header_bytes;
    require_same(before_, "a header is not taken off as it should");
  }

  void require_put_on(const Judgement& judged) {
    require_after(judged.is_ip && (judged.protocol == 6 || judged.protocol == 17) && !judged.is_fragment,
                  "a header in front of neither TCP nor UDP");
    require_after(knows_header(judged), "a header for no flow that knows it");
    put_on_udp_ += judged.protocol == 17;
    require_after(after_.length - 14 <= shim_kernel.mtu_bytes, "longer than the device takes");
    const std::uint8_t* header = after_.bytes + judged.payload_at;
    const std::uint32_t bytes = after_.length - before_.length;
    const std::uint32_t format = bytes == 32 ? 1 : bytes == 12 ? 2 : 3;
    require_after((bytes == 32 || bytes == 12 || bytes == 16) && header[0] == judged.protocol &&
                      header[1] == bytes && header[2] == 0x10 + format,
                  "a header without its own length, version or format");
    const Bytes original = before_;
    set_ip(before_, judged, PROTOCOL, bytes);
    std::memmove(before_.bytes + judged.payload_at + bytes, before_.bytes + judged.payload_at,
                 before_.length - judged.payload_at);
    std::memcpy(before_.bytes + judged.payload_at, header, bytes);
    before_.length += bytes;
    if (judged.is_v4) {
      const std::uint32_t at = judged.ip_at, ip_bytes = judged.payload_at - at;
      require_after(ones_sum(original.bytes + at, ip_bytes) == ones_sum(after_.bytes + at, ip_bytes),
                    "the IPv4 checksum is not mended");
      std::memcpy(before_.bytes + at + 10, after_.bytes + at + 10, 2);
    }
    require_same(before_, "a header is not put on as it should");
    before_ = original;
  }

  // Unchanged but for the mark in the option of a SYN, and the TCP checksum with it.
  void require_marked(const Judgement& judged, std::uint8_t mark) {
    const std::uint32_t flags_at = option_flags_at(before_, judged);
    if (flags_at == 0 || (before_.bytes[flags_at] & mark) != 0) {
      return require_same(before_, "changed without a reason");
    }
    ++marked_;
    const std::uint32_t tcp = judged.payload_at, bytes = judged.stated_end - tcp;
    require_after(ones_sum(before_.bytes + tcp, bytes) == ones_sum(after_.bytes + tcp, bytes),
                  "the TCP checksum is not mended");
    before_.bytes[flags_at] |= mark;
    std::memcpy(before_.bytes + tcp + 16, after_.bytes + tcp + 16, 2);
    require_same(before_, "an option is not marked as it should");
  }

  Bytes before_;
  Bytes after_;
  Bytes sent_;
  bool is_peers_ = false;  // the socket is connected to the frame's other end
  std::uint64_t put_on_ = 0;
  std::uint64_t put_on_udp_ = 0;
  std::uint64_t taken_off_ = 0;
  std::uint64_t marked_ = 0;
};

}  // namespace

std::unique_ptr<Target> shim_target() { return std::make_unique<ShimTarget>(); }

}  // namespace clarion::fuzz
