// SPDX-License-Identifier: Apache-2.0
// What a departing packet is granted, and the pools it is paid from.
//
// Shares are fractions of a byte/s, the header counts whole ones. The fraction that a grant leaves over is
// kept and added to the next packet's feedback, so grants add up to the shares taken from the pools: no
// bias, however small the shares.
#pragma once

#include <cstdint>

#include "division.hpp"
#include "header.hpp"
#include "platform.hpp"
#include "types.hpp"
#include "xcp_interval.hpp"

namespace clarion {

// q8: the most that one packet is given or charged, 2^31 - 1 bytes/s.
constexpr std::uint64_t PACKET_SHARE_MAX = max_of_bits(31) << RATE_FRACTION_BITS;

// What a packet is granted, bytes/s, and the hop that limits its flow, 0 = unknown.
struct Grant {
  std::int32_t delta_throughput = 0;
  std::uint8_t field = 0;
};

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

  CLARION_INLINE void refill(const Shares& shares) { left_ = shares; }

  // One DATA packet leaves: returns its delta_throughput, bytes/s.
  CLARION_INLINE std::int32_t step(const Meta& meta, std::uint32_t length) {
    return step(meta.delta_throughput, fair_share(left_.cp, left_.cn, meta.x, length));
  }

  // The same for a share that was computed with the gains of this interval, whether or not they are spent.
  CLARION_INLINE std::int32_t step(std::int32_t requested, FairShare share) {
    const auto p = static_cast<std::int64_t>(left_.cp.mantissa == 0 ? 0 : min_u64(left_.pos, share.p));
    const auto n = static_cast<std::int64_t>(left_.cn.mantissa == 0 ? 0 : min_u64(left_.neg, share.n));
    const std::int64_t feedback = p - n + carry_;  // q8
    const std::int64_t whole = floor_bytes_per_s(feedback);
    if (requested >= whole) {
      carry_ = static_cast<std::uint8_t>(feedback - whole * Q8_ONE);
      pay(p, n);
      return static_cast<std::int32_t>(whole);
    }
    const std::int64_t kept = requested * Q8_ONE;  // below p, since kept <= whole - 1 <= p
    const auto given_back =
        static_cast<std::int64_t>(min_u64(left_.neg, static_cast<std::uint64_t>(p - kept)));
    pay(kept + given_back, given_back);
    return requested;
  }

  const Shares& left() const { return left_; }
  std::uint8_t carry_q8() const { return carry_; }

 protected:
  static constexpr std::int64_t Q8_ONE = std::int64_t{1} << RATE_FRACTION_BITS;

  CLARION_INLINE static std::int64_t floor_bytes_per_s(std::int64_t q8) {
    return q8 >= 0 ? q8 >> RATE_FRACTION_BITS : -((Q8_ONE - 1 - q8) >> RATE_FRACTION_BITS);
  }

  CLARION_INLINE static std::uint64_t debited(std::uint64_t pool, std::int64_t amount) {
    if (amount < 0) return saturating_add(pool, static_cast<std::uint64_t>(-amount), POOL_MAX);
    return pool - min_u64(pool, static_cast<std::uint64_t>(amount));
  }

  CLARION_INLINE void debit(std::int64_t p, std::int64_t n) {
    left_.pos = debited(left_.pos, p);
    left_.neg = debited(left_.neg, n);
  }

  // A spent pool stays closed until the next interval.
  CLARION_INLINE void pay(std::int64_t p, std::int64_t n) {
    debit(p, n);
    if (left_.pos == 0) left_.cp = Gain{};
    if (left_.neg == 0) left_.cn = Gain{};
  }

  Shares left_;
  std::uint8_t carry_ = 0;  // q8: below one byte/s
};

}  // namespace clarion
