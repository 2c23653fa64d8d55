// SPDX-License-Identifier: Apache-2.0
// The data-plane core: in by port 0, out by port 1.
#include <array>

#include "core/data_plane.hpp"
#include "guarded.hpp"
#include "rewriting.hpp"
#include "settings.hpp"
#include "target.hpp"

namespace clarion::fuzz {
namespace {

constexpr unsigned BUCKETS = DEFAULT_BUCKETS;

class CoreTarget final : public Target {
 public:
  void begin(Random& random) override {
    plane_ = std::make_unique<DataPlane<2>>();
    numbers_.fill(0);
    wire_totals_.fill(0);
    malformed_ = 0;
    now_ = random.extreme();
    for (unsigned port = 0; port < 2; ++port) configure(port, random);
  }

  void play(const std::uint8_t* frame, std::uint32_t length, Random& random) override {
    const std::uint64_t drawn = random.next();
    std::uint8_t* copy = guarded_.hold(frame, length);
    const Judgement judged = judge(frame, length, PROTOCOL);
    if (drawn % 512 == 0) configure(drawn >> 9 & 1, random);
    now_ += drawn >> 16 & (drawn % 64 == 1 ? 0xffffffff : 0x3ffff);
    Meta meta = plane_->ingress(0, now_, copy, length);
    require_parsed(meta, judged);
    Passage passage;
    passage.edge = configs_[0].tag.edge;
    if (judged.has_tags() && configs_[0].tag.check) {
      passage.wire = plane_->port(0).wire_check.total(meta.bucket);
      if (!configs_[0].tag.wire) require(passage.wire == wire_total(meta), "a gap counts on an unknown wire");
      wire_total(meta) = passage.wire;
    }
    const std::uint32_t queue = drawn >> 48 & 0xffff;
    plane_->enqueue(1, now_, queue, length, meta);
    passage.xcp = configs_[1].xcp.enabled;
    passage.maxmin = plane_->port(1).config.xcp.generation == 2;
    passage.stamp = configs_[1].tag.stamp;
    if (drawn >> 10 & 1 && drawn % 512 == 1) configure(1, random);  // while the packet waits
    if ((drawn >> 11) % 16 == 0) return;                            // dropped
    plane_->dequeue(1, now_, queue, copy, length, meta);
    if (judged.has_tags() && passage.stamp) {
      passage.queue = plane_->port(1).queue_check.total(meta.bucket);
      passage.link_seq = numbers_[meta.bucket % BUCKETS]++;
    }
    require_rewritten(frame, copy, length, judged, passage);
    if (std::memcmp(frame, copy, length) != 0) ++changed_;
  }

  Counts counts() const override { return {{"changed", changed_}}; }

 private:
  void configure(unsigned port, Random& random) {
    configs_[port] = any_config(random);
    plane_->configure(port, configs_[port]);
  }

  std::uint16_t& wire_total(const Meta& meta) { return wire_totals_[meta.bucket % BUCKETS]; }

  void require_parsed(const Meta& meta, const Judgement& judged) {
    if (judged.verdict == Verdict::malformed) ++malformed_;
    require(plane_->port(0).malformed == malformed_, "counted as malformed: not so");
    require(static_cast<unsigned>(meta.kind) == judged.format, "taken for another format");
    require(judged.format == 0 || meta.offset == judged.payload_at, "looked for at the wrong place");
  }

  std::unique_ptr<DataPlane<2>> plane_;
  PortConfig configs_[2];
  Guarded guarded_;
  Ticks now_ = 0;
  std::uint64_t malformed_ = 0;
  std::uint64_t changed_ = 0;
  std::array<std::uint16_t, BUCKETS> numbers_{};      // the next of the outgoing link
  std::array<std::uint16_t, BUCKETS> wire_totals_{};  // of the incoming link, as they were last
};

}  // namespace

std::unique_ptr<Target> core_target() { return std::make_unique<CoreTarget>(); }

}  // namespace clarion::fuzz
