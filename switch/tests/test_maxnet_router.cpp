// SPDX-License-Identifier: Apache-2.0
// The router of MaxNet against loads worked out by hand. 8 Mbit/s, 10 ms and a target of 0.95: an interval
// carries 9,500 bytes, 7.6 Mbit/s. With a longest round trip of 200 ms the price moves by 0.025 nepers for
// each load too much or too little.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "link_frames.hpp"
#include "router/maxnet.hpp"

namespace clarion::emu {
namespace {

constexpr Nanoseconds MS = 1'000'000;

class MaxnetRouterTest : public testing::Test {
 protected:
  // Bytes of a flow whose packets, of 500 bytes, are so far apart.
  void arrive(Nanoseconds at, std::uint32_t bytes, std::uint32_t interval_ns) {
    const auto frame = link_frame({0, 0, 0, interval_ns});
    for (std::uint32_t left = bytes; left > 0; left -= std::min(left, 500U))
      router_.arrive(at, frame.data(), std::min(left, 500U));
  }
  void arrive_plain(Nanoseconds at, std::uint32_t bytes) {
    const auto frame = ipv4_frame(6, tcp_segment(100));
    router_.arrive(at, frame.data(), bytes);
  }
  LinkOption sent(Nanoseconds now, const LinkOption& option) {
    auto frame = link_frame(option);
    router_.depart(now, frame.data(), static_cast<std::uint32_t>(frame.size()));
    return link_option_of(frame);
  }

  static constexpr Nanoseconds START = 5000 * MS;
  static constexpr std::uint16_t LINK = 7;
  static constexpr double FLOOR = 10.871072;  // ln(400,000 / 7.6)
  MaxnetRouter router_{MaxnetSettings{}, START, 8'000'000, LINK};
};

TEST_F(MaxnetRouterTest, AnIdleLinkAsksOneFlowToFillIt) {
  EXPECT_NEAR(router_.price(), FLOOR, 1e-6);
  router_.set_rate(START + 60'000 * MS, 8'000'000);
  EXPECT_NEAR(router_.price(), FLOOR, 1e-6);
}

TEST_F(MaxnetRouterTest, ThePriceIntegratesWhatIsBeyondTheTarget) {
  arrive_plain(START, 19'000);
  EXPECT_NEAR(router_.price(), FLOOR, 1e-6);  // the interval is not over
  arrive_plain(START + 10 * MS, 28'500);
  EXPECT_NEAR(router_.load(), 2, 1e-9);
  EXPECT_NEAR(router_.price(), FLOOR + 0.025, 1e-6);
  arrive_plain(START + 20 * MS, 4'750);
  EXPECT_NEAR(router_.price(), FLOOR + 0.075, 1e-6);
  arrive_plain(START + 30 * MS, 0);
  EXPECT_NEAR(router_.price(), FLOOR + 0.0625, 1e-6);
  router_.set_rate(START + 50 * MS, 8'000'000);  // two intervals without packets
  EXPECT_NEAR(router_.price(), FLOOR + 0.0125, 1e-6);
}

TEST_F(MaxnetRouterTest, WhileThereIsRoomThePriceLetsTheFastestFlowGrowByWhatIsFree) {
  // 1 Mbit/s and half of that, and half of the target is used: 2 Mbit/s, ln(400,000 / 2) = 12.206073.
  arrive(START, 3'000, 4'000'000);
  arrive(START, 1'750, 8'000'000);
  router_.set_rate(START + 10 * MS, 8'000'000);
  EXPECT_NEAR(router_.load(), 0.5, 1e-9);
  EXPECT_NEAR(router_.price(), 12.206073, 1e-6);
  // Of the next interval only its own packets count: 0.5 Mbit/s of a fourth, 2 Mbit/s again.
  arrive(START + 10 * MS, 2'000, 8'000'000);
  arrive_plain(START + 10 * MS, 375);
  router_.set_rate(START + 20 * MS, 8'000'000);
  EXPECT_NEAR(router_.price(), 12.206073, 1e-6);
}

TEST_F(MaxnetRouterTest, AFullLinkIsLeftToTheIntegral) {
  arrive(START, 9'500, 4'000'000);
  router_.set_rate(START + 10 * MS, 8'000'000);
  EXPECT_NEAR(router_.price(), FLOOR, 1e-6);
}

TEST_F(MaxnetRouterTest, APriceIsOnlyRaised) {
  const auto word = static_cast<std::uint32_t>(router_.price() * 16'777'216);
  const LinkOption raised = sent(START, {3, 0, 0, 5});
  EXPECT_EQ(raised.word, word);
  EXPECT_EQ(raised.proposed, LINK);
  EXPECT_EQ(raised.controlling, 3);
  EXPECT_EQ(raised.interval_ns, 5U);
  const LinkOption left = sent(START, {0, 8, word + 1, 5});
  EXPECT_EQ(left.word, word + 1);
  EXPECT_EQ(left.proposed, 8);
}

TEST_F(MaxnetRouterTest, ARestartForgetsThePriceButNotTheRate) {
  arrive_plain(START, 95'000);
  router_.set_rate(START + 10 * MS, 4'000'000);
  router_.restart(START + 10 * MS);
  EXPECT_NEAR(router_.price(), FLOOR + std::log(2), 1e-6);
}

}  // namespace
}  // namespace clarion::emu
