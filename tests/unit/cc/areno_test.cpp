// SPDX-License-Identifier: Apache-2.0
// TCP Adaptive Reno against numbers that follow from its equations: packets of 1000 bytes.
#include <gtest/gtest.h>

#include <cmath>

#define _Static_assert static_assert
#include "cc/areno.h"
#undef _Static_assert

#include "stack_testing.hpp"

namespace {

using namespace clarion::testing;

// 40,000 bytes per tick are 80 Mbit/s: Wincmax = 8. Lost packets at 200 ms, least round trip 100 ms.
struct Flow {
  explicit Flow(__u32 rtt_ms, const cc_params& settings = kDefaults)
      : params(settings), tcp(tcp_of(100, 50)) {
    areno_init(&law, &params, &tcp);
    law.count.bandwidth = 40'000;
    law.rtt_min_us = 100'000;
    law.rtt_cong_us = 200'000;
    law.rtt_us = rtt_ms * 1000;
  }

  void has(__u32 base, __u32 probe) {
    law.base_q32 = __u64{base} << 32;
    law.probe_q32 = __u64{probe} << 32;
    law.cwnd = tcp.cwnd = base + probe;
  }

  __u32 grown(__u32 acked) {
    areno_grow(&law, &params, &tcp, acked);
    return tcp.cwnd;
  }

  double probe() const { return std::ldexp(static_cast<double>(law.probe_q32), -32); }
  __u32 ssthresh() { return areno_ssthresh(&law, &params, &tcp); }

