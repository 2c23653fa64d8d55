// SPDX-License-Identifier: Apache-2.0
// clarion_counter: the value is the sum of what was added since the last clear, or the largest value if that is less.
// The first clock is one of reset; before it registers may hold anything.
`default_nettype none
module clarion_counter_properties #(
    parameter logic [31:0] WIDTH = 4,     // up to 6
    parameter logic [31:0] STEP_BITS = 2
) (
    input wire clk_i,
    input wire rst_ni,
    input wire clear_i,
    input wire [STEP_BITS-1:0] add_i
);
  localparam logic [7:0] LARGEST = (8'd1 << WIDTH) - 8'd1;

  wire [WIDTH-1:0] value;

  clarion_counter #(
      .WIDTH(WIDTH),
      .STEP_BITS(STEP_BITS)
  ) counter (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .clear_i(clear_i),
      .add_i(add_i),
      .value_o(value)
  );

  logic begun_q = 1'b0;
  logic was_added_q;  // there was no clear and no reset
  logic [WIDTH-1:0] was_q;
  logic [7:0] sum_q;  // kept at LARGEST or a step above
  logic [7:0] kept;
  assign kept = sum_q > LARGEST ? LARGEST : sum_q;

  always_ff @(posedge clk_i) begin
    begun_q <= 1'b1;
    was_added_q <= rst_ni && !clear_i;
    was_q <= value;
    sum_q <= (clear_i ? 8'd0 : kept) + 8'(add_i);
    if (!rst_ni) sum_q <= 8'd0;
  end

  always_comb begin
    if (!begun_q) first_clock : assume (!rst_ni);
    if (begun_q) begin
      if (sum_q <= LARGEST) sum : assert (8'(value) == sum_q);
      if (sum_q > LARGEST) saturated : assert (8'(value) == LARGEST);
      if (was_added_q) never_wraps : assert (value >= was_q);
      reaches_beyond : assert (sum_q <= LARGEST);
    end
  end
endmodule
`default_nettype wire
