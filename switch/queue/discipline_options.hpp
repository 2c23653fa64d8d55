// SPDX-License-Identifier: Apache-2.0
// The queue disciplines that a port may have, as the user asks for them. Defaults are those of the RFCs.
#pragma once

#include <cstdint>

#include "codel.hpp"
#include "dual_pi2.hpp"
#include "fq_codel.hpp"
#include "pie.hpp"
#include "red.hpp"

namespace clarion::emu {

struct DisciplineOptions {
  enum class Name : std::uint8_t { drop_tail, codel, fq_codel, pie, red, dual_pi2 };

  Name name = Name::drop_tail;
  bool ecn = false;  // marks packets that are capable of it, where the discipline would drop them
  CodelSettings codel;
  FqCodelSettings fq_codel;
  PieSettings pie;
  RedSettings red;
  DualPi2Settings dual_pi2;
};

}  // namespace clarion::emu
