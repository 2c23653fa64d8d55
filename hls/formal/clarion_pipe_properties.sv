// SPDX-License-Identifier: Apache-2.0
// clarion_pipe: what goes in valid comes out LATENCY clocks later, nothing else does, and a reset forgets what is inside.
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

  // What came n clocks ago, and was not forgotten.
  logic [LATENCY:0] valid_line;
  logic [LATENCY:0] high_line;
  logic [LATENCY:0] low_line;
  assign valid_line[0] = valid_i;
  assign high_line[0] = data_i[1];
  assign low_line[0] = data_i[0];
  for (genvar n = 1; n <= LATENCY; n++) begin : line
    always_ff @(posedge clk_i) begin
      valid_line[n] <= valid_line[n-1] && rst_ni;
      high_line[n] <= high_line[n-1];
      low_line[n] <= low_line[n-1];
    end
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
