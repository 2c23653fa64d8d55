// SPDX-License-Identifier: Apache-2.0
// The only header of the core that knows whether it is being synthesised or compiled for a CPU.
//
// CLARION_INLINE    fold a small function into its caller, so that a stage becomes one pipeline
// CLARION_UNROLL    in front of a loop: all rounds at once, which is so in a pipeline of Vitis and for a CPU
// no matter
#pragma once

#define CLARION_INLINE inline __attribute__((always_inline))

#if defined(__BAMBU__)
#define CLARION_UNROLL _Pragma("unroll")
#else
#define CLARION_UNROLL
#endif
