// SPDX-License-Identifier: Apache-2.0
// Sizes and codes that several stages go by.
package clarion_sizes_pkg;
  // verilator lint_off UNUSEDPARAM
  localparam logic [31:0] BEAT_BYTES = 64;
  localparam logic [31:0] FRAME_MIN_BYTES = 60;  // without the checksum
  localparam logic [31:0] FRAME_MAX_BYTES = 9600;
  localparam logic [31:0] FRAME_MAX_BEATS = FRAME_MAX_BYTES / BEAT_BYTES;

  // Packets of one port that may be on their way from the queue to the wire: enough for a frame of one beat per clock,
  // from the decision to its first beat.
  localparam logic [31:0] DEPARTURES = 64;

  // Kinds of a Clarion header (core/header.hpp) that the stages treat apart.
  localparam logic [1:0] DATA = 2'd1;
  localparam logic [1:0] TAG = 2'd3;

  // Clocks from an address to a word of block or ultra RAM, with the registers behind it.
  localparam logic [31:0] RAM_LATENCY = 2;
endpackage
