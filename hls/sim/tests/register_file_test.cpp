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

ReplyBeat beat(unsigned index, bool last, std::uint32_t word, unsigned status = 0) {
  ReplyBeat reply;
  reply.words[0] = word;
  reply.index = index;
  reply.last = last;
  reply.status = static_cast<std::uint8_t>(status);
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

  // A clock in which the unit says this.
  void answer(unsigned unit, const ReplyBeat& reply) {
    wires_[unit].reply = reply;
    wires_[unit].taken = reply.last && wires_[unit].command;
    registers_.step();
  }

  MailboxWires wires_[4];
  RegisterFile registers_{
      BlockFacts{2, 4096, 1024, 250'000'000, 0xabcd},
      {{false, 0, &wires_[0]}, {false, 1, &wires_[1]}, {true, 0, &wires_[2]}, {true, 1, &wires_[3]}}};
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
  ASSERT_TRUE(wires_[0].command);
  EXPECT_EQ((*wires_[0].command)[0], OP_READ);
  EXPECT_EQ((*wires_[0].command)[15], 0xffffffff);
  EXPECT_FALSE(wires_[1].command);
  answer(0, beat(0, false, 11));
  EXPECT_EQ(read(INGRESS + AT_MAILBOX_DONE), 0U);
  EXPECT_TRUE(wires_[0].command);
  EXPECT_FALSE(wires_[0].reply);
  answer(0, beat(1, true, 22, STATUS_OUT_OF_RANGE));
  EXPECT_EQ(read(INGRESS + AT_MAILBOX_DONE), 7U);
  EXPECT_EQ(read(INGRESS + AT_MAILBOX_STATUS), STATUS_OUT_OF_RANGE);
  EXPECT_EQ(reply_word(INGRESS, 0), 11U);
  EXPECT_EQ(reply_word(INGRESS, 16), 22U);
  EXPECT_FALSE(registers_.busy(0));
  EXPECT_FALSE(wires_[0].command);
  registers_.step();
  EXPECT_FALSE(wires_[0].command);  // once is enough
}

TEST_F(RegisterFileTest, ANewRequestClearsTheOldAnswer) {
  request(INGRESS, 1, OP_READ);
  registers_.step();
  answer(0, beat(0, true, 9, STATUS_UNKNOWN_OPERATION));
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
  EXPECT_EQ((*wires_[0].command)[0], OP_READ);
  answer(0, beat(0, true, 9));
  EXPECT_EQ(read(INGRESS + AT_MAILBOX_DONE), 1U);
  EXPECT_FALSE(wires_[0].command);  // for a clock, as the unit expects
  registers_.step();
  EXPECT_EQ((*wires_[0].command)[0], OP_RESET);
}

TEST_F(RegisterFileTest, DropsAnswersThatNobodyAskedForAndBeatsThatHaveNoPlace) {
  answer(0, beat(0, true, 9));
  EXPECT_EQ(reply_word(INGRESS, 0), 0U);
  EXPECT_FALSE(wires_[0].reply);
  request(INGRESS, 3, OP_READ);
  registers_.step();
  answer(0, beat(7, true, 9));
  EXPECT_EQ(read(INGRESS + AT_MAILBOX_DONE), 3U);
  for (unsigned word = 0; word < REPLY_WORDS; ++word) EXPECT_EQ(reply_word(INGRESS, word), 0U);
}

TEST(RegisterFile, RefusesMoreUnitsThanTheWindowHolds) {
  EXPECT_THROW(RegisterFile(BlockFacts{}, std::vector<WindowUnit>(16)), std::invalid_argument);
}

}  // namespace
}  // namespace clarion::sim
