// SPDX-License-Identifier: Apache-2.0
// The only header of the core that knows whether it is being synthesised or compiled for a CPU.
//
// CLARION_INLINE    fold a small function into its caller, so that a stage becomes one pipeline
// CLARION_PROCESS   keep a function by itself in synthesis, since it runs beside the others
// CLARION_RAM(a)    keep array `a` in a two-port block RAM, one read and one write per packet
#pragma once

#if defined(__BAMBU__)  // one process at a time
#define CLARION_INLINE inline __attribute__((always_inline))
#define CLARION_PROCESS CLARION_INLINE
#define CLARION_RAM(array) static_cast<void>(array)
#elif defined(__SYNTHESIS__)
#define CLARION_PRAGMA(text) _Pragma(#text)
#define CLARION_INLINE inline __attribute__((always_inline))
#define CLARION_PROCESS inline __attribute__((noinline))
#define CLARION_RAM(array) CLARION_PRAGMA(HLS BIND_STORAGE variable = array type = ram_2p impl = bram)
#else
#define CLARION_INLINE inline __attribute__((always_inline))
#define CLARION_PROCESS inline __attribute__((noinline))  // compiled once, however many ports
#define CLARION_RAM(array) static_cast<void>(array)
#endif
