// SPDX-License-Identifier: Apache-2.0
// The beat of an AXI4-Stream for C simulation, under the name that HLS tools give theirs.
#pragma once

#include <ap_int.h>

#include <cstddef>

namespace hls {

template <typename T, std::size_t WUSER, std::size_t WID, std::size_t WDEST>
struct axis {
  static_assert(WID == 0 && WDEST == 0, "this shim has no id and no dest");

  T data = 0;
  ap_uint<T::width / 8> keep = 0;
  ap_uint<T::width / 8> strb = 0;
  ap_uint<WUSER> user = 0;
  ap_uint<1> last = 0;
};

}  // namespace hls
