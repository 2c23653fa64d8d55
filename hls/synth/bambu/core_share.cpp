// SPDX-License-Identifier: Apache-2.0
#include "hls/synth/bambu/core_functions.hpp"

extern "C" unsigned long long core(unsigned long long a, unsigned b) {
#pragma HLS pipeline II = 1
  return clarion::synth::share(a, b);
}
