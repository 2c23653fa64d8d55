// SPDX-License-Identifier: Apache-2.0
// The embedded switch in virtual time, without devices, beside the core alone: what each port sends must be
// the same byte for byte. Two ports never wait; the third is a narrow link whose queue marks and drops.
#include <algorithm>
#include <array>
#include <vector>

#include "core_path.hpp"
#include "fabric.hpp"
#include "guarded.hpp"
#include "judge.hpp"
#include "lldp_frame.hpp"
#include "scene.hpp"
#include "settings.hpp"
#include "target.hpp"

namespace clarion::fuzz {
namespace {

using emu::Nanoseconds;

constexpr unsigned PORTS = STATIONS;
constexpr unsigned NARROW = PORTS - 1;
constexpr std::uint64_t NARROW_BPS = 2'000'000;
constexpr std::uint64_t QUEUE_BYTES = 6000;
constexpr std::uint64_t MARK_BYTES = 2000;
constexpr std::uint32_t FRAMES_PER_START = 8192;  // with settings that stay: half a second
constexpr std::size_t MOST_WAITING = 1024;        // more of the shortest frames than the queue holds

using Bytes = std::vector<std::uint8_t>;

// A frame in a queue or on a wire, as it came in, and as the core makes it leave.
struct Waiting {
  Bytes before;
  Bytes frame;
  Meta meta;
  Judgement judged;
  bool is_marked = false;
};

// Another view of a port of the switch. Its frames are in a ring, in the order in which they come.
struct Mirror {
  std::vector<Waiting> frames = std::vector<Waiting>(MOST_WAITING);
  std::uint64_t arrived = 0;  // numbers of frames: all,
  std::uint64_t sent = 0;     // those that have left the queue,
  std::uint64_t taken = 0;    // and those that have left the wire
  std::uint64_t queue_bytes = 0;
  std::uint64_t offered = 0;
  std::uint64_t dropped = 0;

  Waiting& numbered(std::uint64_t number) { return frames[number % MOST_WAITING]; }
  void clear() { arrived = sent = taken = queue_bytes = offered = dropped = 0; }
};

class SwitchTarget final : public Target {
 public:
  void begin(Random& random) override {
    fabric_ = std::make_unique<emu::Fabric>(options(random), emu::core_path, emu::Surroundings{false});
    plane_ = std::make_unique<DataPlane<PORTS>>();
    for (unsigned i = 0; i < PORTS; ++i) {
      mirrors_[i].clear();
      enter(i, any_config(random));
    }
    now_ = fabric_->now();
    left_ = FRAMES_PER_START;
  }

  void play(const std::uint8_t* frame, std::uint32_t length, Random& random) override {
    if (left_-- == 0) begin(random);
    const std::uint64_t drawn = random.next();
    now_ += drawn >> 40 & (drawn % 4096 == 0 ? 0xffffff : 0x1ffff);
    fabric_->advance(now_);
    follow();
    const auto in = static_cast<unsigned>(drawn >> 8) % PORTS;
    const std::uint8_t* copy = guarded_.hold(frame, length);
    fabric_->receive(port(in), now_, copy, length);
    require(std::equal(frame, frame + length, copy), "the frame received is changed in place", copy, length);
    expect(in, frame, length);
    follow();
  }

  Counts counts() const override {
    return {{"copies", copies_}, {"changed", changed_}, {"dropped", dropped_}, {"marked", marked_}};
  }

 private:
  static emu::Options options(Random& random) {
    emu::Options options;
    options.lldp = random.one_in(2);
    emu::SwitchOptions& only = options.switches.emplace_back();
    only.name = only.chassis_id = "s1";
    for (unsigned i = 0; i < PORTS; ++i) {
      emu::PortOptions& port = only.ports.emplace_back();
      port.name = std::to_string(i);
      port.number = i;
    }
    emu::PortOptions& narrow = only.ports[NARROW];
    narrow.rate_bps = NARROW_BPS;
    narrow.queue_bytes = QUEUE_BYTES;
    narrow.ecn_threshold_bytes = MARK_BYTES;
    return options;
  }

  emu::Port& port(unsigned i) { return *fabric_->ports()[i]; }
  const PortConfig& config_of(unsigned i) { return static_cast<emu::CorePath&>(*port(i).path).core().config; }

  void enter(unsigned i, const PortConfig& config) {
    emu::PortEntries entries;
    if (config.xcp.enabled) entries.xcp = emu::XcpEntry{config.xcp, 1};
    entries.tag = emu::TagEntry{config.tag.check, config.tag.edge, config.tag.wire, 1};
    entries.stamp = config.tag.stamp;
    fabric_->enter(port(i), entries);
    plane_->configure(i, config_of(i));
  }

  // What has left queues and wires since.
  void follow() {
    for (unsigned i = 0; i < PORTS; ++i) {
      Mirror& mirror = mirrors_[i];
      while (mirror.sent < port(i).counters.tx_packets) depart(i, mirror);
      emu::PacketFifo& out = port(i).out;
      while (out.flying() > 0 && out.wire_head()->arrival <= now_) {
        require(mirror.taken < mirror.sent, "more comes out than leaves the queue");
        compare(mirror.numbered(mirror.taken++), *out.wire_head());
        out.pop();
      }
      plane_->state(i).config.tag.wire = config_of(i).tag.wire;  // LLDP has a say in it
    }
  }

