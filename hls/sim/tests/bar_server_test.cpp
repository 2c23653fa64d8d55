// SPDX-License-Identifier: Apache-2.0
// Software's side of the register file's file: stores and loads of a mapping of its own.
#include "hls/sim/bar_server.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <stdexcept>

namespace clarion::sim {
namespace {

using namespace registers;

constexpr unsigned UNIT = STRIDE_BYTES;

class BarServerTest : public testing::Test {
 protected:
  void SetUp() override {
    const int fd = open(path_.c_str(), O_RDWR);
    ASSERT_GE(fd, 0);
    words_ = static_cast<volatile std::uint32_t*>(
        mmap(nullptr, WINDOW_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    close(fd);
  }
  void TearDown() override { munmap(const_cast<std::uint32_t*>(words_), WINDOW_BYTES); }

  volatile std::uint32_t& at(std::uint32_t offset) { return words_[offset / 4]; }
  bool poll() { return server_->poll(); }

  // A unit that answers with its own counter and the command's word 1, if it is alive.
  void clock_unit(std::size_t unit) {
    EXPECT_EQ(unit, 0U);
    if (!wires_.command || !alive_) return;
    ReplyBeat& reply = wires_.reply.emplace();
    reply.words[0] = ++carried_out_;
    reply.words[1] = (*wires_.command)[1];
    reply.last = true;
    reply.status = static_cast<std::uint8_t>((*wires_.command)[0]);
    wires_.taken = true;
  }

  const std::string path_ = testing::TempDir() + "clarion-bar-" + std::to_string(getpid());
  MailboxWires wires_;
  RegisterFile registers_{BlockFacts{1, 2, 3, 4, 5}, {{false, 0, &wires_}}};
  std::unique_ptr<BarServer> server_ =
      std::make_unique<BarServer>(path_, registers_, [this](std::size_t unit) { clock_unit(unit); });
  bool alive_ = true;
  unsigned carried_out_ = 0;
  volatile std::uint32_t* words_ = nullptr;
};

TEST_F(BarServerTest, AllRegistersAreThereFromTheStart) {
  EXPECT_EQ(std::filesystem::file_size(path_), WINDOW_BYTES);
  for (std::uint32_t offset = 0; offset < WINDOW_BYTES; offset += 4) {
    ASSERT_EQ(at(offset), registers_.value(offset)) << offset;
  }
  EXPECT_EQ(at(UNIT + AT_HEADER_TYPE), TYPE_INGRESS);
}

TEST_F(BarServerTest, CarriesARequestOut) {
  EXPECT_FALSE(poll());
  at(UNIT + AT_MAILBOX_COMMAND) = 3;
  at(UNIT + AT_MAILBOX_COMMAND + 4) = 4711;
  EXPECT_TRUE(poll());  // a command that is not requested yet
  EXPECT_EQ(carried_out_, 0U);
  at(UNIT + AT_MAILBOX_REQUEST) = 1;
  EXPECT_TRUE(poll());
  EXPECT_EQ(at(UNIT + AT_MAILBOX_DONE), 1U);
  EXPECT_EQ(at(UNIT + AT_MAILBOX_STATUS), 3U);
  EXPECT_EQ(at(UNIT + AT_MAILBOX_REPLY), 1U);
  EXPECT_EQ(at(UNIT + AT_MAILBOX_REPLY + 4), 4711U);
  EXPECT_FALSE(poll());
  EXPECT_EQ(carried_out_, 1U);
}

TEST_F(BarServerTest, TakesTheCommandThatIsThereWithItsRequest) {
  at(UNIT + AT_MAILBOX_COMMAND + 4) = 5;
  at(UNIT + AT_MAILBOX_REQUEST) = 9;
  poll();
  EXPECT_EQ(at(UNIT + AT_MAILBOX_DONE), 9U);
  EXPECT_EQ(at(UNIT + AT_MAILBOX_REPLY + 4), 5U);
}

TEST_F(BarServerTest, PutsBackWhatCannotBeWritten) {
  const std::vector<std::uint32_t> offsets = {
      AT_HEADER_TYPE, AT_CLARION_BUCKETS, UNIT + AT_MAILBOX_DONE, UNIT + AT_MAILBOX_REPLY,
      UNIT + 0x1c,    UNIT + 0xffc,       UNIT + STRIDE_BYTES,    WINDOW_BYTES - 4};
  for (const std::uint32_t offset : offsets) at(offset) = 0x55;
  EXPECT_TRUE(poll());
  for (const std::uint32_t offset : offsets) EXPECT_EQ(at(offset), registers_.value(offset)) << offset;
  EXPECT_EQ(at(AT_CLARION_REFUSED), offsets.size());
  EXPECT_FALSE(poll());
  EXPECT_EQ(at(AT_CLARION_REFUSED), offsets.size());
}

TEST_F(BarServerTest, ShowsTheBitsThatARegisterHas) {
  at(AT_CLARION_SCRATCH) = 0xdeadbeef;
  at(AT_CLARION_PROTOCOL) = 0x1fe;
  EXPECT_TRUE(poll());
  EXPECT_EQ(at(AT_CLARION_SCRATCH), 0xdeadbeefU);
  EXPECT_EQ(at(AT_CLARION_PROTOCOL), 0xfeU);
  EXPECT_EQ(registers_.protocol(), 0xfe);
  EXPECT_FALSE(poll());
}

TEST_F(BarServerTest, TimeGoesOn) {
  registers_.set_now(0x100000002);
  EXPECT_FALSE(poll());
  EXPECT_EQ(at(AT_CLARION_NOW_LOW), 2U);
  EXPECT_EQ(at(AT_CLARION_NOW_HIGH), 1U);
}

TEST_F(BarServerTest, AUnitThatDoesNotAnswerIsAnError) {
  alive_ = false;
  at(UNIT + AT_MAILBOX_REQUEST) = 1;
  EXPECT_THROW(poll(), std::runtime_error);
}

TEST_F(BarServerTest, LeavesNoFileAndAllOnesToWhoeverStillMapsIt) {
  server_.reset();
  EXPECT_FALSE(std::filesystem::exists(path_));
  EXPECT_EQ(at(AT_HEADER_TYPE), UINT32_MAX);
  EXPECT_EQ(at(WINDOW_BYTES - 4), UINT32_MAX);
}

TEST(BarServer, SaysWhereItCannotMakeItsFile) {
  RegisterFile registers(BlockFacts{}, {});
  try {
    BarServer server("/no/such/place", registers, [](std::size_t) {});
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "/no/such/place: No such file or directory");
  }
}

}  // namespace
}  // namespace clarion::sim
