// SPDX-License-Identifier: Apache-2.0
// The only header of the core that knows whether it is being synthesised or compiled for a CPU.
//
// CLARION_INLINE    fold a small function into its caller, so that a stage becomes one pipeline
// CLARION_UNROLL    as the first thing in a loop: all rounds at once
#pragma once

#if defined(__BAMBU__)  // compilers unroll short loops by themselves
#define CLARION_INLINE inline __attribute__((always_inline))
#define CLARION_UNROLL
#elif defined(__SYNTHESIS__)
#define CLARION_INLINE inline __attribute__((always_inline))
#define CLARION_UNROLL _Pragma("HLS unroll")
#else
#define CLARION_INLINE inline __attribute__((always_inline))
#define CLARION_UNROLL
#endif
