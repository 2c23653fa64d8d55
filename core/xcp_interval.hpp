// SPDX-License-Identifier: Apache-2.0
// The end of a control interval: the efficiency controller decides how much the aggregate should change,
// the fairness controller how that and some shuffled traffic is handed out per packet (Katabi et al. 2002,
// section 3.5, in the X formulation of draft-falk-xcp-spec-03).
#pragma once

#include <cstdint>

#include "config.hpp"
#include "division.hpp"
#include "platform.hpp"
#include "types.hpp"
#include "xcp_arrival.hpp"

namespace clarion {

// What one control interval hands out; all in q8 bytes/s.
struct Shares {
  std::uint64_t pos = 0;  // increases to hand out
  std::uint64_t neg = 0;  // decreases to hand out
  Gain cp;                // increase per tick of x
  Gain cn;                // decrease per byte
};

// The last interval that ended, for telemetry and tests.
struct IntervalReport {
  std::uint64_t intervals = 0;          // ended so far
  std::uint32_t avg_rtt = INITIAL_RTT;  // ticks
  std::uint32_t elapsed = 0;            // ticks it really lasted, at most 16 s
  IntervalSums sums;
  std::uint64_t queue_bytes = 0;  // persistent queue
  std::uint64_t rate_q8 = 0;      // input rate
  std::int64_t phi_q8 = 0;        // wanted change of the aggregate rate
  Shares shares;                  // as at the start of the next interval
};

// beta, gamma or alpha times a rate; both factors together have at most 64 bits.
CLARION_INLINE std::uint64_t scaled_rate(std::uint32_t coefficient_q16, std::uint64_t rate_q8) {
  return (coefficient_q16 * rate_q8) >> 16;
}

// bytes / ticks as a q8 rate.
CLARION_INLINE std::uint64_t rate_of(std::uint64_t bytes, std::uint32_t ticks) {
  return to_integer(divide(bytes, ticks), TICKS_PER_SECOND_LOG2 + RATE_FRACTION_BITS, RATE_MAX);
}

// The mean RTT of the flows seen, each weighted alike; the last known one if no header had an RTT.
CLARION_INLINE std::uint32_t average_rtt(const IntervalSums& sums, std::uint32_t last) {
  if (sums.sum_x == 0) return last;
  const std::uint64_t avg = to_integer(divide(sums.sum_x_rtt, sums.sum_x), X_RTT_SHIFT, TICKS_MAX);
  return avg == 0 ? 1 : static_cast<std::uint32_t>(avg);
}

// Efficiency controller: alpha * spare - beta * queue / avg_rtt, truncated towards zero term by term.
CLARION_INLINE std::int64_t wanted_change(const XcpConfig& config, std::uint64_t rate_q8,
                                          std::uint64_t queue_bytes, std::uint32_t avg_rtt) {
  const std::uint64_t capacity_q8 = config.capacity_bytes_per_s << RATE_FRACTION_BITS;
  const bool overload = rate_q8 > capacity_q8;
  const std::uint64_t gap = overload ? rate_q8 - capacity_q8 : capacity_q8 - rate_q8;
  const auto spare_term = static_cast<std::int64_t>(scaled_rate(config.alpha_q16, gap));
  const auto queue_term =
      static_cast<std::int64_t>(scaled_rate(config.beta_q16, rate_of(queue_bytes, avg_rtt)));
  return (overload ? -spare_term : spare_term) - queue_term;
}

CLARION_INLINE std::uint64_t magnitude(std::int64_t phi_q8) {
  return static_cast<std::uint64_t>(phi_q8 < 0 ? -phi_q8 : phi_q8);
}

// What of the traffic that may change hands is left to shuffle beside phi.
CLARION_INLINE std::uint64_t shuffled(std::uint64_t churn_q8, std::int64_t phi_q8) {
  const std::uint64_t size = magnitude(phi_q8);
  return churn_q8 > size ? churn_q8 - size : 0;
}

// Fairness controller: phi and the shuffled traffic, spread over these sums.
CLARION_INLINE Shares share_out(std::uint64_t shuffle_q8, std::int64_t phi_q8, std::uint64_t sum_x,
                                std::uint64_t input) {
  const std::uint64_t size = magnitude(phi_q8);
  Shares shares;
  shares.pos = min_u64((phi_q8 > 0 ? size : 0) + shuffle_q8, POOL_MAX);
  shares.neg = min_u64((phi_q8 < 0 ? size : 0) + shuffle_q8, POOL_MAX);
  shares.cp = to_gain(divide(shares.pos, sum_x));
  shares.cn = to_gain(divide(shares.neg, input));
  return shares;
}

// What follows for the aggregate from an interval of `elapsed` ticks that had these sums and persistent
// queue.
CLARION_INLINE IntervalReport measure(const IntervalReport& last, const XcpConfig& config,
                                      const IntervalSums& sums, std::uint64_t queue_bytes,
                                      std::uint32_t elapsed) {
  IntervalReport report;
  report.intervals = saturating_add(last.intervals, 1, UINT64_MAX);
  report.avg_rtt = average_rtt(sums, last.avg_rtt);
  report.elapsed = elapsed;
  report.sums = sums;
  report.queue_bytes = queue_bytes;
  report.rate_q8 = rate_of(sums.input, elapsed);
  report.phi_q8 = wanted_change(config, report.rate_q8, queue_bytes, report.avg_rtt);
  return report;
}

// The control step. No state of its own, so that hardware can run it beside the packets.
CLARION_INLINE IntervalReport control_step(const IntervalReport& last, const XcpConfig& config,
                                           const IntervalSums& sums, std::uint64_t queue_bytes,
                                           std::uint32_t elapsed) {
  IntervalReport report = measure(last, config, sums, queue_bytes, elapsed);
  const std::uint64_t churn = scaled_rate(config.gamma_q16, report.rate_q8);
  report.shares = share_out(shuffled(churn, report.phi_q8), report.phi_q8, sums.sum_x, sums.input);
  return report;
}

// When the interval that is running has begun.
struct IntervalClock {
  Ticks start = 0;
  bool started = false;
};

// Of an interval, ticks.
CLARION_INLINE std::uint32_t interval_length(std::uint32_t avg_rtt, const XcpConfig& config) {
  if (avg_rtt < config.min_interval) return config.min_interval;
  return avg_rtt < config.max_interval ? avg_rtt : config.max_interval;
}

// A packet arrives: true if the interval is over. The first arrival only starts the clock.
CLARION_INLINE bool interval_ended(IntervalClock& clock, Ticks now, std::uint32_t length) {
  if (clock.started) return elapsed_ticks(clock.start, now) >= length;
  clock.started = true;
  clock.start = now;
  return false;
}

// The next interval starts at `now`: how long was the last?
CLARION_INLINE std::uint32_t next_interval(IntervalClock& clock, Ticks now) {
  const std::uint32_t elapsed = elapsed_ticks(clock.start, now);
  clock.start = now;
  return elapsed;
}

class XcpInterval {
 public:
  CLARION_INLINE void restart() { *this = XcpInterval{}; }

