// SPDX-License-Identifier: Apache-2.0
// What a departing DATA packet is granted. All that does not depend on the pools is in `offer`, which may
// take its time; `grant` waits for the grant before it.
#pragma once

#include "core/maxmin_departure.hpp"
#include "core/pools.hpp"
#include "core/xcp_departure.hpp"
#include "hls/functions/narrow.hpp"
#include "hls/functions/ports.hpp"

namespace clarion::block {

// As many bits as the values need: sums of 64 bits would not fit between two grants.
struct NarrowIntegers {
  using Pool = Unsigned<48>;
  using Share = Unsigned<39>;
  using Amount = Signed<41>;
  using Balance = Signed<50>;
};

CLARION_INLINE OfferResults offer(const OfferArguments& arguments) {
  OfferResults results;
  results.pays = true;
  if (!arguments.maxmin) {
    const FairShare share = fair_share(arguments.cp, arguments.cn, arguments.x, arguments.length);
    results.claim = Claim{share.p, share.n, 0, true};
    return results;
  }
  Meta meta;
  meta.rtt = arguments.rtt;
  meta.x = arguments.x;
  meta.delta_throughput = arguments.delta_throughput;
  meta.flags = arguments.flags;
  const Offer offer = offer_to(arguments.cp, arguments.cn, arguments.gains, arguments.x, arguments.length,
                               arguments.field > hop_behind(arguments.flags));
  const Answer answer = answer_to(offer, arguments.gains, meta, arguments.field, arguments.length);
  results.claim = offer.claim;
  results.pays = answer.pays;
  results.reply = answer.reply;
  results.own = answer.own;
  results.poor = answer.poor;
  results.limited = answer.limited;
  return results;
}

CLARION_INLINE OwnResults own(const OwnArguments& arguments) {
  Meta meta;
  meta.rtt = arguments.rtt;
  meta.x = arguments.x;
  meta.delta_throughput = arguments.delta_throughput;
  Answer answer;
  answer.own = arguments.own;
  answer.poor = arguments.poor;
  answer.limited = arguments.limited;
  OwnResults results;
  results.sums = arguments.sums;
  count_departure(results.sums, meta, arguments.length, answer);
  return results;
}

CLARION_INLINE GrantResults grant(const GrantArguments& arguments) {
  const Pools& before = arguments.pools;
  PoolsOf<NarrowIntegers> pools;
  pools.pos = before.pos;
  pools.neg = before.neg;
  pools.bank = before.bank;
  pools.carry = before.carry;
  pools.pos_spent = before.pos_spent;
  pools.neg_spent = before.neg_spent;
  ClaimOf<NarrowIntegers> claim;
  claim.p = arguments.claim.p;
  claim.n = arguments.claim.n;
  claim.lift = arguments.claim.lift;
  claim.lacks = arguments.claim.lacks;
  GrantResults results;
  results.granted = pay(pools, arguments.requested, claim, !arguments.maxmin);
  results.pools.pos = static_cast<std::uint64_t>(pools.pos);
  results.pools.neg = static_cast<std::uint64_t>(pools.neg);
  results.pools.bank = static_cast<std::uint64_t>(pools.bank);
  results.pools.carry = pools.carry;
  results.pools.pos_spent = pools.pos_spent;
  results.pools.neg_spent = pools.neg_spent;
  return results;
}

}  // namespace clarion::block
