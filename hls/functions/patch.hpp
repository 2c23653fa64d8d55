// SPDX-License-Identifier: Apache-2.0
// The bytes of a Clarion header that change on the way out, or in.
#pragma once

#include "core/header.hpp"
#include "core/maxmin_departure.hpp"
#include "hls/functions/ports.hpp"
#include "hls/functions/window.hpp"

namespace clarion::block {

// Of a kind that the compiler knows, so that all places are constants.
CLARION_INLINE void write_tags(PatchWriter header, const PatchArguments& arguments, Meta meta, Kind kind) {
  meta.kind = kind;
  write_totals(header, meta);
  if (arguments.numbered) write_link_seq(header, meta, arguments.link_seq);
}

CLARION_INLINE PatchResults patch(const PatchArguments& arguments) {
  Meta meta;  // offset 0: bytes count from the start of the header
  meta.corrupt = arguments.corrupt;
  meta.congest = arguments.congest;
  meta.flags = arguments.flags;
  meta.rtt = arguments.rtt;
  meta.delta_throughput = arguments.requested;
  const bool is_data = arguments.kind == static_cast<unsigned>(Kind::data);
  HeaderPatch patch;
  const PatchWriter header(patch);
  if (is_data) write_tags(header, arguments, meta, Kind::data);
  if (arguments.kind == static_cast<unsigned>(Kind::tag)) write_tags(header, arguments, meta, Kind::tag);
  if (is_data && arguments.regulated) {
    write_hop(header, meta);
    write_delta_throughput(header, meta, arguments.granted);
    if (arguments.maxmin) {
      write_field(header, meta, field_after(meta, arguments.field, arguments.pays, arguments.granted));
    }
  }
  PatchResults results;
  results.enable = patch.enable;
  CLARION_UNROLL
  for (unsigned i = 0; i < PATCH_WORDS; ++i) {
    results.data[i] = patch.data[i];
  }
  return results;
}

}  // namespace clarion::block
