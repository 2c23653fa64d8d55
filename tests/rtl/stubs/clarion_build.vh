// SPDX-License-Identifier: Apache-2.0
// The file that nic/build.sh writes for a board and a mode, for lint and simulation.
`ifndef CLARION_BUMP
`define CLARION_BUMP 1'b0
`endif
`define CLARION_CLOCK_HZ 250000000
`define CLARION_BUCKETS 4096
`define CLARION_QUEUE_BEATS 4096
`define CLARION_BUILD 32'h01234567
