// SPDX-License-Identifier: Apache-2.0
// Made by `python -m clarion_contract.generate` from functions.yaml; do not edit.
// The block's functions in C++ (functions_dpi.cpp) with the clocks that they may take. Results of a clock
// without arguments are all ones, so that a shell that uses them is found out.
`default_nettype none
// One file has all modules, and none of them is above the others.
// verilator lint_off DECLFILENAME
// verilator lint_off MULTITOP

// Results of a call, LATENCY clocks later; all ones where there was none.
module clarion_results #(
    parameter logic [31:0] WIDTH = 1,  // bits
    parameter logic [31:0] LATENCY = 0  // clocks
) (
    input wire clk_i,
    input wire valid_i,
    input wire [WIDTH-1:0] results_i,
    output wire [WIDTH-1:0] results_o
);
  wire valid;
  wire [WIDTH-1:0] results;

  clarion_pipe #(
      .WIDTH(WIDTH),
      .LATENCY(LATENCY)
  ) pipe (
      .clk_i,
      .rst_ni(1'b1),
      .valid_i,
      .data_i(results_i),
      .valid_o(valid),
      .data_o(results)
  );

  assign results_o = valid ? results : '1;
endmodule

// which bytes of a beat count
module clarion_lanes #(
    parameter logic [31:0] LATENCY = clarion_block_pkg::LANES_LATENCY  // clocks to the results
) (
    input wire clk_i,
    input wire valid_i,  // there are arguments
    input wire clarion_block_pkg::lanes_arguments_t arguments_i,
    output clarion_block_pkg::lanes_results_t results_o  // LATENCY edges later
);
  import "DPI-C" function void clarion_lanes_dpi(
    input  bit [63:0] arguments,
    output bit [8:0] results
  );

  typedef clarion_block_pkg::lanes_results_t results_t;

  function automatic results_t called(input bit [63:0] arguments);
    bit [8:0] results;
    clarion_lanes_dpi(arguments, results);
    called = results;
  endfunction

  logic called_q = 0;
  results_t results_q;

  always @(posedge clk_i) begin
    called_q <= valid_i;
    if (valid_i) results_q <= called(arguments_i);
  end

  clarion_results #(
      .WIDTH(8 + 1),
      .LATENCY(LATENCY - 1)
  ) rest (
      .clk_i,
      .valid_i(called_q),
      .results_i(results_q),
      .results_o
  );
endmodule

// the Clarion header of a frame, if it has one
module clarion_classify #(
    parameter logic [31:0] LATENCY = clarion_block_pkg::CLASSIFY_LATENCY  // clocks to the results
) (
    input wire clk_i,
    input wire valid_i,  // there are arguments
    input wire clarion_block_pkg::classify_arguments_t arguments_i,
    output clarion_block_pkg::classify_results_t results_o  // LATENCY edges later
);
  import "DPI-C" function void clarion_classify_dpi(
    input  bit [919:0] arguments,
    output bit [180:0] results
  );

  typedef clarion_block_pkg::classify_results_t results_t;

  function automatic results_t called(input bit [919:0] arguments);
    bit [180:0] results;
    clarion_classify_dpi(arguments, results);
    called = results;
  endfunction

  logic called_q = 0;
  results_t results_q;

  always @(posedge clk_i) begin
    called_q <= valid_i;
    if (valid_i) results_q <= called(arguments_i);
  end

  clarion_results #(
      .WIDTH(180 + 1),
      .LATENCY(LATENCY - 1)
  ) rest (
      .clk_i,
      .valid_i(called_q),
      .results_i(results_q),
      .results_o
  );
endmodule

// a packet's number against what its bucket expects
module clarion_judge #(
    parameter logic [31:0] LATENCY = clarion_block_pkg::JUDGE_LATENCY  // clocks to the results
) (
    input wire clk_i,
    input wire valid_i,  // there are arguments
    input wire clarion_block_pkg::judge_arguments_t arguments_i,
    output clarion_block_pkg::judge_results_t results_o  // LATENCY edges later
);
  import "DPI-C" function void clarion_judge_dpi(
    input  bit [57:0] arguments,
    output bit [56:0] results
  );

  typedef clarion_block_pkg::judge_results_t results_t;

  function automatic results_t called(input bit [57:0] arguments);
    bit [56:0] results;
    clarion_judge_dpi(arguments, results);
    called = results;
  endfunction

  logic called_q = 0;
  results_t results_q;

  always @(posedge clk_i) begin
    called_q <= valid_i;
    if (valid_i) results_q <= called(arguments_i);
  end

  clarion_results #(
      .WIDTH(56 + 1),
      .LATENCY(LATENCY - 1)
  ) rest (
      .clk_i,
      .valid_i(called_q),
      .results_i(results_q),
      .results_o
  );
endmodule

// the number after this one
module clarion_number #(
    parameter logic [31:0] LATENCY = clarion_block_pkg::NUMBER_LATENCY  // clocks to the results
) (
    input wire clk_i,
    input wire valid_i,  // there are arguments
    input wire clarion_block_pkg::number_arguments_t arguments_i,
    output clarion_block_pkg::number_results_t results_o  // LATENCY edges later
);
  import "DPI-C" function void clarion_number_dpi(
    input  bit [15:0] arguments,
    output bit [15:0] results
  );

  typedef clarion_block_pkg::number_results_t results_t;

  function automatic results_t called(input bit [15:0] arguments);
    bit [15:0] results;
    clarion_number_dpi(arguments, results);
    called = results;
  endfunction

  logic called_q = 0;
  results_t results_q;

  always @(posedge clk_i) begin
    called_q <= valid_i;
    if (valid_i) results_q <= called(arguments_i);
  end

  clarion_results #(
      .WIDTH(15 + 1),
      .LATENCY(LATENCY - 1)
  ) rest (
      .clk_i,
      .valid_i(called_q),
      .results_i(results_q),
      .results_o
  );
endmodule

// what a DATA packet adds to the sum of x * rtt
module clarion_weight #(
    parameter logic [31:0] LATENCY = clarion_block_pkg::WEIGHT_LATENCY  // clocks to the results
) (
    input wire clk_i,
    input wire valid_i,  // there are arguments
    input wire clarion_block_pkg::weight_arguments_t arguments_i,
    output clarion_block_pkg::weight_results_t results_o  // LATENCY edges later
);
  import "DPI-C" function void clarion_weight_dpi(
    input  bit [95:0] arguments,
    output bit [55:0] results
  );

  typedef clarion_block_pkg::weight_results_t results_t;

  function automatic results_t called(input bit [95:0] arguments);
    bit [55:0] results;
    clarion_weight_dpi(arguments, results);
    called = results;
  endfunction

  logic called_q = 0;
  results_t results_q;

  always @(posedge clk_i) begin
    called_q <= valid_i;
    if (valid_i) results_q <= called(arguments_i);
  end

  clarion_results #(
      .WIDTH(55 + 1),
      .LATENCY(LATENCY - 1)
  ) rest (
      .clk_i,
      .valid_i(called_q),
      .results_i(results_q),
      .results_o
  );
endmodule

// a packet joins the sums of the interval, or begins those of the next
module clarion_sums #(
    parameter logic [31:0] LATENCY = clarion_block_pkg::SUMS_LATENCY  // clocks to the results
) (
    input wire clk_i,
    input wire valid_i,  // there are arguments
    input wire clarion_block_pkg::sums_arguments_t arguments_i,
    output clarion_block_pkg::sums_results_t results_o  // LATENCY edges later
);
  import "DPI-C" function void clarion_sums_dpi(
    input  bit [265:0] arguments,
    output bit [159:0] results
  );

  typedef clarion_block_pkg::sums_results_t results_t;

  function automatic results_t called(input bit [265:0] arguments);
    bit [159:0] results;
    clarion_sums_dpi(arguments, results);
    called = results;
  endfunction

  logic called_q = 0;
  results_t results_q;

  always @(posedge clk_i) begin
    called_q <= valid_i;
    if (valid_i) results_q <= called(arguments_i);
  end

  clarion_results #(
      .WIDTH(159 + 1),
      .LATENCY(LATENCY - 1)
  ) rest (
      .clk_i,
      .valid_i(called_q),
      .results_i(results_q),
      .results_o
  );
endmodule

// the persistent queue, as a packet leaves and one joins, in this order
module clarion_tracker #(
    parameter logic [31:0] LATENCY = clarion_block_pkg::TRACKER_LATENCY  // clocks to the results
) (
    input wire clk_i,
    input wire valid_i,  // there are arguments
    input wire clarion_block_pkg::tracker_arguments_t arguments_i,
    output clarion_block_pkg::tracker_results_t results_o  // LATENCY edges later
);
  import "DPI-C" function void clarion_tracker_dpi(
    input  bit [324:0] arguments,
    output bit [144:0] results
  );

  typedef clarion_block_pkg::tracker_results_t results_t;

  function automatic results_t called(input bit [324:0] arguments);
    bit [144:0] results;
    clarion_tracker_dpi(arguments, results);
    called = results;
  endfunction

  logic called_q = 0;
  results_t results_q;

  always @(posedge clk_i) begin
    called_q <= valid_i;
    if (valid_i) results_q <= called(arguments_i);
  end

  clarion_results #(
      .WIDTH(144 + 1),
      .LATENCY(LATENCY - 1)
  ) rest (
      .clk_i,
      .valid_i(called_q),
      .results_i(results_q),
      .results_o
  );
endmodule

// how long an interval lasts
module clarion_length #(
    parameter logic [31:0] LATENCY = clarion_block_pkg::LENGTH_LATENCY  // clocks to the results
) (
    input wire clk_i,
    input wire valid_i,  // there are arguments
    input wire clarion_block_pkg::length_arguments_t arguments_i,
    output clarion_block_pkg::length_results_t results_o  // LATENCY edges later
);
  import "DPI-C" function void clarion_length_dpi(
    input  bit [95:0] arguments,
    output bit [31:0] results
  );

  typedef clarion_block_pkg::length_results_t results_t;

  function automatic results_t called(input bit [95:0] arguments);
    bit [31:0] results;
    clarion_length_dpi(arguments, results);
    called = results;
  endfunction

  logic called_q = 0;
  results_t results_q;

  always @(posedge clk_i) begin
    called_q <= valid_i;
    if (valid_i) results_q <= called(arguments_i);
  end

  clarion_results #(
      .WIDTH(31 + 1),
      .LATENCY(LATENCY - 1)
  ) rest (
      .clk_i,
      .valid_i(called_q),
      .results_i(results_q),
      .results_o
  );
endmodule

// does the packet that arrives end the interval
module clarion_over #(
    parameter logic [31:0] LATENCY = clarion_block_pkg::OVER_LATENCY  // clocks to the results
) (
    input wire clk_i,
    input wire valid_i,  // there are arguments
    input wire clarion_block_pkg::over_arguments_t arguments_i,
    output clarion_block_pkg::over_results_t results_o  // LATENCY edges later
);
  import "DPI-C" function void clarion_over_dpi(
    input  bit [160:0] arguments,
    output bit [97:0] results
  );

  typedef clarion_block_pkg::over_results_t results_t;

  function automatic results_t called(input bit [160:0] arguments);
    bit [97:0] results;
    clarion_over_dpi(arguments, results);
    called = results;
  endfunction

  logic called_q = 0;
  results_t results_q;

  always @(posedge clk_i) begin
    called_q <= valid_i;
    if (valid_i) results_q <= called(arguments_i);
  end

  clarion_results #(
      .WIDTH(97 + 1),
      .LATENCY(LATENCY - 1)
  ) rest (
      .clk_i,
      .valid_i(called_q),
      .results_i(results_q),
      .results_o
  );
endmodule

// what a departing DATA packet may have, as far as it does not depend on the pools
module clarion_offer #(
    parameter logic [31:0] LATENCY = clarion_block_pkg::OFFER_LATENCY  // clocks to the results
) (
    input wire clk_i,
    input wire valid_i,  // there are arguments
    input wire clarion_block_pkg::offer_arguments_t arguments_i,
    output clarion_block_pkg::offer_results_t results_o  // LATENCY edges later
);
  import "DPI-C" function void clarion_offer_dpi(
    input  bit [313:0] arguments,
    output bit [153:0] results
  );

  typedef clarion_block_pkg::offer_results_t results_t;

  function automatic results_t called(input bit [313:0] arguments);
    bit [153:0] results;
    clarion_offer_dpi(arguments, results);
    called = results;
  endfunction

  logic called_q = 0;
  results_t results_q;

  always @(posedge clk_i) begin
    called_q <= valid_i;
    if (valid_i) results_q <= called(arguments_i);
  end

  clarion_results #(
      .WIDTH(153 + 1),
      .LATENCY(LATENCY - 1)
  ) rest (
      .clk_i,
      .valid_i(called_q),
      .results_i(results_q),
      .results_o
  );
endmodule

// a packet leaves and joins the sums of departures
module clarion_own #(
    parameter logic [31:0] LATENCY = clarion_block_pkg::OWN_LATENCY  // clocks to the results
) (
    input wire clk_i,
    input wire valid_i,  // there are arguments
    input wire clarion_block_pkg::own_arguments_t arguments_i,
    output clarion_block_pkg::own_results_t results_o  // LATENCY edges later
);
  import "DPI-C" function void clarion_own_dpi(
    input  bit [329:0] arguments,
    output bit [214:0] results
  );

  typedef clarion_block_pkg::own_results_t results_t;

  function automatic results_t called(input bit [329:0] arguments);
    bit [214:0] results;
    clarion_own_dpi(arguments, results);
    called = results;
  endfunction

  logic called_q = 0;
  results_t results_q;

  always @(posedge clk_i) begin
    called_q <= valid_i;
    if (valid_i) results_q <= called(arguments_i);
  end

  clarion_results #(
      .WIDTH(214 + 1),
      .LATENCY(LATENCY - 1)
  ) rest (
      .clk_i,
      .valid_i(called_q),
      .results_i(results_q),
      .results_o
  );
endmodule

// what a departing DATA packet is paid from the pools
module clarion_grant #(
    parameter logic [31:0] LATENCY = clarion_block_pkg::GRANT_LATENCY  // clocks to the results
) (
    input wire clk_i,
    input wire valid_i,  // there are arguments
    input wire clarion_block_pkg::grant_arguments_t arguments_i,
    output clarion_block_pkg::grant_results_t results_o  // LATENCY edges later
);
  import "DPI-C" function void clarion_grant_dpi(
    input  bit [304:0] arguments,
    output bit [185:0] results
  );

  typedef clarion_block_pkg::grant_results_t results_t;

  function automatic results_t called(input bit [304:0] arguments);
    bit [185:0] results;
    clarion_grant_dpi(arguments, results);
    called = results;
  endfunction

  logic called_q = 0;
  results_t results_q;

  always @(posedge clk_i) begin
    called_q <= valid_i;
    if (valid_i) results_q <= called(arguments_i);
  end

  clarion_results #(
      .WIDTH(185 + 1),
      .LATENCY(LATENCY - 1)
  ) rest (
      .clk_i,
      .valid_i(called_q),
      .results_i(results_q),
      .results_o
  );
endmodule

// the bytes of a header that change
module clarion_patch #(
    parameter logic [31:0] LATENCY = clarion_block_pkg::PATCH_LATENCY  // clocks to the results
) (
    input wire clk_i,
    input wire valid_i,  // there are arguments
    input wire clarion_block_pkg::patch_arguments_t arguments_i,
    output clarion_block_pkg::patch_results_t results_o  // LATENCY edges later
);
  import "DPI-C" function void clarion_patch_dpi(
    input  bit [160:0] arguments,
    output bit [287:0] results
  );

  typedef clarion_block_pkg::patch_results_t results_t;

  function automatic results_t called(input bit [160:0] arguments);
    bit [287:0] results;
    clarion_patch_dpi(arguments, results);
    called = results;
  endfunction

  logic called_q = 0;
  results_t results_q;

  always @(posedge clk_i) begin
    called_q <= valid_i;
    if (valid_i) results_q <= called(arguments_i);
  end

  clarion_results #(
      .WIDTH(287 + 1),
      .LATENCY(LATENCY - 1)
  ) rest (
      .clk_i,
      .valid_i(called_q),
      .results_i(results_q),
      .results_o
  );
endmodule

// the end of an interval
module clarion_control #(
    parameter logic [31:0] LATENCY = clarion_block_pkg::CONTROL_LATENCY  // clocks to the results
) (
    input wire clk_i,
    input wire valid_i,  // there are arguments
    input wire clarion_block_pkg::control_arguments_t arguments_i,
    output clarion_block_pkg::control_results_t results_o  // LATENCY edges later
);
  import "DPI-C" function void clarion_control_dpi(
    input  bit [847:0] arguments,
    output bit [420:0] results
  );

  typedef clarion_block_pkg::control_results_t results_t;

  function automatic results_t called(input bit [847:0] arguments);
    bit [420:0] results;
    clarion_control_dpi(arguments, results);
    called = results;
  endfunction

  logic called_q = 0;
  results_t results_q;

  always @(posedge clk_i) begin
    called_q <= valid_i;
    if (valid_i) results_q <= called(arguments_i);
  end

  clarion_results #(
      .WIDTH(420 + 1),
      .LATENCY(LATENCY - 1)
  ) rest (
      .clk_i,
      .valid_i(called_q),
      .results_i(results_q),
      .results_o
  );
endmodule

// verilator lint_on DECLFILENAME
// verilator lint_on MULTITOP
`default_nettype wire
