// SPDX-License-Identifier: Apache-2.0
// clarion_pipe: what goes in valid comes out LATENCY clocks later, nothing else does; a reset forgets what is inside.
// The first clock is one of reset; before it registers may hold anything.
`default_nettype none
module clarion_pipe_properties #(
    parameter logic [31:0] LATENCY = 1
) (
    input wire clk_i,
    input wire rst_ni,
    input wire valid_i,
    input wire [1:0] data_i
);
  wire valid;
  wire [1:0] data;

  clarion_pipe #(
      .WIDTH(2),
      .LATENCY(LATENCY)
  ) pipe (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .valid_i(valid_i),
      .data_i(data_i),
      .valid_o(valid),
      .data_o(data)
  );

  logic begun_q = 1'b0;
  always_ff @(posedge clk_i) begun_q <= 1'b1;

  // [n]: what came n clocks ago, and was not forgotten.
  logic [LATENCY:0] valid_line;
  logic [LATENCY:0] high_line;
  logic [LATENCY:0] low_line;
  logic [LATENCY:0] valid_q;
  logic [LATENCY:0] high_q;
  logic [LATENCY:0] low_q;
  assign valid_line = (LATENCY + 1)'({valid_q, valid_i});
  assign high_line = (LATENCY + 1)'({high_q, data_i[1]});
  assign low_line = (LATENCY + 1)'({low_q, data_i[0]});

  always_ff @(posedge clk_i) begin
    valid_q <= rst_ni ? valid_line : '0;
    high_q <= high_line;
    low_q <= low_line;
  end

  always_comb begin
    if (!begun_q) first_clock : assume (!rst_ni);
    if (begun_q) begin
      when : assert (valid == valid_line[LATENCY]);
      if (valid) what : assert (data == {high_line[LATENCY], low_line[LATENCY]});
      reaches_full : assert (valid_line != '1);
    end
  end
endmodule
`default_nettype wire
