// SPDX-License-Identifier: Apache-2.0
// A FIFO with a valid/ready handshake on both sides: one word in and one out per clock, the oldest word is shown before
// it is taken. `ready_o` depends on registers only. While rst_ni is low nothing is taken, whatever ready_o says.
//
//   distributed   DEPTH words of LUT RAM; a word is shown one clock after it came; data_o is a read of that memory.
//   block, ultra  DEPTH words of memory and 4 that have left it on their way out: DEPTH + 4 words in all; in an empty
//                 FIFO a word is shown four clocks after it came; data_o is a register.
`default_nettype none
module clarion_fifo #(
    parameter logic [31:0] WIDTH = 8,        // bits of a word, 1 or more
    parameter logic [31:0] DEPTH = 16,       // words of memory, a power of two, 2 or more
    parameter              STYLE = "block"   // "block", "ultra" or "distributed"
) (
    input wire clk_i,
    input wire rst_ni,

    input  wire              valid_i,
    output logic             ready_o,
    input  wire  [WIDTH-1:0] data_i,

    output logic             valid_o,
    input  wire              ready_i,
    output logic [WIDTH-1:0] data_o,

    output logic [$clog2(DEPTH)+1:0] count_o  // words inside
);
  localparam logic [31:0] BITS = $clog2(DEPTH);
  // verilator lint_off WIDTH
  localparam logic IS_DISTRIBUTED = STYLE == "distributed";
  // verilator lint_on WIDTH

`ifndef __ICARUS__  // which has no such check
  if (WIDTH < 1) $error("clarion_fifo: WIDTH: 1 or more is needed");
  if (DEPTH < 2 || (DEPTH & (DEPTH - 1)) != 0) $error("clarion_fifo: DEPTH: a power of two is needed, 2 or more");
`endif

  // The ring of words in memory.
  logic [BITS-1:0] tail_q;  // where the next word is put
  logic [BITS-1:0] head_q;  // where the oldest is
  logic [BITS:0] used_q;
  logic put;
  logic take;

  assign ready_o = !used_q[BITS];
  assign put = valid_i && ready_o;

  always_ff @(posedge clk_i) begin
    if (put) tail_q <= tail_q + 1'b1;
    if (take) head_q <= head_q + 1'b1;
    if (put && !take) used_q <= used_q + 1'b1;
    if (take && !put) used_q <= used_q - 1'b1;
    if (!rst_ni) begin
      tail_q <= '0;
      head_q <= '0;
      used_q <= '0;
    end
  end

`ifndef SYNTHESIS
`ifndef __ICARUS__
  always_ff @(posedge clk_i) begin
    if (rst_ni) memory_overflow : assert (used_q <= (BITS + 1)'(DEPTH));
    if (rst_ni) memory_ring : assert (used_q[BITS-1:0] == BITS'(tail_q - head_q));
  end
`endif
`endif

  if (IS_DISTRIBUTED) begin : shown_from_memory
    logic [WIDTH-1:0] words[DEPTH];

    always_ff @(posedge clk_i) if (put) words[tail_q] <= data_i;

    assign valid_o = used_q != '0;
    assign take = valid_o && ready_i;
    assign data_o = words[head_q];
    assign count_o = {1'b0, used_q};
  end else begin : fetched
    // A word that has left memory is in the two registers of the read port, then in the output register or, while that
    // is taken, in one of the places before it. It is counted in `ahead_q` all the time, and fetched only if there is
    // a place for it wherever it may be stopped. Four is the number of clocks from one fetch to when its place is
    // known to be free again: with less, words would not flow in every clock.
    logic [2:0] ahead_q;
    logic [1:0] fetched_q;  // [1]: a word comes out of the read port in this clock
    logic [WIDTH-1:0] fetched_word;
    logic [WIDTH-1:0] places[4];  // at most three are taken
    logic [1:0] last_q;
    logic [1:0] first_q;
    logic valid_q;
    logic [WIDTH-1:0] data_q;
    logic moves;  // the output register is free, or will be
    logic waits;  // a word is in one of the places
    logic leaves;

    assign take = used_q != '0 && !ahead_q[2];
    assign waits = first_q != last_q;
    assign moves = ready_i || !valid_q;
    assign leaves = valid_q && ready_i;

    clarion_ram #(
        .WIDTH(WIDTH),
        .DEPTH(DEPTH),
        .STYLE(STYLE),
        .READ_LATENCY(2)
    ) ram (
        .clk_i(clk_i),
        .write_i(put),
        .write_address_i(tail_q),
        .write_data_i(data_i),
        .read_address_i(head_q),
        .read_data_o(fetched_word)
    );

    always_ff @(posedge clk_i) begin
      fetched_q <= {fetched_q[0], take};
      if (take && !leaves) ahead_q <= ahead_q + 1'b1;
      if (leaves && !take) ahead_q <= ahead_q - 1'b1;
      if (moves) valid_q <= waits || fetched_q[1];
      if (moves && waits) first_q <= first_q + 1'b1;
      if (fetched_q[1] && (waits || !moves)) last_q <= last_q + 1'b1;
      if (!rst_ni) begin
        fetched_q <= '0;
        ahead_q <= '0;
        valid_q <= 1'b0;
        first_q <= '0;
        last_q <= '0;
      end
    end

    always_ff @(posedge clk_i) begin
      if (fetched_q[1]) places[last_q] <= fetched_word;  // of no use if it goes right into the output register
      if (moves && waits) data_q <= places[first_q];
      else if (moves && fetched_q[1]) data_q <= fetched_word;
    end

    assign valid_o = valid_q;
    assign data_o = data_q;
    assign count_o = (BITS + 2)'(used_q) + (BITS + 2)'(ahead_q);

`ifndef SYNTHESIS
`ifndef __ICARUS__
    logic [1:0] waiting;
    assign waiting = last_q - first_q;
    always_ff @(posedge clk_i) begin
      if (rst_ni) ahead_count : assert (ahead_q == 3'(fetched_q[0]) + 3'(fetched_q[1]) + 3'(waiting) + 3'(valid_q));
      if (rst_ni) ahead_overflow : assert (ahead_q <= 3'd4);
      if (rst_ni) waits_behind_a_word : assert (valid_q || !waits);
    end
`endif
`endif
  end

endmodule
`default_nettype wire
