// SPDX-License-Identifier: Apache-2.0
// Generation 2 of what a departing packet is granted (docs/datapath.md, "Generation 2"). Beside the pools of
// generation 1 there is a bank: what packets above their flow's fair share pay in, those below are paid from,
// so that redistribution hands out nothing that nobody has given up.
#pragma once

#include <cstdint>

#include "division.hpp"
#include "header.hpp"
#include "maxmin_interval.hpp"
#include "platform.hpp"
#include "types.hpp"
#include "xcp_departure.hpp"

namespace clarion {

// What a packet's flow has and is offered at this hop.
struct Offer {
  FairShare share;            // q8
  bool lacks = false;         // it has less than its fair share:
  std::uint64_t gap_q8 = 0;   // by so many bytes per packet, else above it by so many
  std::uint64_t lift_q8 = 0;  // what is paid from the bank, or into it, at most PACKET_SHARE_MAX

  CLARION_INLINE std::int64_t total_q8() const {
    const auto lift = static_cast<std::int64_t>(lift_q8);
    return static_cast<std::int64_t>(share.p) - static_cast<std::int64_t>(share.n) + (lacks ? lift : -lift);
  }
  // By more than 1/32 of a packet: noise of x and of the shares is less.
  CLARION_INLINE bool is_poor(std::uint32_t length) const {
    return lacks && gap_q8 > std::uint64_t{length} * 8;
  }
  // By more than 5/64.
  CLARION_INLINE bool is_very_poor(std::uint32_t length) const {
    return lacks && gap_q8 > std::uint64_t{length} * 20;
  }
};

class MaxMinDeparture : public XcpDeparture {
 public:
  CLARION_INLINE void restart() { *this = MaxMinDeparture{}; }

  CLARION_INLINE void refill(const Shares& shares, const MaxMinGains& gains) {
    XcpDeparture::refill(shares);
    gains_ = gains;
    bank_ = 0;
  }

  // The sums of the interval that ends here; the next one starts from zero.
  CLARION_INLINE OwnSums take() {
    const OwnSums ended = sums_;
    sums_ = OwnSums{};
    return ended;
  }

  // One DATA packet with this `field` leaves: its delta_throughput, bytes/s, and its new field.
  CLARION_INLINE Grant step_maxmin(const Meta& meta, std::uint8_t field, std::uint32_t length) {
    const std::uint8_t hop = hop_behind(meta.flags);
    const Offer offer = offer_to(meta, field > hop, length);
    if (meta.rtt > sums_.max_rtt) sums_.max_rtt = meta.rtt;
    if (offer.is_poor(length) && meta.rtt != 0) {
      const std::int64_t requested_q8 = meta.delta_throughput * Q8_ONE;
      if (field > hop) return Grant{whole_of(min_i64(requested_q8, unpaid_q8(offer, length))), field};
      if (requested_q8 < offer.total_q8()) {
        sums_.limited = limited_plus(meta.delta_throughput);
        return Grant{meta.delta_throughput, field};
      }
    }
    if (meta.rtt != 0) count_own(meta, length, offer);
    const std::int32_t granted = pay_offer(meta.delta_throughput, offer);
    if (meta.rtt == 0 || field > hop) return Grant{granted, field};
    if (granted < meta.delta_throughput) return Grant{granted, hop};
    return Grant{granted, field == hop ? std::uint8_t{0} : field};
  }

  // The change of the aggregate rate that is not handed out yet.
  CLARION_INLINE std::int64_t in_hand_q8() const {
    return static_cast<std::int64_t>(left_.pos + bank_) - static_cast<std::int64_t>(left_.neg);
  }

  const MaxMinGains& gains() const { return gains_; }
  const OwnSums& sums() const { return sums_; }
  std::uint64_t bank_q8() const { return bank_; }

 private:
  CLARION_INLINE Offer offer_to(const Meta& meta, bool limited_further_on, std::uint32_t length) const {
    Offer offer;
    offer.share = fair_share(left().cp, left().cn, meta.x, length);
    const std::uint64_t fair = min_u64(multiply(gains_.fair, meta.x), GAP_MAX);
    const std::uint64_t sent = std::uint64_t{length} << 8;
    offer.lacks = fair > sent;
    offer.gap_q8 = min_u64(offer.lacks ? fair - sent : sent - fair, GAP_MAX);
    if (offer.lacks && limited_further_on) return offer;  // it cannot use a lift
    offer.lift_q8 = min_u64(multiply(gains_.lift, static_cast<std::uint32_t>(offer.gap_q8)),
                            PACKET_SHARE_MAX - (offer.lacks ? offer.share.p : offer.share.n));
    return offer;
  }

  // What a later hop will not let it use is not paid from the pools. Where that hop has only just limited it,
  // as many flows at once as start together could be given the whole pool each: so they double at most.
  CLARION_INLINE std::int64_t unpaid_q8(const Offer& offer, std::uint32_t length) const {
    return min_i64(offer.total_q8(), static_cast<std::int64_t>(multiply(gains_.growth, length)));
  }

  CLARION_INLINE static std::int32_t whole_of(std::int64_t q8) {
    return static_cast<std::int32_t>(floor_bytes_per_s(q8));
  }

  CLARION_INLINE void count_own(const Meta& meta, std::uint32_t length, const Offer& offer) {
    sums_.input = saturating_add(sums_.input, length, BYTES_MAX);
    sums_.sum_x = saturating_add(sums_.sum_x, meta.x, SUM_X_MAX);
    if (offer.is_very_poor(length)) sums_.sum_x_poor = saturating_add(sums_.sum_x_poor, meta.x, SUM_X_MAX);
  }

  CLARION_INLINE std::int64_t limited_plus(std::int32_t delta) const {
    const std::int64_t sum = sums_.limited + delta;
    if (sum > LIMITED_MAX) return LIMITED_MAX;
    return sum < -LIMITED_MAX ? -LIMITED_MAX : sum;
  }

  CLARION_INLINE std::int32_t pay_offer(std::int32_t requested, const Offer& offer) {
    const auto p = static_cast<std::int64_t>(min_u64(left_.pos, offer.share.p));
    const auto n = static_cast<std::int64_t>(min_u64(left_.neg, offer.share.n));
    const auto lift = static_cast<std::int64_t>(offer.lacks ? min_u64(bank_, offer.lift_q8) : offer.lift_q8);
    const std::int64_t feedback = p - n + (offer.lacks ? lift : -lift) + carry_;
    const std::int64_t whole = floor_bytes_per_s(feedback);
    if (requested >= whole) {
      carry_ = static_cast<std::uint8_t>(feedback - whole * Q8_ONE);
      bank_ = debited(bank_, offer.lacks ? lift : -lift);
      debit(p, n);
      return static_cast<std::int32_t>(whole);
    }
    const std::int64_t kept = requested * Q8_ONE;  // below p + lift
    const std::int64_t lifted = kept > p ? kept - p : 0;
    const auto spare = static_cast<std::uint64_t>(p - (kept - lifted));
    const auto given_back = static_cast<std::int64_t>(min_u64(left_.neg, spare));
    bank_ = debited(bank_, lifted);
    debit(kept - lifted + given_back, given_back);
    return requested;
  }

  static constexpr std::uint64_t GAP_MAX = max_of_bits(32);

  MaxMinGains gains_;
  OwnSums sums_;
  std::uint64_t bank_ = 0;  // q8 bytes/s
};

}  // namespace clarion
