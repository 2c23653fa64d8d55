// SPDX-License-Identifier: Apache-2.0
// One word of the tokens of a stream between two units. A stream of several words has a queue for each, all of one
// depth: a unit writes and reads the first one first.
`default_nettype none
interface word_stream;
  logic [511:0] tdata;
  logic tvalid;
  logic tready;
endinterface

// DEPTH words in a memory that is read in a clock, and one in the register behind it. Of each word WIDTH bits are kept;
// no more are used.
module stream_fifo #(
    parameter int unsigned WIDTH = 512,
    parameter int unsigned DEPTH = 2
) (
    input wire clock,
    input wire reset_n,
    word_stream from,
    word_stream to
);
  localparam int unsigned PLACE_BITS = DEPTH > 1 ? $clog2(DEPTH) : 1;

  logic [WIDTH-1:0] words[DEPTH];
  logic [WIDTH-1:0] next;
  logic [PLACE_BITS-1:0] tail, head;
  logic [31:0] held;
  logic offers;

  wire takes = from.tvalid && from.tready;
  wire fetches = held != 0 && (!offers || to.tready);

  assign from.tready = held != DEPTH;
  assign to.tvalid = offers;
  assign to.tdata = 512'(next);

  function automatic logic [PLACE_BITS-1:0] after(input logic [PLACE_BITS-1:0] place);
    return 32'(place) == DEPTH - 1 ? '0 : place + 1'b1;
  endfunction

  always_ff @(posedge clock) begin
    if (takes) words[tail] <= from.tdata[WIDTH-1:0];
    if (fetches) next <= words[head];
  end

  always_ff @(posedge clock) begin
    if (!reset_n) begin
      tail <= '0;
      head <= '0;
      held <= 0;
      offers <= 1'b0;
    end else begin
      if (takes) tail <= after(tail);
      if (fetches) head <= after(head);
      held <= held + 32'(takes) - 32'(fetches);
      offers <= fetches || (offers && !to.tready);
    end
  end
endmodule
`default_nettype wire
