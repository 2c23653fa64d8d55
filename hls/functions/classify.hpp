// SPDX-License-Identifier: Apache-2.0
// What a frame is: which bytes of its beats count, and the Clarion header in it.
#pragma once

#include "core/header.hpp"
#include "hls/functions/ports.hpp"
#include "hls/functions/window.hpp"

namespace clarion::block {

// Neighbours are added up, in fields of twice the width each time.
CLARION_INLINE std::uint8_t count_of(std::uint64_t bits) {
  bits -= bits >> 1 & 0x5555555555555555u;
  bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
  bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fu;
  bits += bits >> 8;
  bits += bits >> 16;
  bits += bits >> 32;
  return static_cast<std::uint8_t>(bits & 0x7f);
}

CLARION_INLINE LanesResults lanes(const LanesArguments& arguments) {
  const std::uint64_t keep = arguments.keep;
  LanesResults results;
  results.bytes = count_of(keep);
  results.contiguous = keep != 0 && (keep & (keep + 1)) == 0;
  results.full = keep == UINT64_MAX;
  return results;
}

CLARION_INLINE ClassifyResults classify(const ClassifyArguments& arguments) {
  const Window window(arguments.window);
  ClassifyResults results;
  results.malformed = parse(window, arguments.length, arguments.protocol, results.meta, results.field) ==
                      ParseResult::malformed;
  return results;
}

}  // namespace clarion::block
