// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "hls/functions/tests/called.hpp"
#include "hls/functions/tests/random.hpp"

namespace clarion::block {
namespace {

#ifdef CLARION_CIRCUITS
constexpr unsigned CONTROL_STEPS = 5'000;  // of many clocks each, in a simulator
#else
constexpr unsigned CONTROL_STEPS = 300'000;
#endif

void expect_equal(const IntervalSums& got, const IntervalSums& wanted) {
  ASSERT_EQ(got.input, wanted.input);
  ASSERT_EQ(got.sum_x, wanted.sum_x);
  ASSERT_EQ(got.sum_x_rtt, wanted.sum_x_rtt);
}

TEST(Sums, AreThoseOfTheCore) {
  Random random(1);
  XcpArrival arrival;
  IntervalSums state;
  for (unsigned i = 0; i < 200'000; ++i) {
    Meta meta;
    meta.kind = static_cast<Kind>(random.below(4));
    meta.rtt = random.chance(8) ? 0 : random.word() & RTT_MASK;
    meta.x = random.word();
    const auto length = static_cast<std::uint32_t>(60 + random.below(9541));
    const std::uint32_t max_interval = random.word();
    SumsArguments arguments;
    arguments.begins = random.chance(10'000);
    if (arguments.begins) arrival.take();
    arrival.step(meta, length, max_interval);
    arguments.sums = state;
    arguments.length = static_cast<std::uint16_t>(length);
    arguments.counts = meta.kind == Kind::data && meta.rtt != 0;
    arguments.x = meta.x;
    arguments.x_rtt = called(weight, WeightArguments{meta.x, meta.rtt, max_interval}).x_rtt;
    state = called(sums, arguments).sums;
    expect_equal(state, arrival.sums());
  }
}

TEST(Tracker, IsThatOfTheCore) {
  Random random(2);
  QueueTracker tracker_of_core;
  QueueWindow state;
  Ticks now = 0;
  for (unsigned i = 0; i < 200'000; ++i) {
    if (random.chance(5000)) {
      tracker_of_core.restart();
      state = QueueWindow{};
    }
    TrackerArguments arguments;
    arguments.queue = state;
    arguments.leaves = random.chance(2);
    arguments.left_bytes = random.bits(41);
    arguments.joins = random.chance(2);
    arguments.waiting_bytes = random.bits(41);
    now = random.chance(100) ? random.bits(64) : now + random.below(1000);
    arguments.now = now;
    arguments.window = random.chance(3) ? random.word() : 300;
    if (arguments.leaves) tracker_of_core.observe(arguments.left_bytes);
    if (arguments.joins) tracker_of_core.arrival(now, arguments.waiting_bytes, arguments.window);
    state = called(tracker, arguments).queue;
    ASSERT_EQ(state.persistent, tracker_of_core.persistent_bytes());
    ASSERT_EQ(state.minimum, tracker_of_core.minimum_bytes());
    ASSERT_EQ(state.start, tracker_of_core.window_start());
    ASSERT_EQ(state.started, tracker_of_core.started());
  }
}

TEST(Over, IsWhatTheCoreSays) {
  Random random(3);
  XcpInterval interval;
  IntervalClock state;
  XcpConfig config;
  Ticks now = 0;
  for (unsigned i = 0; i < 200'000; ++i) {
    if (random.chance(100)) {
      IntervalReport report;
      report.avg_rtt = random.word();
      interval.adopt(report);
      config.min_interval = random.word();
      config.max_interval = random.word();
      config = limited(config);
    }
    now = random.chance(100) ? random.bits(64) : now + random.below(1 << 20);
    const LengthArguments of{interval.report().avg_rtt, config.min_interval, config.max_interval};
    const std::uint32_t ticks = called(length, of).length;
    ASSERT_EQ(ticks, interval.length(config));
    const OverResults got = called(over, OverArguments{state, now, ticks});
    ASSERT_EQ(got.ended, interval.ended(now, config));
    if (got.ended) {
      ASSERT_EQ(got.elapsed, interval.next(now));
    }
    state = got.clock;
    ASSERT_EQ(state.start, interval.start());
    ASSERT_EQ(state.started, interval.started());
  }
}

ControlArguments any_end(Random& random) {
  ControlArguments end;
  XcpConfig config;
  config.capacity_bytes_per_s = random.bits(38);
  config.alpha_q16 = static_cast<std::uint32_t>(random.bits(18));
  config.beta_q16 = static_cast<std::uint32_t>(random.bits(18));
  config.gamma_q16 = static_cast<std::uint32_t>(random.bits(18));
  config.generation = static_cast<std::uint32_t>(1 + random.below(2));
  end.config = limited(config);
  end.avg_rtt = random.word();
  end.phi = static_cast<std::int64_t>(random.bits(50)) * (random.chance(2) ? 1 : -1);
  end.credit = static_cast<std::uint8_t>(random.below(CREDIT_MAX + 1));
  end.sums = IntervalSums{random.bits(48), random.bits(48), random.bits(64)};
  end.own = OwnSums{random.bits(48), random.bits(48), random.bits(48),
                    static_cast<std::int64_t>(random.bits(38)) * (random.chance(2) ? 1 : -1), random.word()};
  if (random.chance(4)) end.own.input = end.own.sum_x = 0;
  end.pools.pos = random.bits(48);
  end.pools.neg = random.bits(48);
  end.pools.bank = random.bits(48);
  end.queue_bytes = random.bits(40);
  end.elapsed = random.word();
  return end;
}

void expect_equal(const Gain& got, const Gain& wanted) {
  ASSERT_EQ(got.mantissa, wanted.mantissa);
  ASSERT_EQ(got.shift, wanted.shift);
}

TEST(Control, IsTheControlStepOfTheCore) {
  Random random(4);
  for (unsigned i = 0; i < CONTROL_STEPS; ++i) {
    const ControlArguments end = any_end(random);
    IntervalReport last;
    last.avg_rtt = end.avg_rtt;
    last.phi_q8 = end.phi;
    MaxMinReport wanted;
    wanted.credit = end.credit;
    if (end.config.generation == 2) {
      wanted = maxmin_step(last, end.credit, end.config, end.sums, end.own, end.phi - in_hand_q8(end.pools),
                           end.queue_bytes, end.elapsed);
    } else {
      wanted.interval = control_step(last, end.config, end.sums, end.queue_bytes, end.elapsed);
    }
    const ControlResults got = called(control, end);
    ASSERT_EQ(got.avg_rtt, wanted.interval.avg_rtt);
    ASSERT_EQ(got.rate, wanted.interval.rate_q8);
    ASSERT_EQ(got.phi, wanted.interval.phi_q8);
    ASSERT_EQ(got.shares.pos, wanted.interval.shares.pos);
    ASSERT_EQ(got.shares.neg, wanted.interval.shares.neg);
    expect_equal(got.shares.cp, wanted.interval.shares.cp);
    expect_equal(got.shares.cn, wanted.interval.shares.cn);
    expect_equal(got.gains.fair, wanted.gains.fair);
    expect_equal(got.gains.lift, wanted.gains.lift);
    expect_equal(got.gains.growth, wanted.gains.growth);
    ASSERT_EQ(got.credit, wanted.credit);
  }
}

}  // namespace
}  // namespace clarion::block
