// SPDX-License-Identifier: Apache-2.0
// Chosen when the switch is compiled, so that neither pays for the other: the embedded core, or the FPGA
// block in C simulation (hls/sim).
#pragma once

#ifdef CLARION_HLS_SIM
#include "hls/sim/block_path.hpp"
#else
#include "core_path.hpp"
#endif

namespace clarion::emu {

#ifdef CLARION_HLS_SIM
using PortPath = BlockPath;
#else
using PortPath = CorePath;
#endif

}  // namespace clarion::emu
