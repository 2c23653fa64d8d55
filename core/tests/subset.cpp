// SPDX-License-Identifier: Apache-2.0
// Compiled, never run: the core as synthesis sees it, without exceptions, run-time types or a heap.
#include "core/data_plane.hpp"

namespace clarion {

template class DataPlane<2, 16>;

}  // namespace clarion
