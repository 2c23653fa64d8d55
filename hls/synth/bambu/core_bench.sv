// SPDX-License-Identifier: Apache-2.0
// Gives a pipelined function new arguments in every clock and compares what it returns with vectors.hex.
module core_bench;
  parameter NUMBER = 2000;

  reg clock = 0;
  reg reset = 0;
  reg start = 0;
  reg [159:0] vectors[0:NUMBER-1];
  reg [95:0] arguments = 0;
  wire done;
  wire [63:0] result;
  integer in = 0, out = 0, different = 0, first = -1, clocks = 0;

  core unit (
      .clock(clock),
      .reset(reset),
      .start_port(start),
      .a(arguments[63:0]),
      .b(arguments[95:64]),
      .done_port(done),
      .return_port(result)
  );

  always #2 clock = ~clock;

  initial begin
    $readmemh("vectors.hex", vectors);
    repeat (5) @(negedge clock);
    reset = 1;
    @(negedge clock);
    while (out < NUMBER && clocks < 100 * NUMBER) begin
      start = in < NUMBER;
      if (in < NUMBER) arguments = vectors[in][159:64];
      in = in + 1;
      @(negedge clock);
      clocks = clocks + 1;
      if (done) begin
        if (first < 0) first = clocks;
        if (result !== vectors[out][63:0]) different = different + 1;
        out = out + 1;
      end
    end
    $display("results %0d different %0d clocks %0d first %0d", out, different, clocks, first);
    $finish;
  end
endmodule
