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
#include "pools.hpp"
#include "types.hpp"
#include "xcp_departure.hpp"

namespace clarion {

// What a packet is granted, bytes/s, and the hop that limits its flow, 0 = unknown.
struct Grant {
  std::int32_t delta_throughput = 0;
  std::uint8_t field = 0;
};

// What a packet's flow has and is offered at this hop.
struct Offer {
  Claim claim;
  std::uint64_t gap_q8 = 0;  // it lacks so many bytes per packet of its fair share, or has so many above it

  CLARION_INLINE std::int64_t total_q8() const {
    const auto lift = static_cast<std::int64_t>(claim.lift);
    return static_cast<std::int64_t>(claim.p) - static_cast<std::int64_t>(claim.n) +
           (claim.lacks ? lift : -lift);
  }
  // By more than 1/32 of a packet: noise of x and of the shares is less.
  CLARION_INLINE bool is_poor(std::uint32_t length) const {
    return claim.lacks && gap_q8 > std::uint64_t{length} * 8;
  }
  // By more than 5/64.
  CLARION_INLINE bool is_very_poor(std::uint32_t length) const {
    return claim.lacks && gap_q8 > std::uint64_t{length} * 20;
  }
};

CLARION_INLINE Offer offer_to(Gain cp, Gain cn, const MaxMinGains& gains, std::uint32_t x,
                              std::uint32_t length, bool limited_further_on) {
  constexpr std::uint64_t GAP_MAX = max_of_bits(32);
  const FairShare share = fair_share(cp, cn, x, length);
  const std::uint64_t fair = min_u64(multiply(gains.fair, x), GAP_MAX);
  const std::uint64_t sent = std::uint64_t{length} << RATE_FRACTION_BITS;
  Offer offer;
  offer.claim.p = share.p;
  offer.claim.n = share.n;
  offer.claim.lacks = fair > sent;
  offer.gap_q8 = min_u64(offer.claim.lacks ? fair - sent : sent - fair, GAP_MAX);
  if (offer.claim.lacks && limited_further_on) return offer;  // it cannot use a lift
  offer.claim.lift = min_u64(multiply(gains.lift, static_cast<std::uint32_t>(offer.gap_q8)),
                             PACKET_SHARE_MAX - (offer.claim.lacks ? share.p : share.n));
  return offer;
}

// What can be said to a packet before the pools are asked, and what it counts as.
struct Answer {
  bool pays = true;        // the pools decide; otherwise `reply` is its delta_throughput
  std::int32_t reply = 0;  // bytes/s
  bool own = false;        // its flow is limited by this hop,
  bool poor = false;       // and has far less than its share
  bool limited = false;    // its flow is limited by an earlier hop
};

CLARION_INLINE Answer answer_to(const Offer& offer, const MaxMinGains& gains, const Meta& meta,
                                std::uint8_t field, std::uint32_t length) {
  Answer answer;
  const bool known = meta.rtt != 0;
  const std::int64_t requested_q8 = meta.delta_throughput * (std::int64_t{1} << RATE_FRACTION_BITS);
  const std::int64_t total_q8 = offer.total_q8();
  if (known && offer.is_poor(length) && field > hop_behind(meta.flags)) {
    // What a later hop will not let it use is not paid from the pools. Where that hop has only just limited
    // it, as many flows at once as start together could be given the whole pool each: so they double at most.
    const auto doubled_q8 = static_cast<std::int64_t>(multiply(gains.growth, length));
    answer.pays = false;
    answer.reply = static_cast<std::int32_t>(min_i64(requested_q8, min_i64(total_q8, doubled_q8)) >>
                                             RATE_FRACTION_BITS);  // floors: the shift is arithmetic
  } else if (known && offer.is_poor(length) && requested_q8 < total_q8) {
    answer.pays = false;
    answer.reply = meta.delta_throughput;
    answer.limited = true;
  } else if (known) {
    answer.own = true;
    answer.poor = offer.is_very_poor(length);
  }
  return answer;
}

// A packet joins the sums of departures.
CLARION_INLINE void count_departure(OwnSums& sums, const Meta& meta, std::uint32_t length,
                                    const Answer& answer) {
  if (meta.rtt > sums.max_rtt) sums.max_rtt = meta.rtt;
  if (answer.limited) {
    const std::int64_t limited = sums.limited + meta.delta_throughput;
    sums.limited = limited > LIMITED_MAX ? LIMITED_MAX : limited < -LIMITED_MAX ? -LIMITED_MAX : limited;
  }
  if (!answer.own) return;
  sums.input = saturating_add(sums.input, length, BYTES_MAX);
  sums.sum_x = saturating_add(sums.sum_x, meta.x, SUM_X_MAX);
  if (answer.poor) sums.sum_x_poor = saturating_add(sums.sum_x_poor, meta.x, SUM_X_MAX);
}

// The hop that limits the flow, as far as this one knows.
CLARION_INLINE std::uint8_t field_after(const Meta& meta, std::uint8_t field, bool pays,
                                        std::int32_t granted) {
  const std::uint8_t hop = hop_behind(meta.flags);
  if (!pays || meta.rtt == 0 || field > hop) return field;
  if (granted < meta.delta_throughput) return hop;
  return field == hop ? std::uint8_t{0} : field;
}

class MaxMinDeparture : public XcpDeparture {
 public:
  CLARION_INLINE void restart() { *this = MaxMinDeparture{}; }

  CLARION_INLINE void refill(const Shares& shares, const MaxMinGains& gains) {
    XcpDeparture::refill(shares);
    gains_ = gains;
  }

  // The sums of the interval that ends here; the next one starts from zero.
  CLARION_INLINE OwnSums take() {
    const OwnSums ended = sums_;
    sums_ = OwnSums{};
    return ended;
  }

  // One DATA packet with this `field` leaves: its delta_throughput, bytes/s, and its new field.
  CLARION_INLINE Grant step_maxmin(const Meta& meta, std::uint8_t field, std::uint32_t length) {
    const Offer offer = offer_to(cp(), cn(), gains_, meta.x, length, field > hop_behind(meta.flags));
    const Answer answer = answer_to(offer, gains_, meta, field, length);
    count_departure(sums_, meta, length, answer);
    const std::int32_t granted =
        answer.pays ? pay(pools_, meta.delta_throughput, offer.claim, false) : answer.reply;
    return Grant{granted, field_after(meta, field, answer.pays, granted)};
  }

  // The change of the aggregate rate that is not handed out yet.
  CLARION_INLINE std::int64_t in_hand_q8() const { return clarion::in_hand_q8(pools_); }

  const MaxMinGains& gains() const { return gains_; }
  const OwnSums& sums() const { return sums_; }
  std::uint64_t bank_q8() const { return pools_.bank; }

 private:
  MaxMinGains gains_;
  OwnSums sums_;
};

}  // namespace clarion
