// SPDX-License-Identifier: Apache-2.0
// "What a router changes" (docs/wire-format.md), applied to a frame by hand.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "generator.hpp"
#include "judge.hpp"
#include "scene.hpp"

namespace clarion::fuzz {

// What happens to one copy of a packet on its way through a router.
struct Passage {
  bool xcp = false;         // the outgoing port grants
  bool maxmin = false;      // and says which hop limits the flow
  bool edge = false;        // of the incoming port
  std::uint16_t wire = 0;   // added to `corrupt`
  bool stamp = false;       // the outgoing port numbers
  std::uint16_t queue = 0;  // added to `congest`
  std::uint16_t link_seq = 0;
};

// Fails unless `after` is `before` but for what a router changes in its header.
inline void require_rewritten(const std::uint8_t* before, const std::uint8_t* after, std::uint32_t length,
                              const Judgement& judged, const Passage& passage) {
  if (judged.verdict != Verdict::valid || !judged.has_tags()) {
    return require(std::memcmp(before, after, length) == 0, "changed without a header to change", after,
                   length);
  }
  // The header alone may differ, so only it is copied.
  std::uint8_t expected[32];
  const std::uint32_t at = judged.payload_at, bytes = judged.header_bytes;
  std::memcpy(expected, before + at, bytes);
  std::uint8_t* tags = expected + (judged.tags_at() - at);
  if (passage.xcp && judged.format == 1) {
    const auto requested = static_cast<std::int32_t>(read32(expected + 12));
    const auto granted = static_cast<std::int32_t>(read32(after + at + 12));
    require(granted <= requested, "granted more than requested", after, length);
    write32(expected + 12, static_cast<std::uint32_t>(granted));
    if ((expected[3] & 0x0e) != 0x0e) expected[3] = static_cast<std::uint8_t>(expected[3] + 2);
    const unsigned hop = expected[3] >> 1 & 7u, field = expected[7] & 7u, now = after[at + 7] & 7u;
    const bool has_rtt = (read32(expected + 4) & ~7u) != 0;
    if (passage.maxmin && has_rtt && (now == hop ? field <= hop : now == 0 && field == hop)) {
      expected[7] = static_cast<std::uint8_t>((expected[7] & ~7u) | now);
    }
  }
  if (passage.edge) write32(tags + 4, 0);
  write16(tags + 4, read16(tags + 4) + passage.wire);
  if (passage.stamp) {
    write16(tags + 6, read16(tags + 6) + passage.queue);
    write16(tags + 2, passage.link_seq);
  }
  const bool same = std::memcmp(before, after, at) == 0 && std::memcmp(expected, after + at, bytes) == 0 &&
                    std::memcmp(before + at + bytes, after + at + bytes, length - at - bytes) == 0;
  require(same, "changed otherwise than a router may", after, length);
}

}  // namespace clarion::fuzz
