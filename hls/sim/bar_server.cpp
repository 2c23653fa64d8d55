// SPDX-License-Identifier: Apache-2.0
#include "hls/sim/bar_server.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace clarion::sim {
namespace {

using namespace registers;

[[noreturn]] void fail(const std::string& path, int fd) {
  const std::string reason = std::strerror(errno);
  if (fd >= 0) close(fd);
  throw std::runtime_error(path + ": " + reason);
}

// A new file: to truncate that of a killed simulation would fault (SIGBUS) a program that still maps it.
std::uint32_t* map_new_file(const std::string& path) {
  unlink(path.c_str());
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0 || ftruncate(fd, WINDOW_BYTES) != 0) fail(path, fd);
  void* mapped = mmap(nullptr, WINDOW_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) fail(path, fd);
  close(fd);
  return static_cast<std::uint32_t*>(mapped);
}

// Rank of a register in show(): `done` last, because it tells software that the reply is complete.
int turn(std::uint32_t offset) {
  if (offset < STRIDE_BYTES) return 0;
  const std::uint32_t at = offset % STRIDE_BYTES;
  return at == AT_MAILBOX_DONE ? 2 : at == AT_MAILBOX_STATUS ? 1 : 0;
}

}  // namespace

BarServer::BarServer(std::string path, RegisterFile& registers, ClockUnit clock_unit)
    : path_(std::move(path)),
      registers_(registers),
      clock_unit_(std::move(clock_unit)),
      words_(map_new_file(path_)),
      shown_(RegisterFile::WORDS) {
  for (std::uint32_t offset = 0; offset < WINDOW_BYTES; offset += 4) {
    if (registers_.access(offset) != RegisterFile::Access::none) mapped_.push_back(offset);
  }
  std::stable_sort(mapped_.begin(), mapped_.end(), [](auto a, auto b) { return turn(a) < turn(b); });
  show();
}

BarServer::~BarServer() {
  unlink(path_.c_str());
  for (std::uint32_t word = 0; word < RegisterFile::WORDS; ++word) store(4 * word, UINT32_MAX);
  munmap(words_, WINDOW_BYTES);
}

std::uint32_t BarServer::load(std::uint32_t offset) const {
  return __atomic_load_n(words_ + offset / 4, __ATOMIC_ACQUIRE);
}

void BarServer::store(std::uint32_t offset, std::uint32_t value) {
  __atomic_store_n(words_ + offset / 4, value, __ATOMIC_RELEASE);
}

bool BarServer::poll() {
  const bool requested = take_requests();
  const bool changed = take_rest();
  carry_out();
  show();
  return requested || changed;
}

// Writes a change by software at `offset`, if any, over the bus. Where there is no register it is reverted
// here; show() reverts it in a read-only one.
bool BarServer::take(std::uint32_t offset) {
  const std::uint32_t found = load(offset);
  std::uint32_t& shown = shown_[offset / 4];
  if (found == shown) return false;
  shown = found;
  registers_.write32(offset, found);
  if (registers_.access(offset) == RegisterFile::Access::none) store(offset, shown = 0);
  return true;
}

// Loads `request` before the command's words, because software stores it after them.
bool BarServer::take_requests() {
  bool any = false;
  for (std::uint32_t block = 1; block <= registers_.units(); ++block) any |= take_block(block * STRIDE_BYTES);
  return any;
}

bool BarServer::take_block(std::uint32_t block) {
  const std::uint32_t at = block + AT_MAILBOX_REQUEST;
  const std::uint32_t request = load(at);
  bool any = false;
  for (unsigned word = 0; word < COMMAND_WORDS; ++word) any |= take(block + AT_MAILBOX_COMMAND + 4 * word);
  if (request == shown_[at / 4]) return any;
  shown_[at / 4] = request;
  registers_.write32(at, request);
  return true;
}

bool BarServer::take_rest() {
  if (std::memcmp(words_, shown_.data(), WINDOW_BYTES) == 0) return false;  // nearly always
  bool any = false;
  for (std::uint32_t offset = 0; offset < WINDOW_BYTES; offset += 4) {
    if (load(offset) == shown_[offset / 4]) continue;
    const bool of_mailbox =
        offset >= STRIDE_BYTES && registers_.access(offset) == RegisterFile::Access::writable;
    if (!of_mailbox) any |= take(offset);  // the next poll() takes those
  }
  return any;
}

void BarServer::carry_out() {
  for (std::size_t unit = 0; unit < registers_.units(); ++unit) {
    for (unsigned clocks = 0; registers_.busy(unit); ++clocks) {
      if (clocks == MAX_CLOCKS)
        throw std::runtime_error("the FPGA block did not answer a request of software");
      registers_.step();
      clock_unit_(unit);
    }
  }
}

void BarServer::show() {
  for (const std::uint32_t offset : mapped_) {
    const std::uint32_t value = registers_.value(offset);
    if (value != shown_[offset / 4]) store(offset, shown_[offset / 4] = value);
  }
}

}  // namespace clarion::sim
