// SPDX-License-Identifier: Apache-2.0
#include "neighbours.hpp"

#include <algorithm>

namespace clarion::emu {

void Neighbours::hear(const LldpFrame& frame, Nanoseconds now) {
  expire(now);
  const auto known = std::find_if(alive_.begin(), alive_.end(), [&frame](const Neighbour& each) {
    return each.chassis == frame.chassis && each.port == frame.port;
  });
  const Neighbour heard{frame.chassis, frame.port, frame.clarion, now + frame.ttl_s * SECOND_NS};
  if (frame.ttl_s == 0) {
    if (known != alive_.end()) alive_.erase(known);
  } else if (known != alive_.end()) {
    *known = heard;
  } else if (alive_.size() < MAX) {
    alive_.push_back(heard);
  }
}

void Neighbours::expire(Nanoseconds now) {
  alive_.erase(std::remove_if(alive_.begin(), alive_.end(),
                              [now](const Neighbour& each) { return each.until <= now; }),
               alive_.end());
}

Judgement Neighbours::judgement_after(Nanoseconds time) const {
  std::size_t count = 0;
  bool stamps = false;
  for (const Neighbour& each : alive_) {
    if (each.until <= time) continue;
    if (!each.clarion) return Judgement::disproved;
    stamps = each.clarion->stamps;
    ++count;
  }
  if (count > 1) return Judgement::disproved;
  if (count == 0) return Judgement::unproven;
  return stamps ? Judgement::proven : Judgement::unnumbered;
}

Nanoseconds Neighbours::judged_until() const {
  Nanoseconds first = NEVER;
  for (const Neighbour& each : alive_) {
    if (judgement_after(each.until) != judgement()) first = std::min(first, each.until);
  }
  return first;
}

Nanoseconds Neighbours::next_expiry() const {
  Nanoseconds next = NEVER;
  for (const Neighbour& each : alive_) next = std::min(next, each.until);
  return next;
}

}  // namespace clarion::emu
