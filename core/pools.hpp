// SPDX-License-Identifier: Apache-2.0
// The pools that an interval fills, and what one departing packet is paid from them.
//
// Shares are fractions of a byte/s, the header counts whole ones. The fraction that a grant leaves over is
// kept and added to the next packet's feedback, so grants add up to the shares taken from the pools: no
// bias, however small the shares.
#pragma once

#include <cstdint>

#include "platform.hpp"
#include "types.hpp"

namespace clarion {

// q8: the most that one packet is given or charged, 2^31 - 1 bytes/s.
constexpr std::uint64_t PACKET_SHARE_MAX = max_of_bits(31) << RATE_FRACTION_BITS;

// Integers of the arithmetic below. Software has the machine's; a circuit takes the bits that the values
// need, for every grant waits for the one before (hls/functions/grant.hpp).
struct MachineIntegers {
  using Pool = std::uint64_t;    // 48 bits
  using Share = std::uint64_t;   // 39 bits
  using Amount = std::int64_t;   // 41 bits: what one packet changes
  using Balance = std::int64_t;  // 50 bits: a pool less an amount
};

// What is left of an interval, q8 bytes/s.
template <class Integers>
struct PoolsOf {
  typename Integers::Pool pos = 0;   // increases to hand out
  typename Integers::Pool neg = 0;   // decreases to hand out
  typename Integers::Pool bank = 0;  // generation 2: what packets above their fair share have paid in
  std::uint8_t carry = 0;            // below one byte/s
  bool pos_spent = false;            // generation 1: closed until the next interval
  bool neg_spent = false;
};

// What a packet would be paid and charged if the pools were without end, q8 bytes/s.
template <class Integers>
struct ClaimOf {
  typename Integers::Share p = 0;
  typename Integers::Share n = 0;
  typename Integers::Share lift = 0;  // from the bank if it lacks its fair share, else into it
  bool lacks = false;
};

using Pools = PoolsOf<MachineIntegers>;
using Claim = ClaimOf<MachineIntegers>;

// The change of the aggregate rate that is not handed out yet.
CLARION_INLINE std::int64_t in_hand_q8(const Pools& pools) {
  return static_cast<std::int64_t>(pools.pos + pools.bank) - static_cast<std::int64_t>(pools.neg);
}

template <class To, class A, class B>
CLARION_INLINE To lesser(const A& a, const B& b) {
  return a < b ? static_cast<To>(a) : static_cast<To>(b);
}

// What a pool holds after a change that cannot make it negative.
template <class Integers>
CLARION_INLINE typename Integers::Pool capped(typename Integers::Balance left) {
  return lesser<typename Integers::Pool>(left, static_cast<typename Integers::Balance>(POOL_MAX));
}

// Pays a packet that requests so many bytes/s; returns its delta_throughput. `closes`: generation 1, in which
// a spent pool stays closed until the next interval. Both ways are worked out and one is chosen: so a circuit
// need not wait for the choice.
template <class Integers>
CLARION_INLINE std::int32_t pay(PoolsOf<Integers>& pools, std::int32_t requested,
                                const ClaimOf<Integers>& claim, bool closes) {
  using Pool = typename Integers::Pool;
  using Amount = typename Integers::Amount;
  using Balance = typename Integers::Balance;
  constexpr int ONE = 1 << RATE_FRACTION_BITS;
  const Amount p = closes && pools.pos_spent ? Amount{0} : lesser<Amount>(pools.pos, claim.p);
  const Amount n = closes && pools.neg_spent ? Amount{0} : lesser<Amount>(pools.neg, claim.n);
  const auto paid_in = static_cast<Amount>(-static_cast<Amount>(claim.lift));
  const Amount lift = claim.lacks ? lesser<Amount>(pools.bank, claim.lift) : paid_in;
  const auto feedback = static_cast<Amount>(p - n + lift + pools.carry);
  const auto whole = static_cast<Amount>(feedback >> RATE_FRACTION_BITS);  // floors: the shift is arithmetic

  // If it asks for less it keeps that, of p and then of the lift, and the difference is given back as far as
  // `neg` goes.
  const auto kept = static_cast<Amount>(static_cast<Amount>(requested) * ONE);  // then below p + lift
  const auto of_p = lesser<Amount>(kept, p);
  const auto given_back = lesser<Amount>(pools.neg, static_cast<Pool>(p - of_p));
  const Pool pos_less =
      capped<Integers>(static_cast<Balance>(static_cast<Balance>(pools.pos) - of_p - given_back));
  const auto neg_less = static_cast<Pool>(pools.neg - static_cast<Pool>(given_back));
  const auto bank_less = static_cast<Pool>(pools.bank - static_cast<Pool>(kept - of_p));
  const auto pos_all = static_cast<Pool>(pools.pos - static_cast<Pool>(p));
  const auto neg_all = static_cast<Pool>(pools.neg - static_cast<Pool>(n));
  const Pool bank_all = capped<Integers>(static_cast<Balance>(static_cast<Balance>(pools.bank) - lift));

  const bool asks_for_less = requested < whole;
  pools.pos = asks_for_less ? pos_less : pos_all;
  pools.neg = asks_for_less ? neg_less : neg_all;
  pools.bank = asks_for_less ? bank_less : bank_all;
  if (!asks_for_less) pools.carry = static_cast<std::uint8_t>(feedback - whole * ONE);
  if (closes && pools.pos == 0) pools.pos_spent = true;
  if (closes && pools.neg == 0) pools.neg_spent = true;
  return asks_for_less ? requested : static_cast<std::int32_t>(whole);
}

}  // namespace clarion
