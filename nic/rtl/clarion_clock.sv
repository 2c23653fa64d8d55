// SPDX-License-Identifier: Apache-2.0
// Time in ticks of 2^-28 s, from the clock: `now` is the number of clocks since the reset * 2^28 / CLOCK_HZ, rounded
// down. The fraction is kept as a whole number of CLOCK_HZ-ths, so nothing is ever rounded away: over any time the
// error is below one tick (3.7 ns), and the only drift is the oscillator's.
`default_nettype none
module clarion_clock #(
    parameter logic [31:0] CLOCK_HZ = 250000000
) (
    input  wire         aclk,
    input  wire         aresetn,
    output logic [63:0] now
);

  localparam logic [31:0] TICKS_HZ = 32'h10000000;
  localparam logic [31:0] WHOLE = TICKS_HZ / CLOCK_HZ;  // ticks in every clock
  localparam logic [31:0] REST = TICKS_HZ % CLOCK_HZ;  // and CLOCK_HZ-ths of one

`ifndef __ICARUS__  // which has no such check
  if (CLOCK_HZ == 0 || CLOCK_HZ >= 32'h80000000) $error("clarion_clock: CLOCK_HZ: 1 to 2^31-1 is needed");
`endif

  logic [31:0] fraction;  // below CLOCK_HZ
  logic [31:0] sum;
  logic [31:0] carried;
  logic carries;
  assign sum = fraction + REST;
  assign carried = fraction - (CLOCK_HZ - REST);  // negative while the sum is below CLOCK_HZ
  assign carries = !carried[31];

  always_ff @(posedge aclk) begin
    fraction <= carries ? carried : sum;
    now <= now + 64'(WHOLE) + 64'(carries);
    if (!aresetn) begin
      fraction <= 32'h0;
      now <= 64'h0;
    end
  end

endmodule
`default_nettype wire
