// SPDX-License-Identifier: Apache-2.0
// What a departing packet is granted by generation 1, and the pools it is paid from.
#pragma once

#include <cstdint>

#include "division.hpp"
#include "header.hpp"
#include "platform.hpp"
#include "pools.hpp"
#include "types.hpp"
#include "xcp_interval.hpp"

namespace clarion {

// What a packet would be given and charged, q8, if the pools were without end.
struct FairShare {
  std::uint64_t p = 0;
  std::uint64_t n = 0;
};

// Depends on no earlier packet of the interval, so that hardware can compute it ahead.
CLARION_INLINE FairShare fair_share(Gain cp, Gain cn, std::uint32_t x, std::uint32_t length) {
  return FairShare{min_u64(multiply(cp, x), PACKET_SHARE_MAX),
                   min_u64(multiply(cn, length), PACKET_SHARE_MAX)};
}

class XcpDeparture {
 public:
  CLARION_INLINE void restart() { *this = XcpDeparture{}; }

  CLARION_INLINE void refill(const Shares& shares) {
    const std::uint8_t carry = pools_.carry;
    pools_ = Pools{shares.pos, shares.neg, 0, carry};
    cp_ = shares.cp;
    cn_ = shares.cn;
  }

  // One DATA packet leaves: returns its delta_throughput, bytes/s.
  CLARION_INLINE std::int32_t step(const Meta& meta, std::uint32_t length) {
    const FairShare share = fair_share(cp_, cn_, meta.x, length);
    return pay(pools_, meta.delta_throughput, Claim{share.p, share.n, 0, true}, true);
  }

  // What is left, with the gains of pools that are not spent.
  Shares left() const { return Shares{pools_.pos, pools_.neg, cp(), cn()}; }
  std::uint8_t carry_q8() const { return pools_.carry; }

 protected:
  CLARION_INLINE Gain cp() const { return pools_.pos_spent ? Gain{} : cp_; }
  CLARION_INLINE Gain cn() const { return pools_.neg_spent ? Gain{} : cn_; }

  Pools pools_;

 private:
  Gain cp_;  // of the interval
  Gain cn_;
};

}  // namespace clarion
