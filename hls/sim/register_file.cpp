// SPDX-License-Identifier: Apache-2.0
#include "hls/sim/register_file.hpp"

#include <algorithm>
#include <stdexcept>

namespace clarion::sim {
namespace {

using namespace registers;

constexpr std::uint32_t ALL_PORTS = 0xffffffff;

bool within(std::uint32_t at, std::uint32_t begin, std::uint32_t words) {
  return at >= begin && at < begin + 4 * words;
}

}  // namespace

RegisterFile::RegisterFile(const BlockFacts& facts, const std::vector<WindowUnit>& units) : facts_(facts) {
  if (units.size() > MAX_UNITS) throw std::invalid_argument("more units than the window has room for");
  for (const WindowUnit& unit : units) mailboxes_.emplace_back().unit = unit;
}

bool RegisterFile::refuse() {
  if (refused_ != UINT32_MAX) ++refused_;
  return false;
}

RegisterFile::Access RegisterFile::clarion_access(std::uint32_t at) const {
  if (at == AT_CLARION_SCRATCH || at == AT_CLARION_PROTOCOL) return Access::writable;
  return at >= AT_CLARION_PORTS && at <= AT_CLARION_REFUSED ? Access::read_only : Access::none;
}

RegisterFile::Access RegisterFile::mailbox_access(std::uint32_t at) {
  if (at == AT_MAILBOX_REQUEST || within(at, AT_MAILBOX_COMMAND, COMMAND_WORDS)) return Access::writable;
  const bool outcome = at == AT_MAILBOX_DONE || at == AT_MAILBOX_STATUS;
  return outcome || within(at, AT_MAILBOX_REPLY, REPLY_WORDS) ? Access::read_only : Access::none;
}

RegisterFile::Access RegisterFile::access(std::uint32_t offset) const {
  const std::uint32_t block = offset / STRIDE_BYTES;
  const std::uint32_t at = offset % STRIDE_BYTES;
  if (offset % 4 != 0 || block > mailboxes_.size()) return Access::none;
  if (at <= AT_HEADER_PORT) return Access::read_only;
  return block == 0 ? clarion_access(at) : mailbox_access(at);
}

std::uint32_t RegisterFile::header(unsigned block, std::uint32_t at) const {
  const Mailbox* mailbox = block == 0 ? nullptr : &mailboxes_[block - 1];
  const bool last = block == mailboxes_.size();
  switch (at) {
    case AT_HEADER_TYPE:
      if (mailbox == nullptr) return TYPE_CLARION;
      return mailbox->unit.egress ? TYPE_EGRESS : TYPE_INGRESS;
    case AT_HEADER_VERSION:
      if (mailbox == nullptr) return VERSION_CLARION;
      return mailbox->unit.egress ? VERSION_EGRESS : VERSION_INGRESS;
    case AT_HEADER_NEXT:
      return last ? 0 : (block + 1) * STRIDE_BYTES;
    default:
      return mailbox == nullptr ? ALL_PORTS : mailbox->unit.port;
  }
}

std::uint32_t RegisterFile::clarion(std::uint32_t at) const {
  switch (at) {
    case AT_CLARION_PORTS:
      return facts_.ports;
    case AT_CLARION_BUCKETS:
      return facts_.buckets;
    case AT_CLARION_QUEUE_BEATS:
      return facts_.queue_beats;
    case AT_CLARION_CLOCK_HZ:
      return facts_.clock_hz;
    case AT_CLARION_BUILD:
      return facts_.build;
    case AT_CLARION_SCRATCH:
      return scratch_;
    case AT_CLARION_PROTOCOL:
      return protocol_;
    case AT_CLARION_NOW_LOW:
      return static_cast<std::uint32_t>(now_);
    case AT_CLARION_NOW_HIGH:
      return static_cast<std::uint32_t>(now_ >> 32);
    default:
      return refused_;
  }
}

std::uint32_t RegisterFile::mailbox(const Mailbox& mailbox, std::uint32_t at) {
  if (at == AT_MAILBOX_REQUEST) return mailbox.request;
  if (at == AT_MAILBOX_DONE) return mailbox.done;
  if (at == AT_MAILBOX_STATUS) return mailbox.status;
  if (at < AT_MAILBOX_REPLY) return mailbox.command[(at - AT_MAILBOX_COMMAND) / 4];
  return mailbox.reply[(at - AT_MAILBOX_REPLY) / 4];
}

std::uint32_t RegisterFile::value(std::uint32_t offset) const {
  if (access(offset) == Access::none) return 0;
  const std::uint32_t block = offset / STRIDE_BYTES;
  const std::uint32_t at = offset % STRIDE_BYTES;
  if (at <= AT_HEADER_PORT) return header(block, at);
  return block == 0 ? clarion(at) : mailbox(mailboxes_[block - 1], at);
}

RegisterFile::Reading RegisterFile::read32(std::uint32_t offset) {
  if (access(offset) == Access::none) return {refuse(), 0};
  return {true, value(offset)};
}

bool RegisterFile::write32(std::uint32_t offset, std::uint32_t value, std::uint8_t strobes) {
  if (access(offset) != Access::writable || strobes != ALL_BYTES) return refuse();
  const std::uint32_t block = offset / STRIDE_BYTES;
  const std::uint32_t at = offset % STRIDE_BYTES;
  if (block == 0) {
    if (at == AT_CLARION_SCRATCH)
      scratch_ = value & MASK_CLARION_SCRATCH;
    else
      protocol_ = value & MASK_CLARION_PROTOCOL;
  } else if (at == AT_MAILBOX_REQUEST) {
    mailboxes_[block - 1].request = value;
  } else {
    mailboxes_[block - 1].command[(at - AT_MAILBOX_COMMAND) / 4] = value;
  }
  return true;
}

void RegisterFile::take_up(Mailbox& mailbox) {
  mailbox.unit.wires->command = mailbox.command;
  mailbox.taken = mailbox.request;
  mailbox.status = 0;
  mailbox.reply.fill(0);
}

void RegisterFile::collect(Mailbox& mailbox) {
  MailboxWires& wires = *mailbox.unit.wires;
  const ReplyBeat& beat = *wires.reply;
  const unsigned first = beat.index * BEAT_WORDS;
  if (first < REPLY_WORDS) std::copy(beat.words.begin(), beat.words.end(), mailbox.reply.begin() + first);
  if (!beat.last || !wires.taken) return;
  mailbox.status = beat.status;
  mailbox.done = mailbox.taken;
  wires.command.reset();
}

void RegisterFile::step() {
  for (Mailbox& mailbox : mailboxes_) {
    MailboxWires& wires = *mailbox.unit.wires;
    if (wires.command && wires.reply)
      collect(mailbox);
    else if (!wires.command && mailbox.request != mailbox.done)
      take_up(mailbox);
    wires.reply.reset();
    wires.taken = false;
  }
}

}  // namespace clarion::sim