  void depart(unsigned i, Mirror& mirror) {
    require(mirror.sent < mirror.arrived, "more leaves than waits");
    Waiting& head = mirror.numbered(mirror.sent++);
    const auto length = static_cast<std::uint32_t>(head.frame.size());
    mirror.queue_bytes -= length;
    plane_->dequeue(i, 0, mirror.queue_bytes, head.frame.data(), length, head.meta);
  }

  // The same frame through the core alone, to the ports that the switch has chosen.
  void expect(unsigned in, const std::uint8_t* frame, std::uint32_t length) {
    const bool enters = length >= 14 && !emu::is_for_nearest_bridge(frame, length);
    const Ticks ticks = ticks_of_ns(now_);
    Meta meta;
    if (enters) meta = plane_->ingress(in, ticks, frame, length);
    const Judgement judged = judge(frame, length, PROTOCOL);
    unsigned copies = 0;
    for (unsigned i = 0; i < PORTS; ++i) {
      const emu::PortCounters& counters = port(i).counters;
      const std::uint64_t offered = counters.tx_packets + port(i).path->queued() + counters.drop_packets;
      if (offered == mirrors_[i].offered) continue;
      require(++mirrors_[i].offered == offered && i != in, "a copy too many");
      ++copies;
      Waiting& waiting = mirrors_[i].numbered(mirrors_[i].arrived);
      waiting.before.assign(frame, frame + length);
      waiting.frame = waiting.before;
      waiting.meta = meta;
      waiting.judged = judged;
      join(i, ticks, waiting);
    }
    copies_ += copies;
    require(enters || copies == 0, "forwarded what no bridge forwards");
    require(copies != PORTS - 2 || (frame[0] & 1) == 0, "not to all ports");
  }

  void join(unsigned i, Ticks ticks, Waiting& waiting) {
    Mirror& mirror = mirrors_[i];
    const auto length = static_cast<std::uint32_t>(waiting.frame.size());
    waiting.is_marked = i == NARROW && mirror.queue_bytes > MARK_BYTES && mark(waiting);
    plane_->enqueue(i, ticks, mirror.queue_bytes, length, waiting.meta);
    const bool fits = mirror.queue_bytes + length <= port(i).options.queue_bytes;
    require((port(i).counters.drop_packets == mirror.dropped) == fits, "dropped: not so");
    if (!fits) {
      ++mirror.dropped;
      ++dropped_;
      return;
    }
    if (waiting.is_marked) ++marked_;
    mirror.queue_bytes += length;
    ++mirror.arrived;
  }

  // RFC 3168. The checksum is compared as the frame comes out.
  static bool mark(Waiting& waiting) {
    if (!waiting.judged.is_ip) return false;
    const std::uint32_t at = waiting.judged.ip_at + 1;
    const unsigned shift = waiting.judged.is_v4 ? 0 : 4;
    const unsigned ecn = waiting.frame[at] >> shift & 3u;
    if (ecn == 0 || ecn == 3) return false;
    for (Bytes* bytes : {&waiting.before, &waiting.frame})
      (*bytes)[at] |= static_cast<std::uint8_t>(3u << shift);
    return true;
  }

  void compare(Waiting& expected, emu::Packet& packet) {
    const std::uint8_t* bytes = packet.frame();
    const Judgement& judged = expected.judged;
    require(packet.length == expected.frame.size(), "another length", bytes, packet.length);
    if (expected.is_marked && judged.is_v4) {
      // Before the mark the byte had ECT(0), 2, or ECT(1), 1: the sum less one or two is that of the frame.
      const std::uint32_t at = judged.ip_at + 10;
      const std::uint32_t mended = read16(bytes + at), before = read16(expected.before.data() + at);
      const std::uint32_t taken = (before + 65535u * 2 - mended) % 65535;
      require(taken == 1 || taken == 2, "the IPv4 checksum is not mended", bytes, packet.length);
      for (Bytes* copy : {&expected.before, &expected.frame}) write16(copy->data() + at, mended);
    }
    require(std::equal(expected.frame.begin(), expected.frame.end(), bytes), "not as the core makes it",
            bytes, packet.length);
    const bool is_same = std::equal(expected.before.begin(), expected.before.end(), bytes);
    require(is_same || judged.has_tags(), "changed without a header to change", bytes, packet.length);
    if (!is_same) ++changed_;
  }

  std::unique_ptr<emu::Fabric> fabric_;
  std::unique_ptr<DataPlane<PORTS>> plane_;
  Mirror mirrors_[PORTS];
  Guarded guarded_;
  Nanoseconds now_ = 0;
  std::uint32_t left_ = 0;  // frames until the next start
  std::uint64_t copies_ = 0;
  std::uint64_t changed_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint64_t marked_ = 0;
};

}  // namespace

std::unique_ptr<Target> switch_target() { return std::make_unique<SwitchTarget>(); }

}  // namespace clarion::fuzz