  // Called on each arrival: true if the interval is over. The first arrival only starts the clock.
  CLARION_INLINE bool ended(Ticks now, const XcpConfig& config) {
    return interval_ended(clock_, now, length(config));
  }

  // Whether an arrival at `now` will end the interval.
  CLARION_INLINE bool due(Ticks now, const XcpConfig& config) const {
    return clock_.started && elapsed_ticks(clock_.start, now) >= length(config);
  }

  // Ends the interval at `now` with these sums and persistent queue.
  CLARION_INLINE Shares step(Ticks now, const XcpConfig& config, const IntervalSums& sums,
                             std::uint64_t queue_bytes) {
    adopt(control_step(report_, config, sums, queue_bytes, next(now)));
    return report_.shares;
  }

  // The same in two halves: the next interval starts at `now`, how long was the last?
  CLARION_INLINE std::uint32_t next(Ticks now) { return next_interval(clock_, now); }
  // And what its control step came to. No call of ended() or length() in between.
  CLARION_INLINE void adopt(const IntervalReport& report) { report_ = report; }

  // Of the interval that is running, ticks.
  CLARION_INLINE std::uint32_t length(const XcpConfig& config) const {
    return interval_length(report_.avg_rtt, config);
  }

  const IntervalReport& report() const { return report_; }
  Ticks start() const { return clock_.start; }
  bool started() const { return clock_.started; }

 private:
  IntervalReport report_;
  IntervalClock clock_;
};

}  // namespace clarion
