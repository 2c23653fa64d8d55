// SPDX-License-Identifier: Apache-2.0
// The queue's record of a frame that waits in packet memory.
#pragma once

#include <ap_int.h>

#include "core/header.hpp"

namespace clarion::block {

struct Waiting {
  Meta meta;
  ap_uint<16> length = 0;
  ap_uint<8> stored = 0;  // beats in packet memory, at least one
  bool send = false;      // false: to be discarded
};

}  // namespace clarion::block
