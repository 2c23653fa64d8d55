// SPDX-License-Identifier: Apache-2.0
// Calls functions as the shell does: arguments and results go through their packed bits, so that what does
// not fit the widths of contract/functions.yaml is found.
#pragma once

#include "hls/functions/functions.hpp"
#include "hls/functions/packing.hpp"

namespace clarion::block {

template <class Results, class Arguments>
Results called(Results (&function)(const Arguments&), const Arguments& arguments) {
  std::uint32_t words[64] = {};
  Arguments unpacked;
  pack(arguments, words);
  unpack(words, unpacked);
  std::uint32_t result_words[64] = {};
  pack(function(unpacked), result_words);
  Results results;
  unpack(result_words, results);
  return results;
}

}  // namespace clarion::block
