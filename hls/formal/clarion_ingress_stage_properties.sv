// SPDX-License-Identifier: Apache-2.0
// clarion_ingress_stage among packets, free places and commands that come at any time: each stored packet is released
// once, to a place; each command is answered once, when all before it is settled; and after a reset no bucket has the
// epoch that it had.
// The first clock is one of reset; before it registers may hold anything, memory is zero.
`default_nettype none

// A few bits stand for all:
// verilator lint_off UNUSEDSIGNAL
module clarion_ingress_stage_properties #(
    parameter logic [31:0] BUCKETS = 2,
    parameter logic [31:0] RELEASES = 2  // up to 6
) (
    input wire clk_i,
    input wire rst_ni,
    input wire packet_valid_i,
    input wire stored_i,
    input wire whole_i,
    input wire errored_i,
    input wire tags_i,
    input wire bucket_i,
    input wire released_i,
    input wire command_valid_i,
    input wire [2:0] operation_i,
    input wire command_bucket_i,
    input wire reply_ready_i
);
  localparam logic [31:0] LATENCY =
      clarion_sizes_pkg::RAM_LATENCY + clarion_block_pkg::JUDGE_LATENCY + clarion_block_pkg::PATCH_LATENCY;
  localparam logic [31:0] SETTLING = LATENCY + 32'd3;  // behind a packet, for a bucket, and once more after a reset
  localparam logic [31:0] BOUND = BUCKETS + 3 * SETTLING + 32'd3;

  wire packet_ready, release_valid, command_ready, reply_valid;
  wire [527:0] reply;
  clarion_block_pkg::packet_t packet;
  clarion_block_pkg::release_t frame;
  logic [511:0] command;

  always_comb begin
    packet = '0;
    packet.frame.stored = 8'(stored_i);
    packet.frame.whole = whole_i;
    packet.frame.errored = errored_i;
    packet.meta.kind = tags_i ? 2'd3 : 2'd0;
    packet.meta.bucket = 16'(bucket_i);
    command = '0;
    command[2:0] = operation_i;
    if (is_bucket) command[32*clarion_registers_pkg::INGRESS_READ_BUCKET_BUCKET+:32] = 32'(command_bucket_i);
    if (is_configure) begin
      command[32*clarion_registers_pkg::INGRESS_CONFIGURE_CHECK] = 1'b1;
      command[32*clarion_registers_pkg::INGRESS_CONFIGURE_EPOCH] = 1'b1;
    end
  end

  clarion_ingress_stage #(
      .BUCKETS(BUCKETS),
      .RELEASES(RELEASES)
  ) stage (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .packet_valid_i(packet_valid_i),
      .packet_ready_o(packet_ready),
      .packet_i(packet),
      .release_valid_o(release_valid),
      .release_o(frame),
      .released_i(released_i),
      .command_valid_i(command_valid_i),
      .command_ready_o(command_ready),
      .command_i(command),
      .reply_valid_o(reply_valid),
      .reply_ready_i(reply_ready_i),
      .reply_o(reply)
  );

  wire is_reset = 32'(operation_i) == clarion_registers_pkg::OP_RESET;
  wire is_bucket = 32'(operation_i) == clarion_registers_pkg::OP_READ_BUCKET;
  wire is_configure = 32'(operation_i) == clarion_registers_pkg::OP_CONFIGURE;
  wire is_read = 32'(operation_i) == clarion_registers_pkg::OP_READ;
  wire reply_last = reply[3];
  wire reply_beat = reply[0];
  wire epoch = reply[16+32*(clarion_registers_pkg::INGRESS_READ_BUCKET_EPOCH % 16)];  // its lowest bit

  // verilator lint_off UNDRIVEN
  (* anyconst *) logic watched;  // a bucket
  // verilator lint_on UNDRIVEN

  logic begun_q = 1'b0;
  logic was_waiting_q;  // a command, which is still there
  logic was_stopped_q;
  logic was_last_q;
  logic was_beat_q;
  logic [2:0] was_operation_q;
  logic was_bucket_q;
  logic begins;  // this is the first clock of an answer
  logic was_answering_q;
  logic [LATENCY:0] stores;  // [n]: a packet with beats came n clocks ago
  logic [LATENCY:0] sends;
  logic [LATENCY:1] stores_q;
  logic [LATENCY:1] sends_q;
  logic [2:0] released_q;  // before this clock, to places that are not free again
  logic [2:0] out;
  logic [4:0] waits_q;  // clocks in which nothing kept the stage from the command
  logic [2:0] young_q;  // clocks since a reset, 7 or more
  logic beat_q;  // of the answer
  logic touched_q;  // a packet with tags was taken in the watched bucket, since the last reset of either kind

  assign stores = {stores_q, packet_ready && stored_i};
  assign sends = {sends_q, whole_i && !errored_i};
  assign out = released_q + 3'(release_valid);
  assign begins = reply_valid && !was_answering_q;

  always_ff @(posedge clk_i) begin
    begun_q <= 1'b1;
    was_waiting_q <= command_valid_i && !command_ready && rst_ni;
    was_stopped_q <= reply_valid && !reply_ready_i && rst_ni;
    was_last_q <= reply_last;
    was_beat_q <= reply_beat;
    was_operation_q <= operation_i;
    was_bucket_q <= command_bucket_i;
    was_answering_q <= reply_valid && !command_ready && rst_ni;
    stores_q <= stores[LATENCY-1:0];
    sends_q <= sends[LATENCY-1:0];
    released_q <= out - 3'(released_i);
    if (!command_valid_i || reply_valid) waits_q <= 5'd0;
    else if (!(packet_valid_i && is_reset) && waits_q != 5'd31) waits_q <= waits_q + 5'd1;
    if (young_q != 3'd7) young_q <= young_q + 3'd1;
    if (reply_valid && reply_ready_i) beat_q <= !reply_last;
    if (packet_ready && tags_i && bucket_i == watched) touched_q <= 1'b1;
    if (command_ready && is_reset) touched_q <= 1'b0;
    if (!rst_ni) begin
      stores_q <= '0;
      released_q <= 3'd0;
      waits_q <= 5'd0;
      young_q <= 3'd0;
      beat_q <= 1'b0;
      touched_q <= 1'b0;
    end
  end

  always_comb begin
    if (!begun_q) first_clock : assume (!rst_ni);
    if (was_waiting_q) begin
      waits_until_it_is_taken : assume (command_valid_i && {operation_i, command_bucket_i} == {was_operation_q, was_bucket_q});
    end
    if (released_i) frees_what_was_released : assume (out != 3'd0);
    if (begun_q) begin
      places_are_enough : assert (out <= 3'(RELEASES));
      released_when_it_was_stored : assert (release_valid == stores[LATENCY]);
      if (release_valid) sends_what_is_whole : assert (frame.send == sends[LATENCY]);
      if (packet_ready) takes_a_packet : assert (packet_valid_i);
      if (reply_valid) answers_a_command : assert (command_valid_i && !packet_ready);
      if (packet_ready && command_valid_i) command_goes_before : assert (is_reset);
      if (begins) settled_when_answered : assert (stores == '0);
      taken_with_its_last_beat : assert (command_ready == (reply_valid && reply_ready_i && reply_last));
      if (reply_valid) beats_of_an_answer : assert (reply_beat == beat_q && reply_last == (!is_read || beat_q));
      if (was_stopped_q) stable : assert (reply_valid && reply_last == was_last_q && reply_beat == was_beat_q);
      answered_within : assert (32'(waits_q) <= BOUND);
      if (32'(young_q) < BUCKETS) clears_first : assert (!packet_ready && !reply_valid);
      if (reply_valid && is_bucket && !touched_q && 16'(command_bucket_i) == 16'(watched)) begin
        no_epoch_after_a_reset : assert (!epoch);
      end

      reaches_no_place : assert (!(released_q == 3'(RELEASES) && packet_valid_i && !packet_ready && !command_valid_i));
      reaches_second_beat : assert (!(command_ready && beat_q));
      reaches_an_epoch : assert (!(reply_valid && is_bucket && epoch && 16'(command_bucket_i) == 16'(watched)));
      reaches_reset_behind_an_epoch : assert (!(packet_ready && command_valid_i && touched_q));
      reaches_a_long_wait : assert (32'(waits_q) <= 2 * SETTLING);
    end
  end
endmodule
`default_nettype wire
