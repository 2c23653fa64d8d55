// SPDX-License-Identifier: Apache-2.0
// Who is heard by LLDP on a port, and what follows for its wire (docs/datapath.md, "What is known of a
// wire").
#pragma once

#include <cstdint>
#include <vector>

#include "clock.hpp"
#include "lldp_frame.hpp"

namespace clarion::emu {

struct Neighbour {
  LldpId chassis;
  LldpId port;
  std::optional<ClarionPort> clarion;  // none: an ordinary bridge or station
  Nanoseconds until = 0;               // alive before this
};

// `unnumbered`: by its Clarion neighbour, so sequence numbers were stamped further upstream.
enum class Judgement : std::uint8_t { unproven, unnumbered, proven, disproved };

constexpr const char* name_of(Judgement judgement) {
  constexpr const char* NAMES[] = {"unproven", "unnumbered", "proven", "disproved"};
  return NAMES[static_cast<std::size_t>(judgement)];
}

// A declaration counts only while no neighbour is heard.
constexpr bool is_bare_wire(bool declared, Judgement judgement) {
  return judgement == Judgement::proven || (declared && judgement == Judgement::unproven);
}

class Neighbours {
 public:
  static constexpr std::size_t MAX = 8;  // any more than one disprove the wire alike

  void hear(const LldpFrame& frame, Nanoseconds now);

  // Forgets those whose time is over.
  void expire(Nanoseconds now);

  void clear() { alive_.clear(); }

  Judgement judgement() const { return judgement_after(0); }

  // When it becomes another one if nothing more is heard. NEVER if nothing is alive.
  Nanoseconds judged_until() const;

  Nanoseconds next_expiry() const;

  const std::vector<Neighbour>& alive() const { return alive_; }

 private:
  // By those that are alive after a time.
  Judgement judgement_after(Nanoseconds time) const;

  std::vector<Neighbour> alive_;
};

}  // namespace clarion::emu
