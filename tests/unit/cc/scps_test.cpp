// SPDX-License-Identifier: Apache-2.0
// The window of SCPS-TP against what its definition says of each cause of loss.
#include <gtest/gtest.h>

#define _Static_assert static_assert
#include "cc/scps.h"
#undef _Static_assert

#include "stack_testing.hpp"

namespace {

using namespace clarion::testing;

class Scps : public testing::Test {
 protected:
  Scps() { start(); }
  void start() { scps_init(&l_, &params_, &tcp_); }
  void enter(__u8 state) {
    scps_on_state(&l_, &params_, &tcp_, state);
    tcp_.ca_state = state;
  }
  // As TCP enters recovery, and leaves it with all repaired.
  void lose() {
    tcp_.ssthresh = scps_ssthresh(&l_, &params_, &tcp_);
    enter(CA_STATE_RECOVERY);
  }
  void repair() {
    enter(CA_STATE_OPEN);
    tcp_.cwnd = tcp_.ssthresh;
    scps_on_event(&l_, &params_, &tcp_, STACK_COMPLETE_CWR);
  }
  void time_out() {
    tcp_.ssthresh = scps_ssthresh(&l_, &params_, &tcp_);
    scps_on_event(&l_, &params_, &tcp_, STACK_LOSS);
    tcp_.cwnd = 1;
    enter(CA_STATE_LOSS);
  }
  // A round trip with three samples, to which Vegas adds 1 us each.
  void round(__s64 rtt_us, __u32 acked) {
    for (int i = 0; i < 3; ++i) scps_on_acked(&l_, &params_, &tcp_, 1, rtt_us - 1);
    tcp_.una = tcp_.next + 1;
    tcp_.next += 1000;
    scps_grow(&l_, &params_, &tcp_, acked);
  }
  cc_params params_ = kDefaults;
  scps l_{};
  cc_stack tcp_ = tcp_of(101, 50);
};

TEST_F(Scps, TheWindowIsVegasOrVanJacobsons) {
  round(100'000, 101);
  EXPECT_EQ(tcp_.cwnd, 102U);
  round(110'000, 102);  // 102 * 10 / 100 = 10 queued: more than four
  EXPECT_EQ(tcp_.cwnd, 101U);
  params_.scps_control = SCPS_VAN_JACOBSON;
  round(110'000, 101);
  EXPECT_EQ(tcp_.cwnd, 102U);
}

TEST_F(Scps, VegasMeasuresThePathAnewAfterAPause) {
  round(100'000, 1);
  scps_on_event(&l_, &params_, &tcp_, STACK_TX_START);
  round(200'000, 1);
  EXPECT_EQ(tcp_.cwnd, 103U);
}

TEST_F(Scps, ALossThatIsAssumedToBeCongestionHalvesWhateverControlsTheWindow) {
  for (const scps_control control : {SCPS_VAN_JACOBSON, SCPS_VEGAS}) {
    params_.scps_control = control;
    tcp_ = tcp_of(101, 60);
    start();
    lose();
    EXPECT_EQ(tcp_.ssthresh, 50U);
    EXPECT_EQ(scps_undo(&l_, &params_, &tcp_), 101U);
    repair();
    EXPECT_EQ(tcp_.cwnd, 50U);
    EXPECT_EQ(tcp_.ssthresh, 50U);
    time_out();
    EXPECT_EQ(tcp_.ssthresh, 25U);
    EXPECT_EQ(tcp_.cwnd, 1U);
  }
}

TEST_F(Scps, ALossThatIsAssumedToBeCorruptionIsOnlyResent) {
  params_.scps_assume_corruption = 1;
  for (const scps_control control : {SCPS_VAN_JACOBSON, SCPS_VEGAS}) {
    params_.scps_control = control;
    tcp_ = tcp_of(101, 60);
    start();
    lose();
    EXPECT_EQ(tcp_.ssthresh, 101U);  // what PRR keeps the window at
    tcp_.cwnd = 70;                  // and as low as that it has been
    EXPECT_EQ(scps_undo(&l_, &params_, &tcp_), 101U);
    repair();
    EXPECT_EQ(tcp_.cwnd, 101U);
    EXPECT_EQ(tcp_.ssthresh, 60U);
  }
}

TEST_F(Scps, SlowStartGoesOnAfterCorruption) {
  params_.scps_assume_corruption = 1;
  params_.scps_control = SCPS_VAN_JACOBSON;
  tcp_.ssthresh = STACK_INFINITE_SSTHRESH;
  lose();
  repair();
  scps_grow(&l_, &params_, &tcp_, 101);
  EXPECT_EQ(tcp_.cwnd, 202U);
}

TEST_F(Scps, ATimeoutThatIsAssumedToBeCorruptionKeepsTheWindow) {
  params_.scps_assume_corruption = 1;
  time_out();
  EXPECT_EQ(tcp_.cwnd, 101U);
  EXPECT_EQ(tcp_.ssthresh, 50U);
  tcp_.cwnd = 1;  // and once more, without that TCP asks again
  enter(CA_STATE_LOSS);
  EXPECT_EQ(tcp_.cwnd, 101U);
  tcp_.ssthresh = 999;
  enter(CA_STATE_OPEN);
  EXPECT_EQ(tcp_.ssthresh, 999U);
}

// TCP asks again within the episode, and shows the threshold that it has made of the window.
TEST_F(Scps, ATimeoutDuringRecoveryBringsTheThresholdFromBeforeIt) {
  params_.scps_assume_corruption = 1;
  lose();
  ASSERT_EQ(tcp_.ssthresh, 101U);
  time_out();
  EXPECT_EQ(tcp_.cwnd, 101U);
  EXPECT_EQ(tcp_.ssthresh, 50U);
  // An undo ends the next one without that TCP says so; the one after it begins with its own threshold.
  enter(CA_STATE_OPEN);
  lose();
  tcp_.ssthresh = 80;
  enter(CA_STATE_OPEN);
  lose();
  repair();
  EXPECT_EQ(tcp_.ssthresh, 80U);
}

TEST_F(Scps, AMarkIsCongestionWhateverIsAssumed) {
  params_.scps_assume_corruption = 1;
  tcp_.ssthresh = scps_ssthresh(&l_, &params_, &tcp_);
  enter(CA_STATE_CWR);
  EXPECT_EQ(tcp_.ssthresh, 50U);
  repair();
  EXPECT_EQ(tcp_.cwnd, 50U);
  EXPECT_EQ(tcp_.ssthresh, 50U);
  // A timeout while its answer lasts does not bring back what it took.
  tcp_.ssthresh = scps_ssthresh(&l_, &params_, &tcp_);
  enter(CA_STATE_CWR);
  tcp_.cwnd = 1;
  enter(CA_STATE_LOSS);
  EXPECT_EQ(tcp_.cwnd, 1U);
}

// Ten losses in 50 round trips, each of which brings a packet of growth.
TEST_F(Scps, CorruptionDoesNotHoldTheWindowDown) {
  params_.scps_control = SCPS_VAN_JACOBSON;
  for (const __u32 assumption : {0U, 1U}) {
    params_.scps_assume_corruption = assumption;
    tcp_ = tcp_of(100, 100);
    start();
    for (int i = 0; i < 50; ++i) {
      const __u32 sent = tcp_.cwnd;
      scps_grow(&l_, &params_, &tcp_, sent);
      if (i % 5 == 4) {
        lose();
        repair();
      }
    }
    // 100 + 50; or towards w = (w + 5) / 2: 52, 28, 16, 10, 7, 6, 5
    if (assumption) {
      EXPECT_EQ(tcp_.cwnd, 150U);
    } else {
      EXPECT_EQ(tcp_.cwnd, 5U);
    }
  }
}

}  // namespace
