// SPDX-License-Identifier: Apache-2.0
// The bytes of a Clarion header that change on the way out, or in.
#pragma once

#include "core/header.hpp"
#include "core/maxmin_departure.hpp"
#include "hls/functions/ports.hpp"
#include "hls/functions/window.hpp"

namespace clarion::block {

CLARION_INLINE PatchResults patch(const PatchArguments& arguments) {
  Meta meta;  // offset 0: bytes count from the start of the header
  meta.kind = static_cast<Kind>(arguments.kind);
  meta.corrupt = arguments.corrupt;
  meta.congest = arguments.congest;
  meta.flags = arguments.flags;
  meta.rtt = arguments.rtt;
  meta.delta_throughput = arguments.requested;
  HeaderPatch patch;
  const PatchWriter header(patch);
  if (carries_tags(meta.kind)) write_totals(header, meta);
  if (carries_tags(meta.kind) && arguments.numbered) write_link_seq(header, meta, arguments.link_seq);
  if (meta.kind == Kind::data && arguments.regulated) {
    write_hop(header, meta);
    write_delta_throughput(header, meta, arguments.granted);
    if (arguments.maxmin) {
      write_field(header, meta, field_after(meta, arguments.field, arguments.pays, arguments.granted));
    }
  }
  PatchResults results;
  results.enable = patch.enable;
  for (unsigned i = 0; i < PATCH_WORDS; ++i) {
    CLARION_UNROLL
    results.data[i] = patch.data[i];
  }
  return results;
}

}  // namespace clarion::block
