// SPDX-License-Identifier: Apache-2.0
// The modules that the shell calls functions by, each on its own in a simulator.
#pragma once

#include <cstddef>
#include <cstdint>

#include "Vcircuit_classify.h"
#include "Vcircuit_control.h"
#include "Vcircuit_grant.h"
#include "Vcircuit_judge.h"
#include "Vcircuit_lanes.h"
#include "Vcircuit_length.h"
#include "Vcircuit_number.h"
#include "Vcircuit_offer.h"
#include "Vcircuit_over.h"
#include "Vcircuit_own.h"
#include "Vcircuit_patch.h"
#include "Vcircuit_sums.h"
#include "Vcircuit_tracker.h"
#include "Vcircuit_weight.h"
#include "hls/functions/ports.hpp"

namespace clarion::block {

template <class Arguments>
struct CircuitOf;

#define CLARION_CIRCUIT(name, type, NAME)               \
  template <>                                           \
  struct CircuitOf<type##Arguments> {                   \
    using Model = Vcircuit_##name;                      \
    static constexpr unsigned LATENCY = NAME##_LATENCY; \
  };
CLARION_CIRCUIT(lanes, Lanes, LANES)
CLARION_CIRCUIT(classify, Classify, CLASSIFY)
CLARION_CIRCUIT(judge, Judge, JUDGE)
CLARION_CIRCUIT(number, Number, NUMBER)
CLARION_CIRCUIT(weight, Weight, WEIGHT)
CLARION_CIRCUIT(sums, Sums, SUMS)
CLARION_CIRCUIT(tracker, Tracker, TRACKER)
CLARION_CIRCUIT(length, Length, LENGTH)
CLARION_CIRCUIT(over, Over, OVER)
CLARION_CIRCUIT(offer, Offer, OFFER)
CLARION_CIRCUIT(own, Own, OWN)
CLARION_CIRCUIT(grant, Grant, GRANT)
CLARION_CIRCUIT(patch, Patch, PATCH)
CLARION_CIRCUIT(control, Control, CONTROL)
#undef CLARION_CIRCUIT

// Ports of up to 32 bits, of up to 64, and of more.
template <class Port>
void set_port(Port& port, const std::uint32_t* words) {
  if constexpr (sizeof(Port) <= sizeof(std::uint32_t)) {
    port = static_cast<Port>(words[0]);
  } else {
    port = words[0] | std::uint64_t{words[1]} << 32;
  }
}

template <std::size_t WORDS>
void set_port(VlWide<WORDS>& port, const std::uint32_t* words) {
  for (std::size_t i = 0; i < WORDS; ++i) port[i] = words[i];
}

template <class Port>
void get_port(const Port& port, std::uint32_t* words) {
  words[0] = static_cast<std::uint32_t>(port);
  if constexpr (sizeof(Port) > sizeof(std::uint32_t)) words[1] = static_cast<std::uint32_t>(port >> 32);
}

template <std::size_t WORDS>
void get_port(const VlWide<WORDS>& port, std::uint32_t* words) {
  for (std::size_t i = 0; i < WORDS; ++i) words[i] = port[i];
}

// Arguments are there for one clock, zeros follow them, and results are taken when they are due.
template <class Arguments>
void call_circuit(const std::uint32_t* arguments, std::uint32_t* results) {
  using Circuit = CircuitOf<Arguments>;
  static typename Circuit::Model circuit;
  static const std::uint32_t nothing[64] = {};
  circuit.valid_i = 1;
  set_port(circuit.arguments_i, arguments);
  for (unsigned clock = 0; clock < Circuit::LATENCY; ++clock) {
    circuit.clk_i = 0;
    circuit.eval();
    circuit.clk_i = 1;
    circuit.eval();
    circuit.valid_i = 0;
    set_port(circuit.arguments_i, nothing);
  }
  circuit.eval();
  get_port(circuit.results_o, results);
}

}  // namespace clarion::block
