// SPDX-License-Identifier: Apache-2.0
// The AXI4-Lite front end against a unit that the test plays.
#include "hls/sim/register_file.hpp"

#include <gtest/gtest.h>

namespace clarion::sim {
namespace {

using namespace registers;

constexpr unsigned INGRESS = STRIDE_BYTES;
constexpr unsigned EGRESS = 3 * STRIDE_BYTES;
constexpr unsigned LAST = 4 * STRIDE_BYTES;

block::Reply beat(unsigned index, bool last, std::uint32_t word, unsigned status = 0) {
  block::Reply reply;
  reply.index = index;
  reply.last = last;
  reply.status = status;
  block::put_word(reply.data, 0, word);
  return reply;
}

class RegisterFileTest : public testing::Test {
 protected:
  std::uint32_t read(std::uint32_t offset) {
    const RegisterFile::Reading reading = registers_.read32(offset);
    EXPECT_TRUE(reading.ok) << offset;
    return reading.value;
  }
  void request(std::uint32_t block, std::uint32_t number, std::uint32_t operation) {
    EXPECT_TRUE(registers_.write32(block + AT_MAILBOX_COMMAND, operation));
    EXPECT_TRUE(registers_.write32(block + AT_MAILBOX_REQUEST, number));
  }
  std::uint32_t reply_word(std::uint32_t block, unsigned word) {
    return read(block + AT_MAILBOX_REPLY + 4 * word);
  }

