// SPDX-License-Identifier: Apache-2.0
// clarion_bucket_memory: in any bucket, the slot that a packet is shown is what the last packet before it wrote there,
// under any pattern of lookups, with writes left out, and with resets at any time.
// The first clock is one of reset; before it registers may hold anything, memory is zero.
`default_nettype none
module clarion_bucket_memory_properties #(
    parameter logic [31:0] BUCKETS = 2,
    parameter logic [31:0] READ_LATENCY = 2
) (
    input wire clk_i,
    input wire rst_ni,
    input wire look_i,
    input wire [15:0] look_bucket_i,
    input wire write_i,
    input wire write_slot_i
);
  localparam logic [31:0] BITS = $clog2(BUCKETS);

  wire slot_valid;
  wire [15:0] slot_bucket;
  wire slot;

  clarion_bucket_memory #(
      .BUCKETS(BUCKETS),
      .WIDTH(1),
      .READ_LATENCY(READ_LATENCY)
  ) bucket_memory (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .look_i(look_i),
      .look_bucket_i(look_bucket_i),
      .slot_valid_o(slot_valid),
      .slot_bucket_o(slot_bucket),
      .slot_o(slot),
      .write_i(write_i),
      .write_slot_i(write_slot_i)
  );

  // One bucket is watched, and one bit of the name of the packet's bucket besides.
  // verilator lint_off UNDRIVEN
  (* anyconst *) logic [BITS-1:0] watched;
  (* anyconst *) logic [3:0] watched_bit;
  // verilator lint_on UNDRIVEN

  logic begun_q = 1'b0;
  logic is_watched;
  logic [READ_LATENCY+1:0] looked;  // [n]: a lookup n clocks ago, not forgotten
  logic [READ_LATENCY+1:0] concerned;  // of the watched bucket
  logic [READ_LATENCY+1:0] bit_line;
  logic [READ_LATENCY+1:1] looked_q;
  logic [READ_LATENCY+1:1] concerned_q;
  logic [READ_LATENCY+1:1] bit_q;
  logic slot_q = 1'b0;  // what packets wrote before this clock
  logic writes;

  assign is_watched = look_bucket_i[BITS-1:0] == watched;
  assign looked = {looked_q, look_i};
  assign concerned = {concerned_q, look_i && is_watched};
  assign bit_line = {bit_q, look_bucket_i[watched_bit]};
  assign writes = write_i && concerned[READ_LATENCY+1] && rst_ni;

  always_ff @(posedge clk_i) begin
    begun_q <= 1'b1;
    looked_q <= rst_ni ? looked[READ_LATENCY:0] : '0;
    concerned_q <= rst_ni ? concerned[READ_LATENCY:0] : '0;
    bit_q <= bit_line[READ_LATENCY:0];
    if (writes) slot_q <= write_slot_i;
  end

  always_comb begin
    if (!begun_q) first_clock : assume (!rst_ni);
    if (begun_q) begin
      when : assert (slot_valid == looked[READ_LATENCY]);
      if (slot_valid) whose : assert (slot_bucket[watched_bit] == bit_line[READ_LATENCY]);
      // In a clock of reset the packet is forgotten, as is what is written.
      if (concerned[READ_LATENCY] && rst_ni) what : assert (slot == (writes ? write_slot_i : slot_q));

      reaches_one_right_behind : assert (!(concerned[READ_LATENCY] && writes && write_slot_i && !slot_q));
      reaches_all_concerned : assert (concerned != '1);
      reaches_remembered : assert (!(concerned == (READ_LATENCY + 2)'(1 << READ_LATENCY) && slot_q));
    end
  end
endmodule
`default_nettype wire
