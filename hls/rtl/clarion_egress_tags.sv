// SPDX-License-Identifier: Apache-2.0
// A packet leaves the queue: drops before it in its bucket are found out by its number, and it gets the link's.
// RAM_LATENCY + 1 clocks.

// Structs have members for other stages, too:
// verilator lint_off UNUSEDSIGNAL
module clarion_egress_tags #(
    parameter logic [31:0] BUCKETS = 4096  // a power of two, 2 to 65536
) (
    input wire clk_i,
    input wire rst_ni,

    input wire leaves_i,
    input clarion_block_pkg::waiting_t waiting_i,

    output wire departs_o,
    output clarion_block_pkg::departure_t departure_o,

    input wire clear_i,  // the counters
    output wire [63:0] lost_o,  // drops found so far
    output wire [63:0] late_o,
    output wire [63:0] rebased_o,

    // The state of a bucket, RAM_LATENCY + 1 clocks later; between packets only.
    input wire peek_i,
    input wire [15:0] peek_bucket_i,
    output clarion_block_pkg::slot_t peek_slot_o,
    output logic [15:0] peek_link_o
);
  wire numbered = leaves_i && waiting_i.send && waiting_i.in_queue;  // what is dropped is found out by the next
  wire look = numbered || peek_i;
  wire [15:0] bucket = peek_i ? peek_bucket_i : waiting_i.meta.bucket;

  wire read_valid, slot_valid, link_valid, judged_valid;
  clarion_block_pkg::waiting_t read, judged;
  clarion_block_pkg::slot_t slot;
  wire [15:0] link;
  logic [15:0] link_q;
  wire checks = read_valid && slot_valid;
  logic checked_q;

  clarion_block_pkg::judge_arguments_t judge_asked;
  clarion_block_pkg::judge_results_t verdict;
  clarion_block_pkg::number_arguments_t number_asked;
  clarion_block_pkg::number_results_t next;

  clarion_pipe #(
      .WIDTH($bits(read)),
      .LATENCY(clarion_sizes_pkg::RAM_LATENCY)
  ) read_pipe (
      .clk_i,
      .rst_ni,
      .valid_i(leaves_i),
      .data_i(waiting_i),
      .valid_o(read_valid),
      .data_o(read)
  );
  clarion_pipe #(
      .WIDTH($bits(judged)),
      .LATENCY(clarion_block_pkg::JUDGE_LATENCY)
  ) judge_pipe (
      .clk_i,
      .rst_ni,
      .valid_i(read_valid),
      .data_i(read),
      .valid_o(judged_valid),
      .data_o(judged)
  );
  clarion_bucket_memory #(
      .BUCKETS(BUCKETS),
      .WIDTH($bits(slot)),
      .READ_LATENCY(clarion_sizes_pkg::RAM_LATENCY)
  ) slots (
      .clk_i,
      .rst_ni,
      .look_i(look),
      .look_bucket_i(bucket),
      .slot_valid_o(slot_valid),
      .slot_bucket_o(),
      .slot_o(slot),
      .write_i(checked_q),
      .write_slot_i(verdict.slot)
  );
  clarion_bucket_memory #(
      .BUCKETS(BUCKETS),
      .WIDTH(16),
      .READ_LATENCY(clarion_sizes_pkg::RAM_LATENCY)
  ) links (
      .clk_i,
      .rst_ni,
      .look_i(look),
      .look_bucket_i(bucket),
      .slot_valid_o(link_valid),
      .slot_bucket_o(),
      .slot_o(link),
      .write_i(checked_q),
      .write_slot_i(next.number)
  );

  assign judge_asked.slot = slot;
  assign judge_asked.number = read.queue_seq;
  assign judge_asked.counts = 1'b1;
  assign number_asked.number = link;

  clarion_judge judge (
      .clk_i,
      .valid_i(checks),
      .arguments_i(judge_asked),
      .results_o(verdict)
  );
  clarion_number number_after (
      .clk_i,
      .valid_i(checks),
      .arguments_i(number_asked),
      .results_o(next)
  );

  always_ff @(posedge clk_i) begin
    checked_q <= rst_ni && checks;
    link_q <= link;
    if (slot_valid) peek_slot_o <= slot;
    if (link_valid) peek_link_o <= link;
  end

  assign departs_o = judged_valid;
  always_comb begin
    departure_o.stored = judged.stored;
    departure_o.send = judged.send;
    departure_o.length = judged.length;
    departure_o.offset = judged.meta.offset;
    departure_o.kind = judged.send ? judged.meta.kind : 2'd0;
    departure_o.numbered = checked_q;
    departure_o.link_seq = link_q;
    departure_o.corrupt = judged.meta.corrupt;
    departure_o.congest = judged.meta.congest;
    if (checked_q) departure_o.congest = judged.meta.congest + verdict.slot.total;
    departure_o.regulated = judged.send && judged.xcp && judged.meta.kind == clarion_sizes_pkg::DATA;
    departure_o.maxmin = judged.maxmin;
    departure_o.rtt = judged.meta.rtt;
    departure_o.requested = judged.meta.delta_throughput;
    departure_o.flags = judged.meta.flags;
    departure_o.field = judged.field;
  end

  clarion_counter #(
      .STEP_BITS(14)
  ) count_lost (
      .clk_i,
      .rst_ni,
      .clear_i,
      .add_i(checked_q ? verdict.lost : 14'd0),
      .value_o(lost_o)
  );
  clarion_counter count_late (.clk_i, .rst_ni, .clear_i, .add_i(checked_q && verdict.late), .value_o(late_o));
  clarion_counter count_rebased (.clk_i, .rst_ni, .clear_i, .add_i(checked_q && verdict.rebased), .value_o(rebased_o));
endmodule