  CommandStream commands_[4];
  ReplyStream replies_[4];
  ReplyStream grants_[2];
  RegisterFile registers_{BlockFacts{2, 4096, 1024, 250'000'000, 0xabcd},
                          {{false, 0, &commands_[0], &replies_[0], nullptr},
                           {false, 1, &commands_[1], &replies_[1], nullptr},
                           {true, 0, &commands_[2], &replies_[2], &grants_[0]},
                           {true, 1, &commands_[3], &replies_[3], &grants_[1]}}};
};

TEST_F(RegisterFileTest, SoftwareFindsEveryUnitByWalking) {
  std::vector<std::array<std::uint32_t, 3>> found;
  std::uint32_t at = 0;
  do {
    found.push_back({read(at + AT_HEADER_TYPE), read(at + AT_HEADER_VERSION), read(at + AT_HEADER_PORT)});
    at = read(at + AT_HEADER_NEXT);
  } while (at != 0);
  EXPECT_EQ(found, (std::vector<std::array<std::uint32_t, 3>>{{TYPE_CLARION, VERSION_CLARION, 0xffffffff},
                                                              {TYPE_INGRESS, VERSION_INGRESS, 0},
                                                              {TYPE_INGRESS, VERSION_INGRESS, 1},
                                                              {TYPE_EGRESS, VERSION_EGRESS, 0},
                                                              {TYPE_EGRESS, VERSION_EGRESS, 1}}));
}

TEST_F(RegisterFileTest, TheBlockTellsWhatItIs) {
  registers_.set_now(0x123456789abc);
  EXPECT_EQ(read(AT_CLARION_PORTS), 2U);
  EXPECT_EQ(read(AT_CLARION_BUCKETS), 4096U);
  EXPECT_EQ(read(AT_CLARION_QUEUE_BEATS), 1024U);
  EXPECT_EQ(read(AT_CLARION_CLOCK_HZ), 250'000'000U);
  EXPECT_EQ(read(AT_CLARION_BUILD), 0xabcdU);
  EXPECT_EQ(read(AT_CLARION_NOW_LOW), 0x56789abcU);
  EXPECT_EQ(read(AT_CLARION_NOW_HIGH), 0x1234U);
  EXPECT_EQ(read(AT_CLARION_PROTOCOL), 253U);
}

TEST_F(RegisterFileTest, WhatCanBeWrittenHoldsItsBits) {
  EXPECT_TRUE(registers_.write32(AT_CLARION_SCRATCH, 0xdeadbeef));
  EXPECT_TRUE(registers_.write32(AT_CLARION_PROTOCOL, 0x1fe));
  EXPECT_TRUE(registers_.write32(LAST + AT_MAILBOX_COMMAND + 4 * (COMMAND_WORDS - 1), 77));
  EXPECT_EQ(read(AT_CLARION_SCRATCH), 0xdeadbeefU);
  EXPECT_EQ(read(AT_CLARION_PROTOCOL), 0xfeU);
  EXPECT_EQ(registers_.protocol(), 0xfe);
  EXPECT_EQ(read(LAST + AT_MAILBOX_COMMAND + 4 * (COMMAND_WORDS - 1)), 77U);
}

TEST_F(RegisterFileTest, RefusesWhatIsNoRegisterAndChangesNothing) {
  std::uint32_t refused = 0;
  for (const std::uint32_t offset :
       {AT_CLARION_REFUSED + 4, AT_CLARION_SCRATCH + 1, INGRESS + 0x1c, INGRESS + AT_MAILBOX_COMMAND + 64,
        LAST + AT_MAILBOX_REPLY + 4 * REPLY_WORDS, LAST + STRIDE_BYTES, WINDOW_BYTES, 0xfffffffcU}) {
    EXPECT_FALSE(registers_.read32(offset).ok) << offset;
    EXPECT_EQ(registers_.read32(offset).value, 0U);
    EXPECT_FALSE(registers_.write32(offset, 1)) << offset;
    refused += 3;
    EXPECT_EQ(read(AT_CLARION_REFUSED), refused);
  }
}

TEST_F(RegisterFileTest, RefusesToWriteWhatCanOnlyBeReadAndParts) {
  for (const std::uint32_t offset :
       {AT_HEADER_TYPE, AT_CLARION_PORTS, AT_CLARION_REFUSED, EGRESS + AT_HEADER_PORT,
        EGRESS + AT_MAILBOX_DONE, EGRESS + AT_MAILBOX_STATUS, EGRESS + AT_MAILBOX_REPLY}) {
    const std::uint32_t before = registers_.value(offset);
    EXPECT_FALSE(registers_.write32(offset, 0x55)) << offset;
    EXPECT_EQ(read(offset), offset == AT_CLARION_REFUSED ? before + 1 : before);
  }
  EXPECT_FALSE(registers_.write32(AT_CLARION_SCRATCH, 1, 0x7));
  EXPECT_EQ(read(AT_CLARION_SCRATCH), 0U);
  EXPECT_EQ(read(AT_CLARION_REFUSED), 8U);
}

TEST_F(RegisterFileTest, ARequestIsOneBeatAndItsAnswerIsStored) {
  registers_.write32(INGRESS + AT_MAILBOX_COMMAND + 4 * 15, 0xffffffff);
  request(INGRESS, 7, OP_READ);
  EXPECT_TRUE(registers_.busy(0));
  EXPECT_FALSE(registers_.busy(1));
  registers_.step();
  ASSERT_EQ(commands_[0].size(), 1U);
  const block::Command command = commands_[0].read();
  EXPECT_EQ(block::word_of(command, 0), OP_READ);
  EXPECT_EQ(block::word_of(command, 15), 0xffffffff);
  replies_[0].write(beat(0, false, 11));
  registers_.step();
  EXPECT_EQ(read(INGRESS + AT_MAILBOX_DONE), 0U);
  replies_[0].write(beat(1, true, 22, STATUS_OUT_OF_RANGE));
  registers_.step();
  EXPECT_EQ(read(INGRESS + AT_MAILBOX_DONE), 7U);
  EXPECT_EQ(read(INGRESS + AT_MAILBOX_STATUS), STATUS_OUT_OF_RANGE);
  EXPECT_EQ(reply_word(INGRESS, 0), 11U);
  EXPECT_EQ(reply_word(INGRESS, 16), 22U);
  EXPECT_FALSE(registers_.busy(0));
  registers_.step();
  EXPECT_TRUE(commands_[0].empty());  // once is enough
}

TEST_F(RegisterFileTest, TheBeatThatEndsAnAnswerWaitsForTheOthers) {
  request(EGRESS, 1, OP_READ);
  registers_.step();
  commands_[2].read();
  grants_[0].write(beat(2, true, 55));
  registers_.step();
  EXPECT_EQ(read(EGRESS + AT_MAILBOX_DONE), 0U);
  replies_[2].write(beat(0, false, 33));
  registers_.step();
  registers_.step();
  EXPECT_EQ(read(EGRESS + AT_MAILBOX_DONE), 0U);
  replies_[2].write(beat(1, false, 44));
  registers_.step();
  EXPECT_EQ(read(EGRESS + AT_MAILBOX_DONE), 0U);
  registers_.step();
  EXPECT_EQ(read(EGRESS + AT_MAILBOX_DONE), 1U);
  EXPECT_EQ(reply_word(EGRESS, 0), 33U);
  EXPECT_EQ(reply_word(EGRESS, 16), 44U);
  EXPECT_EQ(reply_word(EGRESS, 32), 55U);
}

TEST_F(RegisterFileTest, ANewRequestClearsTheOldAnswer) {
  request(INGRESS, 1, OP_READ);
  registers_.step();
  commands_[0].read();
  replies_[0].write(beat(0, true, 9, STATUS_UNKNOWN_OPERATION));
  registers_.step();
  request(INGRESS, 2, OP_RESET);
  registers_.step();
  EXPECT_EQ(reply_word(INGRESS, 0), 0U);
  EXPECT_EQ(read(INGRESS + AT_MAILBOX_STATUS), 0U);
  EXPECT_EQ(read(INGRESS + AT_MAILBOX_DONE), 1U);
}

TEST_F(RegisterFileTest, WhatIsWrittenWhileACommandRunsIsForTheNextOne) {
  request(INGRESS, 1, OP_READ);
  registers_.step();
  request(INGRESS, 2, OP_RESET);
  registers_.step();
  EXPECT_EQ(block::word_of(commands_[0].read(), 0), OP_READ);
  EXPECT_TRUE(commands_[0].empty());
  replies_[0].write(beat(0, true, 9));
  registers_.step();
  EXPECT_EQ(read(INGRESS + AT_MAILBOX_DONE), 1U);
  registers_.step();
  EXPECT_EQ(block::word_of(commands_[0].read(), 0), OP_RESET);
}

TEST_F(RegisterFileTest, DropsAnswersThatNobodyAskedForAndBeatsThatHaveNoPlace) {
  replies_[0].write(beat(0, true, 9));
  registers_.step();
  EXPECT_EQ(reply_word(INGRESS, 0), 0U);
  EXPECT_TRUE(replies_[0].empty());
  request(INGRESS, 3, OP_READ);
  registers_.step();
  replies_[0].write(beat(7, true, 9));
  registers_.step();
  EXPECT_EQ(read(INGRESS + AT_MAILBOX_DONE), 3U);
  for (unsigned word = 0; word < REPLY_WORDS; ++word) EXPECT_EQ(reply_word(INGRESS, word), 0U);
}

TEST(RegisterFile, RefusesMoreUnitsThanTheWindowHolds) {
  EXPECT_THROW(RegisterFile(BlockFacts{}, std::vector<UnitStreams>(16)), std::invalid_argument);
}

}  // namespace
}  // namespace clarion::sim
