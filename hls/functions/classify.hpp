// SPDX-License-Identifier: Apache-2.0
// What a frame is: which bytes of its beats count, and the Clarion header in it.
#pragma once

#include "core/header.hpp"
#include "hls/functions/ports.hpp"
#include "hls/functions/window.hpp"

namespace clarion::block {

CLARION_INLINE LanesResults lanes(const LanesArguments& arguments) {
  const std::uint64_t keep = arguments.keep;
  LanesResults results;
  results.contiguous = keep != 0 && (keep & (keep + 1)) == 0;
  results.full = keep == UINT64_MAX;
  for (unsigned i = 0; i < 64; ++i) {
    CLARION_UNROLL
    results.bytes = static_cast<std::uint8_t>(results.bytes + (keep >> i & 1));
  }
  return results;
}

CLARION_INLINE ClassifyResults classify(const ClassifyArguments& arguments) {
  const Window window(arguments.window);
  ClassifyResults results;
  results.malformed =
      parse(window, arguments.length, arguments.protocol, results.meta) == ParseResult::malformed;
  if (results.meta.kind == Kind::data) results.field = read_field(window, results.meta);
  return results;
}

}  // namespace clarion::block
