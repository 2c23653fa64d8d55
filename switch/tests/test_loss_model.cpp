// SPDX-License-Identifier: Apache-2.0
// Loss rates against their definition. Tolerances are five standard deviations of the count.
#include <gtest/gtest.h>

#include "loss_model.hpp"

namespace clarion::emu {
namespace {

using Model = LossOptions::Model;

int losses(LossModel& model, std::uint32_t length, int packets) {
  int lost = 0;
  for (int i = 0; i < packets; ++i) lost += model.lost(length) ? 1 : 0;
  return lost;
}

LossModel model_of(Model kind, double rate) {
  LossModel model(RandomStream(7, "s1:p1:out"));
  LossOptions options;
  options.model = kind;
  options.rate = rate;
  model.configure(options);
  return model;
}

TEST(LossModel, NoneLosesNothing) {
  LossModel model = model_of(Model::none, 1);
  EXPECT_EQ(losses(model, 1500, 1000), 0);
}

TEST(LossModel, PacketRateDoesNotDependOnLength) {
  LossModel model = model_of(Model::packet, 0.01);
  EXPECT_NEAR(losses(model, 60, 1'000'000), 10'000, 500);  // sigma = sqrt(9900) = 99.5
  EXPECT_NEAR(losses(model, 1500, 1'000'000), 10'000, 500);
}

TEST(LossModel, BitRateGrowsWithLength) {
  LossModel model = model_of(Model::bit, 1e-6);
  // 1 - (1 - 1e-6)^480 = 4.799e-4 and 1 - (1 - 1e-6)^12000 = 1.1928e-2.
  EXPECT_NEAR(losses(model, 60, 1'000'000), 480, 110);
  EXPECT_NEAR(losses(model, 1500, 1'000'000), 11'928, 545);
}

TEST(LossModel, BitRateFarBelowOneStaysExact) {
  LossModel model = model_of(Model::bit, 1e-17);  // 1 - 1e-17 == 1 in a double
  EXPECT_EQ(losses(model, 1500, 100'000), 0);
  model = model_of(Model::bit, 1);
  EXPECT_EQ(losses(model, 1500, 1000), 1000);
}

TEST(LossModel, GilbertElliottMeanAndBursts) {
  LossModel model(RandomStream(7, "s1:p1:out"));
  LossOptions options;
  options.model = Model::gilbert_elliott;
  options.p = 0.01;
  options.r = 0.25;
  model.configure(options);
  int lost = 0;
  int bursts = 0;
  bool before = false;
  for (int i = 0; i < 1'000'000; ++i) {
    const bool now = model.lost(1500);
    lost += now ? 1 : 0;
    bursts += now && !before ? 1 : 0;
    before = now;
  }
  EXPECT_NEAR(lost, 38'462, 2'000);                            // p / (p + r) = 0.01 / 0.26
  EXPECT_NEAR(static_cast<double>(lost) / bursts, 4.0, 0.15);  // mean burst 1 / r
}

TEST(LossModel, SameSeedAndPortRepeatOthersDiffer) {
  RandomStream a(1, "s1:p1:out");
  RandomStream again(1, "s1:p1:out");
  RandomStream other_direction(1, "s1:p1:in");
  RandomStream other_seed(2, "s1:p1:out");
  const std::uint64_t first = a.next();
  EXPECT_EQ(first, again.next());
  EXPECT_NE(first, other_direction.next());
  EXPECT_NE(first, other_seed.next());
}

}  // namespace
}  // namespace clarion::emu
