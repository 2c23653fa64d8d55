// SPDX-License-Identifier: Apache-2.0
// Integers of as many bits as values need, as each compiler has them.
#pragma once

#if defined(__BAMBU__)
namespace clarion::block {
template <unsigned BITS>
using Unsigned = unsigned _ExtInt(BITS);
template <unsigned BITS>
using Signed = _ExtInt(BITS);
}  // namespace clarion::block
#else
#include <ap_int.h>
namespace clarion::block {
template <unsigned BITS>
using Unsigned = ap_uint<BITS>;
template <unsigned BITS>
using Signed = ap_int<BITS>;
}  // namespace clarion::block
#endif
