// SPDX-License-Identifier: Apache-2.0
#include "disciplined_queue.hpp"

#include <cstring>
#include <stdexcept>

#include "../flow_id.hpp"

namespace clarion::emu {
namespace {

constexpr std::uint32_t FNV_BASIS = 0x811c9dc5;
constexpr std::uint32_t FNV_PRIME = 0x01000193;

// Packets that carry a Clarion header go by its flow tag: those of one tag must not overtake each other, or
// the next check of their numbers takes the later ones for lost.
std::uint32_t flow_of(const Waiting& packet, std::uint8_t protocol, std::uint32_t salt) {
  std::uint32_t hash = FNV_BASIS ^ salt;
  const auto add = [&hash](const void* data, std::size_t bytes) {
    const auto* byte = static_cast<const std::uint8_t*>(data);
    for (std::size_t i = 0; i < bytes; ++i) hash = (hash ^ byte[i]) * FNV_PRIME;
  };
  if (packet.is_numbered()) {
    const std::uint16_t slot = packet.slot();
    add(&slot, sizeof slot);
    return hash;
  }
  const FlowId flow = identify_flow(packet.frame.data(), packet.length, protocol);
  add(flow.source, sizeof flow.source);
  add(flow.destination, sizeof flow.destination);
  add(&flow.source_port, sizeof flow.source_port);
  add(&flow.destination_port, sizeof flow.destination_port);
  add(&flow.protocol, sizeof flow.protocol);
  return hash;
}

std::unique_ptr<QueueDiscipline> make(const DisciplineOptions& options, std::uint64_t rate_bps,
                                      std::uint8_t protocol, RandomStream random, QueueKeeper& keeper) {
  switch (options.name) {
    case DisciplineOptions::Name::codel:
      return std::make_unique<CodelDiscipline>(options.codel, options.ecn, keeper);
    case DisciplineOptions::Name::fq_codel: {
      const auto salt = static_cast<std::uint32_t>(random.next());
      const auto classify = [protocol, salt](const Waiting& packet) {
        return flow_of(packet, protocol, salt);
      };
      return std::make_unique<FqCodelDiscipline>(options.fq_codel, options.ecn, classify, keeper);
    }
    case DisciplineOptions::Name::pie:
      return std::make_unique<PieDiscipline>(options.pie, options.ecn, random, keeper);
    case DisciplineOptions::Name::red:
      return std::make_unique<RedDiscipline>(options.red, options.ecn, random, rate_bps, keeper);
    case DisciplineOptions::Name::dual_pi2:
      return std::make_unique<DualPi2Discipline>(options.dual_pi2, options.ecn, keeper);
    case DisciplineOptions::Name::drop_tail:
      break;
  }
  throw std::logic_error("drop-tail is no discipline of its own");
}

}  // namespace

DisciplinedQueue::DisciplinedQueue(const DisciplineOptions& options, std::uint64_t rate_bps,
                                   std::uint8_t protocol, RandomStream random, QueueObserver& observer)
    : observer_(observer), discipline_(make(options, rate_bps, protocol, random, *this)) {}

void DisciplinedQueue::enqueue(Nanoseconds now, const std::uint8_t* frame, std::uint32_t stored,
                               std::uint32_t length, const Meta& meta) {
  Waiting* packet = store_.take(frame, stored);
  packet->since = now;
  packet->length = length;
  packet->ecn = ecn_field(frame, length);
  packet->meta = meta;
  discipline_->enqueue(now, packet);
}

void DisciplinedQueue::drop(Waiting* packet) {
  observer_.dropped(packet->frame.data(), packet->length);
  store_.give(packet);
}

void DisciplinedQueue::mark(Waiting* packet) {
  if (packet->ecn == EcnField::marked) return;
  packet->ecn = EcnField::marked;
  mark_congestion(packet->frame.data(), packet->length);
  observer_.marked(packet->frame.data(), packet->length);
}

}  // namespace clarion::emu
