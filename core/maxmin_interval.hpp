// SPDX-License-Identifier: Apache-2.0
// Generation 2 of the control step (docs/datapath.md, "Generation 2"): flows that another hop holds back are
// told from those that this one limits. What the first leave is handed to the second, whose mean rate is the
// fair share that a newcomer is lifted to.
#pragma once

#include <cstdint>

#include "config.hpp"
#include "division.hpp"
#include "platform.hpp"
#include "types.hpp"
#include "xcp_arrival.hpp"
#include "xcp_interval.hpp"

namespace clarion {

// What departures tell of one control interval. DATA with an RTT only.
struct OwnSums {
  std::uint64_t input = 0;       // bytes of the flows that this hop limits, at most BYTES_MAX
  std::uint64_t sum_x = 0;       // ticks, of the same; at most SUM_X_MAX
  std::uint64_t sum_x_poor = 0;  // ticks, of those of them that have far less than their share
  std::int64_t limited = 0;      // bytes/s that other flows have been granted by earlier hops, +-LIMITED_MAX
  std::uint32_t max_rtt = 0;     // ticks
};

constexpr std::int64_t LIMITED_MAX = (std::int64_t{1} << 38) - 1;

// Of an interval: what redistributes among the flows that this hop limits, and what bounds the others.
struct MaxMinGains {
  Gain fair;    // their mean rate, q8 bytes per tick
  Gain lift;    // q8 bytes/s per q8 byte that a packet lacks of it
  Gain growth;  // q8 bytes/s per byte: with it a flow doubles in a round trip
};

struct MaxMinReport {
  IntervalReport interval;
  MaxMinGains gains;
  std::uint8_t credit = 0;  // after this interval
};

constexpr std::uint32_t FASTEST_Q16 = 22938;  // 0.35 of the traffic per interval: more overshoots
constexpr std::uint8_t CREDIT_MAX = 30;  // an interval with poor flows costs two, every other one brings one
constexpr std::uint8_t FAST_CREDIT = 2;
constexpr unsigned SCARCE_LOG2 = 6;  // own flows below 1/64 of the traffic are none
constexpr unsigned USUAL_LOG2 = 5;   // changes below 1/32 of the capacity are those of a full link

// The largest part of the traffic that may be redistributed in this interval: what was shifted must be seen
// by the flow with the longest RTT before the next is shifted.
CLARION_INLINE std::uint32_t fastest_gain(const XcpConfig& config, std::uint32_t avg_rtt,
                                          std::uint32_t max_rtt) {
  const std::uint64_t half_ratio = to_integer(divide(avg_rtt, max_rtt), 15, FASTEST_Q16);
  return half_ratio > config.gamma_q16 ? static_cast<std::uint32_t>(half_ratio) : config.gamma_q16;
}

// Intervals in which poor flows are lifted are paid with credit, which comes back slowly. Flows that look
// poor for ever, or come and go all the time, get no more than generation 1 gives. A link that is far from
// full is not redistributed fast, yet its poor flows cost credit: short transfers that come all the time keep
// it there, and what they find of credit when it has filled would empty it again.
CLARION_INLINE std::uint8_t next_credit(std::uint8_t credit, bool poor) {
  if (poor) return static_cast<std::uint8_t>(credit < FAST_CREDIT ? 0 : credit - FAST_CREDIT);
  return static_cast<std::uint8_t>(credit < CREDIT_MAX ? credit + 1 : CREDIT_MAX);
}

CLARION_INLINE std::int64_t usual_q8(const XcpConfig& config) {
  return static_cast<std::int64_t>((config.capacity_bytes_per_s << RATE_FRACTION_BITS) >> USUAL_LOG2);
}

// What has been handed out arrives a round trip later; until then a link looks emptier than it is. Half of
// that is taken off, where it is much: flows that start would fill the queue behind it.
CLARION_INLINE std::int64_t not_arrived_q8(const XcpConfig& config, std::int64_t handed_out_q8) {
  const std::int64_t usual = usual_q8(config);
  if (handed_out_q8 <= usual) return 0;
  const std::uint64_t unusual = min_u64(static_cast<std::uint64_t>(handed_out_q8 - usual), RATE_MAX);
  return static_cast<std::int64_t>(scaled_rate(config.alpha_q16, unusual) >> 1);
}

// Flows that send again after an interval with hardly any packets meet gains that were made for those. So a
// pool is spread over one flow at least, which has its RTT of x; and no more is taken back than is sent.
CLARION_INLINE Shares share_out_bounded(std::uint64_t shuffle_q8, const IntervalReport& interval,
                                        std::uint64_t sum_x, std::uint64_t input, std::uint64_t rate_q8) {
  const std::int64_t least_q8 = -static_cast<std::int64_t>(rate_q8);
  const bool less_than_a_flow = sum_x > 0 && sum_x < interval.avg_rtt;
  return share_out(shuffle_q8, interval.phi_q8 < least_q8 ? least_q8 : interval.phi_q8,
                   less_than_a_flow ? interval.avg_rtt : sum_x, input);
}

// Without flows of its own a link hands out what is free to everyone, and a share is all it carries.
CLARION_INLINE void share_out_to_all(const XcpConfig& config, MaxMinReport& report) {
  IntervalReport& interval = report.interval;
  interval.shares =
      share_out_bounded(0, interval, interval.sums.sum_x, interval.sums.input, interval.rate_q8);
  report.gains.fair = to_gain(divide(config.capacity_bytes_per_s << RATE_FRACTION_BITS, TICKS_PER_SECOND));
  report.gains.lift = Gain{};
}

CLARION_INLINE void share_out_to_own(const OwnSums& own, std::uint64_t rate_q8, std::uint32_t gain_q16,
                                     std::uint32_t fastest_q16, MaxMinReport& report) {
  const std::int64_t phi_q8 = report.interval.phi_q8;
  const std::uint64_t shuffle = shuffled(scaled_rate(gain_q16, rate_q8), phi_q8);
  const std::uint64_t most = scaled_rate(fastest_q16, rate_q8);
  const std::uint64_t spent = magnitude(phi_q8) + shuffle;
  report.interval.shares = share_out_bounded(shuffle, report.interval, own.sum_x, own.input, rate_q8);
  report.gains.fair = to_gain(divide(own.input << 8, own.sum_x));
  report.gains.lift = to_gain(divide(most > spent ? most - spent : 0, own.input << 8));
}

// The control step: no state of its own, like control_step(). `handed_out_q8`: the change of the aggregate
// rate that the pools and the bank of the interval that ends have paid.
CLARION_INLINE MaxMinReport maxmin_step(const IntervalReport& last, std::uint8_t credit,
                                        const XcpConfig& config, const IntervalSums& sums, const OwnSums& own,
                                        std::int64_t handed_out_q8, std::uint64_t queue_bytes,
                                        std::uint32_t elapsed) {
  MaxMinReport report;
  IntervalReport& interval = report.interval;
  interval = measure(last, config, sums, queue_bytes, elapsed);
  report.gains.growth =
      to_gain(divide(std::uint64_t{TICKS_PER_SECOND} << RATE_FRACTION_BITS, interval.avg_rtt));
  interval.phi_q8 -= own.limited * (std::int64_t{1} << RATE_FRACTION_BITS);
  interval.phi_q8 -= not_arrived_q8(config, handed_out_q8);
  const bool poor = own.sum_x_poor > (elapsed >> 2) + (elapsed >> 4);
  // A link that is far from full has enough to hand out: what others give up as well would leave it emptier.
  const bool fast = poor && credit >= FAST_CREDIT && interval.phi_q8 <= usual_q8(config);
  report.credit = next_credit(credit, poor);
  if (own.input < sums.input >> SCARCE_LOG2 && own.sum_x < sums.sum_x >> SCARCE_LOG2) {
    share_out_to_all(config, report);
    return report;
  }
  const std::uint32_t fastest_q16 = fastest_gain(config, interval.avg_rtt, own.max_rtt);
  share_out_to_own(own, rate_of(own.input, elapsed), fast ? fastest_q16 : config.gamma_q16,
                   poor && !fast ? config.gamma_q16 : fastest_q16, report);
  return report;
}

}  // namespace clarion
