// SPDX-License-Identifier: Apache-2.0
// Accurate ECN (RFC 9768): the receiver counts the packets that came marked, and each of its segments carries
// the last three bits of that count (ACE); the sender makes a count of them again.
#pragma once

#include <algorithm>
#include <cstdint>

namespace clarion::sim {

constexpr std::uint32_t ACE_STEPS = 8;          // after so many marks the field is the same again
constexpr std::uint32_t FIRST_CE_COUNT = 5;     // of both ends (3.2.1)
constexpr std::uint32_t MARKS_PER_ACK = 2;      // so many bring one at once (3.2.2.5.1)
constexpr std::uint32_t SYNS_FOR_ACCURATE = 2;  // ask for it; later ones do without (3.1.4.1)

constexpr std::uint8_t ace_of(std::uint32_t ce_count) {
  return static_cast<std::uint8_t>(ce_count % ACE_STEPS);
}

// The sender's copy of the count.
class CeCount {
 public:
  std::uint32_t count() const { return count_; }

  // The packets newly known to be marked, by an ACK that has delivered `newly` ones, none of them before
  // another ACK said so: at least what the field says, and as much more as would be the same to it and is
  // likely after acknowledgements that never came (A.2.1, with its newlyAckedPktHeur).
  std::uint32_t take(std::uint8_t ace, std::uint32_t newly) {
    std::uint32_t marked = ace_of(ace + ACE_STEPS - ace_of(count_));
    const std::uint32_t likely =
        static_cast<std::uint32_t>((std::uint64_t{newly} * share_q16_ + ONE - 1) / ONE);
    if (likely >= ACE_STEPS) marked = likely - (likely - marked) % ACE_STEPS;
    count_ += marked;
    if (newly > 0) learn(marked, newly);
    return marked;
  }

 private:
  static constexpr std::uint64_t ONE = 65536;
  static constexpr std::uint32_t MEMORY_PACKETS = 32;

  void learn(std::uint32_t marked, std::uint32_t newly) {
    const std::uint64_t weight = std::min(newly, MEMORY_PACKETS);
    const std::uint64_t seen_q16 = std::min(marked, newly) * ONE / newly;
    share_q16_ = (share_q16_ * (MEMORY_PACKETS - weight) + seen_q16 * weight) / MEMORY_PACKETS;
  }

  std::uint32_t count_ = FIRST_CE_COUNT;
  std::uint64_t share_q16_ = ONE;  // of the latest packets that were marked; at first the worst is assumed
};

}  // namespace clarion::sim
