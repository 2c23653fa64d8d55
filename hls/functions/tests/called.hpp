// SPDX-License-Identifier: Apache-2.0
// Calls functions as the shell does: arguments and results go through their packed bits, so that what does
// not fit the widths of contract/functions.yaml is found. Or calls the modules that the shell calls.
#pragma once

#include "hls/functions/functions.hpp"
#include "hls/functions/packing.hpp"
#ifdef CLARION_CIRCUITS
#include "hls/sim/functions/circuits.hpp"
#endif

namespace clarion::block {

template <class Results, class Arguments>
Results called([[maybe_unused]] Results (&function)(const Arguments&), const Arguments& arguments) {
  std::uint32_t words[64] = {};
  pack(arguments, words);
  std::uint32_t result_words[64] = {};
#ifdef CLARION_CIRCUITS
  call_circuit<Arguments>(words, result_words);
#else
  Arguments unpacked;
  unpack(words, unpacked);
  pack(function(unpacked), result_words);
#endif
  Results results;
  unpack(result_words, results);
  return results;
}

}  // namespace clarion::block
