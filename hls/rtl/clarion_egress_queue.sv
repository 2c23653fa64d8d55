// SPDX-License-Identifier: Apache-2.0
// Frames that wait in packet memory: each is numbered as it joins, and stands here until it leaves.

module clarion_egress_queue #(
    parameter logic [31:0] BUCKETS = 4096,  // a power of two, 2 to 65536
    parameter logic [31:0] QUEUE_BEATS = 4096  // packet memory: each frame has a beat at least
) (
    input wire clk_i,
    input wire rst_ni,

    // A packet has been decided on. Dropped ones are numbered, too: so the drop is found out behind the queue.
    input wire joins_i,
    input clarion_block_pkg::waiting_t joins_waiting_i,  // but for queue_seq

    output wire waiting_valid_o,
    input  wire waiting_ready_i,
    output clarion_block_pkg::waiting_t waiting_o,

    // The number that a bucket's next packet gets, RAM_LATENCY + 1 clocks later; between packets only.
    input wire peek_i,
    input wire [15:0] peek_bucket_i,
    output logic [15:0] peek_number_o
);
  wire read_valid, number_valid;
  wire [15:0] number;
  clarion_block_pkg::waiting_t read, stands_q;
  logic stands_valid_q;
  logic was_numbered_q;
  clarion_block_pkg::number_arguments_t asked;
  clarion_block_pkg::number_results_t next;

  clarion_pipe #(
      .WIDTH($bits(read)),
      .LATENCY(clarion_sizes_pkg::RAM_LATENCY)
  ) read_pipe (
      .clk_i,
      .rst_ni,
      .valid_i(joins_i),
      .data_i(joins_waiting_i),
      .valid_o(read_valid),
      .data_o(read)
  );
  clarion_bucket_memory #(
      .BUCKETS(BUCKETS),
      .WIDTH(16),
      .READ_LATENCY(clarion_sizes_pkg::RAM_LATENCY)
  ) numbers (
      .clk_i,
      .rst_ni,
      .look_i((joins_i && joins_waiting_i.in_queue) || peek_i),
      .look_bucket_i(peek_i ? peek_bucket_i : joins_waiting_i.meta.bucket),
      .slot_valid_o(number_valid),
      .slot_bucket_o(),
      .slot_o(number),
      .write_i(was_numbered_q),
      .write_slot_i(next.number)
  );

  assign asked.number = number;
  clarion_number number_after (
      .clk_i,
      .valid_i(number_valid && read_valid),
      .arguments_i(asked),
      .results_o(next)
  );

  always_ff @(posedge clk_i) begin
    was_numbered_q <= rst_ni && number_valid && read_valid;
    stands_valid_q <= rst_ni && read_valid && read.stored != 0;
    if (read_valid) begin
      stands_q <= read;
      stands_q.queue_seq <= number;
    end
    if (number_valid) peek_number_o <= number;
  end

  wire has_room;
  clarion_fifo #(
      .WIDTH($bits(stands_q)),
      .DEPTH(QUEUE_BEATS),
      .STYLE("block")
  ) room (
      .clk_i,
      .rst_ni,
      .valid_i(stands_valid_q),
      .ready_o(has_room),
      .data_i(stands_q),
      .valid_o(waiting_valid_o),
      .ready_i(waiting_ready_i),
      .data_o(waiting_o),
      .count_o()
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (rst_ni && stands_valid_q) room_for_each_frame : assert (has_room);
`endif
endmodule