  cc_params params;
  areno law{};
  cc_stack tcp;
};

double shape(__u32 alpha, double c) {
  return std::ldexp(static_cast<double>(areno_shape_q32(alpha, static_cast<__u32>(c * 65536))), -32);
}

TEST(AReno, TheExponentialIsExact) {
  EXPECT_EQ(areno_exp_q32(0), 1ULL << 32);
  EXPECT_NEAR(static_cast<double>(areno_exp_q32(65536)), 1580030168.7, 4);   // 2^32 / e
  EXPECT_NEAR(static_cast<double>(areno_exp_q32(10 << 16)), 194991.2, 1.5);  // 2^32 / e^10
  EXPECT_NEAR(static_cast<double>(areno_exp_q32(20 << 16)), 8.85, 1);        // 2^32 / e^20
}

TEST(AReno, TheProbeGrowsWithoutAQueueAndGivesAllOfItBackBehindOne) {
  EXPECT_NEAR(shape(10, 0), 0.8000545, 1e-6);     // 1 - 2 (0.1 - 0.6 / e^10)
  EXPECT_NEAR(shape(10, 0.5), -0.0932575, 1e-6);  // e^-5 + 0.1 - 1.1 / e^10 - 2 (0.1 - 0.6 / e^10)
  EXPECT_NEAR(shape(10, 1), 0, 1e-6);
  double sum = 0;
  for (int i = 0; i < 4096; i++) sum += shape(10, (i + 0.5) / 4096) / 4096;
  EXPECT_NEAR(sum, 0, 1e-4);
}

TEST(AReno, WithoutAQueueGrowthFollowsTheBandwidth) {
  Flow flow(100);
  EXPECT_EQ(flow.grown(100), 107U);  // 1 + 8 * 0.80005
  EXPECT_NEAR(flow.probe(), 6.4004, 1e-3);
  Flow faster(100);
  faster.law.count.bandwidth = 400'000;
  EXPECT_EQ(faster.grown(100), 165U);  // 1 + 80 * 0.80005
}

TEST(AReno, BehindTheQueueThatLosesItGrowsAsReno) {
  for (const __u32 rtt_ms : {200U, 300U}) {
    Flow flow(rtt_ms);
    EXPECT_EQ(flow.grown(100), 101U);
    EXPECT_NEAR(flow.probe(), 0, 1e-3);
  }
}

TEST(AReno, BehindHalfOfThatQueueItGivesBackWhatItHasProbed) {
  Flow flow(150);
  flow.has(90, 10);
  EXPECT_EQ(flow.grown(100), 100U);  // 91 + 10 - 8 * 0.09326
  EXPECT_NEAR(flow.probe(), 9.2539, 1e-3);
  flow.law.count.bandwidth = 400'000;
  EXPECT_EQ(flow.grown(100), 93U);  // 92 + 9.2539 - 7.4606
  flow.has(99, 1);
  EXPECT_EQ(flow.grown(100), 100U);  // never less than the base
  EXPECT_EQ(flow.law.probe_q32, 0U);
}

TEST(AReno, ALossAtTheUsualRoundTripOfLossesHalvesAndAtTheLeastTakesNothing) {
  Flow flow(200);
  flow.law.rtt_cong_us = 0;  // the first loss sets it
  EXPECT_EQ(flow.ssthresh(), 50U);
  EXPECT_EQ(flow.law.rtt_cong_us, 200'000U);
  flow.law.rtt_us = 120'000;
  EXPECT_EQ(flow.ssthresh(), 81U);  // 0.85 * 200 + 0.15 * 120 = 188; 100 / (1 + 20 / 88)
  EXPECT_EQ(flow.law.rtt_cong_us, 188'000U);
  flow.law.rtt_us = 100'000;
  EXPECT_EQ(flow.ssthresh(), 100U);
  EXPECT_EQ(flow.law.rtt_cong_us, 174'800U);
}

TEST(AReno, AFirstLossWithoutAQueueTakesNothing) {
  Flow flow(100);
  flow.law.rtt_cong_us = 0;
  EXPECT_EQ(flow.ssthresh(), 100U);
  flow.tcp.cwnd = 1;
  EXPECT_EQ(flow.ssthresh(), 2U);
}

TEST(AReno, AfterALossAllIsBaseAndAnUndoBringsTheWindowBack) {
  Flow flow(100);
  flow.has(90, 10);
  flow.ssthresh();
  EXPECT_EQ(flow.grown(0), 100U);
  EXPECT_EQ(flow.law.base_q32, 100ULL << 32);
  EXPECT_EQ(flow.law.probe_q32, 0U);
  flow.ssthresh();
  flow.tcp.cwnd = 60;
  EXPECT_EQ(areno_undo(&flow.law, &flow.params, &flow.tcp), 100U);
}

TEST(AReno, SlowStartIsRenosAndAnUnusedWindowDoesNotGrow) {
  Flow flow(100);
  flow.tcp.cwnd = 20;
  EXPECT_EQ(flow.grown(10), 30U);
  flow.tcp.cwnd = 60;
  flow.tcp.is_cwnd_limited = 0;
  EXPECT_EQ(flow.grown(60), 60U);
}

TEST(AReno, TheClampBoundsBaseAndProbe) {
  Flow flow(100);
  flow.tcp.cwnd_clamp = 103;
  EXPECT_EQ(flow.grown(100), 103U);
  flow.tcp.cwnd_clamp = 101;
  EXPECT_EQ(flow.grown(200), 101U);
}

TEST(AReno, AcksBringRoundTripsAndBandwidth) {
  Flow flow(0);
  areno_init(&flow.law, &flow.params, &flow.tcp);
  for (int ms = 1; ms <= 10'000; ms++) {
    flow.tcp.now_us += MS;
    flow.tcp.delivered++;
    areno_on_acked(&flow.law, &flow.params, &flow.tcp, 1, ms == 5000 ? 100'000 : 150'000);
  }
  areno_on_acked(&flow.law, &flow.params, &flow.tcp, 0, -1);
  EXPECT_EQ(flow.law.rtt_min_us, 100'000U);
  EXPECT_EQ(flow.law.rtt_us, 150'000U);
  EXPECT_NEAR(static_cast<double>(westwood_count_bytes_per_s(&flow.law.count)), 1e6, 5e3);
}

TEST(AReno, ItsParametersAreThoseOfItsEquations) {
  cc_params params = kDefaults;
  params.areno_scale_mbit_per_s = 1;  // M: Wincmax = 80
  EXPECT_EQ(Flow(100, params).grown(100), 165U);
  params.areno_alpha = 2;
  EXPECT_EQ(Flow(100, params).grown(100), 122U);  // 80 (1 - 2 (0.5 - 1 / e^2)) = 21.65
  params = kDefaults;
  params.areno_gamma_packets = 1;
  EXPECT_EQ(Flow(200, params).grown(100), 102U);
  params.areno_cong_old_percent = 0;
  EXPECT_EQ(Flow(120, params).ssthresh(), 50U);  // the last loss alone is what c is taken from
}

}  // namespace
