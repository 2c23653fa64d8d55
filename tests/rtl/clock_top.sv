// SPDX-License-Identifier: Apache-2.0
// clarion_clock with a clock made in the simulator itself, where a million clocks take a second.
`default_nettype none
module clock_top #(
    parameter logic [31:0] CLOCK_HZ = 250000000
) (
    output logic [63:0] now
);
  logic aclk = 1'b0;
  logic aresetn = 1'b0;
  initial forever #2 aclk = !aclk;
  clarion_clock #(.CLOCK_HZ(CLOCK_HZ)) clock (.aclk, .aresetn, .now);
endmodule
`default_nettype wire
