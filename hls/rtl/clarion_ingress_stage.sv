// SPDX-License-Identifier: Apache-2.0
// Decides on packets received from the wire: distrust of hosts at an edge, losses of the wire, totals into the header.
// One packet per clock; for a command those in front of it are completed first.

// Structs have members for other stages, too:
// verilator lint_off UNUSEDSIGNAL
module clarion_ingress_stage #(
    parameter logic [31:0] BUCKETS = 4096,  // a power of two, 2 to 65536
    parameter logic [31:0] RELEASES = 512  // places for decisions behind this stage
) (
    input wire clk_i,
    input wire rst_ni,

    input  wire packet_valid_i,
    output wire packet_ready_o,
    input clarion_block_pkg::packet_t packet_i,

    output wire release_valid_o,
    output clarion_block_pkg::release_t release_o,
    input wire released_i,  // a place is free again

    input  wire         command_valid_i,
    output wire         command_ready_o,
    input  wire [511:0] command_i,
    output wire         reply_valid_o,
    input  wire         reply_ready_i,
    output wire [527:0] reply_o
);
  localparam logic [31:0] OP_READ = clarion_registers_pkg::OP_READ;

  // A slot with the epoch of the check that wrote it; under another epoch it has no base. A reset by command toggles the
  // generation, and slots of the other one count as of epoch 0 until they have been renewed.
  typedef struct packed {
    logic generation;
    logic [7:0] epoch;
    logic [7:0] far_behind;
    logic [15:0] total;
    logic [15:0] expected;
  } wire_slot_t;

  // What is on its way: a packet, or a slot that is renewed or shown.
  typedef struct packed {
    logic packet;
    logic has_tags;
    logic checked;
    logic renews;
  } step_t;

  typedef enum logic [2:0] {
    CLEARS,  // after a reset of the unit: slots lose their epochs, packets wait
    RUNS,
    SETTLES,  // a command waits for the packets in front of it
    ACTS,
    LOOKS,
    ANSWERS
  } state_t;

  state_t state_q;
  logic [3:0] wait_q;  // clocks
  logic checks_q, edge_q, wire_q;
  logic [7:0] epoch_q;
  logic generation_q, renewing_q;
  logic [15:0] renewed_q;  // the next bucket to renew

  // --- Packets ---------------------------------------------------------------------------------------------

  localparam logic [3:0] SETTLING =
      4'(clarion_sizes_pkg::RAM_LATENCY + clarion_block_pkg::PATCH_LATENCY + 32'd3);

  wire place;
  wire resets = command_i[31:0] == clarion_registers_pkg::OP_RESET;
  wire interrupts = command_valid_i && !(resets && renewing_q);  // a reset waits for the end of the one before
  wire takes = state_q == RUNS && !interrupts && packet_valid_i && place;
  wire renews = renewing_q && (state_q == CLEARS || (state_q == RUNS && !interrupts && !packet_valid_i));
  wire peeks = state_q == LOOKS && wait_q == SETTLING;
  wire [1:0] kind = packet_i.meta.kind;
  wire has_tags = kind == clarion_sizes_pkg::DATA || kind == clarion_sizes_pkg::TAG;

  assign packet_ready_o = takes;

  clarion_credit #(
      .CREDITS(RELEASES)
  ) places (
      .clk_i,
      .rst_ni,
      .take_i(takes && packet_i.frame.stored != 0),
      .give_i(released_i),
      .available_o(place),
      .idle_o()
  );

  step_t taken;
  assign taken.packet = takes;
  assign taken.has_tags = takes && has_tags;
  assign taken.checked = takes && has_tags && checks_q;
  assign taken.renews = renews;

  // Two clocks: the slot is read. One more: it is judged.
  wire read_valid, judged_valid;
  step_t read, judged;
  clarion_block_pkg::packet_t read_packet, judged_packet;
  wire_slot_t slot, read_slot, written, shown_q;
  wire slot_valid;
  clarion_block_pkg::judge_arguments_t judge_asked;
  clarion_block_pkg::judge_results_t verdict;

  clarion_pipe #(
      .WIDTH($bits(taken) + $bits(packet_i)),
      .LATENCY(clarion_sizes_pkg::RAM_LATENCY)
  ) read_pipe (
      .clk_i,
      .rst_ni,
      .valid_i(takes || renews),
      .data_i({taken, packet_i}),
      .valid_o(read_valid),
      .data_o({read, read_packet})
  );
  clarion_pipe #(
      .WIDTH($bits(read) + $bits(read_packet)),
      .LATENCY(clarion_block_pkg::JUDGE_LATENCY)
  ) judge_pipe (
      .clk_i,
      .rst_ni,
      .valid_i(read_valid),
      .data_i({read, read_packet}),
      .valid_o(judged_valid),
      .data_o({judged, judged_packet})
  );
  clarion_bucket_memory #(
      .BUCKETS(BUCKETS),
      .WIDTH($bits(slot)),
      .READ_LATENCY(clarion_sizes_pkg::RAM_LATENCY)
  ) slots (
      .clk_i,
      .rst_ni,
      .look_i(taken.checked || renews || peeks),
      .look_bucket_i(renews ? renewed_q : peeks ? command_i[32*clarion_registers_pkg::INGRESS_READ_BUCKET_BUCKET+:16]
                                                : packet_i.meta.bucket),
      .slot_valid_o(slot_valid),
      .slot_bucket_o(),
      .slot_o(slot),
      .write_i(judged_valid && (judged.checked || judged.renews)),
      .write_slot_i(written)
  );

  wire stale = slot.generation != generation_q || state_q == CLEARS;
  always_comb begin
    read_slot = slot;
    if (stale) read_slot.epoch = 8'd0;
    read_slot.generation = generation_q;
    judge_asked.slot.expected = slot.expected;
    judge_asked.slot.total = slot.total;
    judge_asked.slot.far = slot.far_behind;
    judge_asked.slot.based = read_slot.epoch == epoch_q;
    judge_asked.number = read_packet.meta.link_seq;
    judge_asked.counts = wire_q;
  end

  clarion_judge judge (
      .clk_i,
      .valid_i(read_valid && read.checked),
      .arguments_i(judge_asked),
      .results_o(verdict)
  );

  always_comb begin
    written = shown_q;
    if (judged.checked) begin
      written.expected = verdict.slot.expected;
      written.total = verdict.slot.total;
      written.far_behind = verdict.slot.far;
      written.epoch = epoch_q;
    end
  end

  always_ff @(posedge clk_i) if (slot_valid) shown_q <= read_slot;

  clarion_block_pkg::patch_arguments_t patch_asked;
  clarion_block_pkg::patch_results_t patched;
  wire released_valid;
  wire released_tags;
  clarion_block_pkg::packet_t released;

  always_comb begin
    patch_asked = '0;
    patch_asked.kind = judged_packet.meta.kind;
    patch_asked.corrupt = edge_q ? 16'd0 : judged_packet.meta.corrupt;
    patch_asked.congest = edge_q ? 16'd0 : judged_packet.meta.congest;
    if (judged.checked) patch_asked.corrupt = patch_asked.corrupt + verdict.slot.total;
  end

  clarion_patch patch (
      .clk_i,
      .valid_i(judged_valid && judged.has_tags),
      .arguments_i(patch_asked),
      .results_o(patched)
  );
  clarion_pipe #(
      .WIDTH(1 + $bits(judged_packet)),
      .LATENCY(clarion_block_pkg::PATCH_LATENCY)
  ) patch_pipe (
      .clk_i,
      .rst_ni,
      .valid_i(judged_valid && judged.packet && judged_packet.frame.stored != 0),
      .data_i({judged.has_tags, judged_packet}),
      .valid_o(released_valid),
      .data_o({released_tags, released})
  );

  assign release_valid_o = released_valid;
  assign release_o.stored = released.frame.stored;
  assign release_o.send = released.frame.whole && !released.frame.errored;
  assign release_o.length = released.frame.length;
  assign release_o.offset = released.meta.offset;
  assign release_o.patch.enable = released_tags ? patched.enable : '0;
  assign release_o.patch.data = released_tags ? patched.data : '0;

  // --- Counters --------------------------------------------------------------------------------------------

  wire clears = state_q == ACTS && resets;
  wire counts = judged_valid && judged.packet;
  wire valid = counts && !judged_packet.frame.errored;
  wire checked = judged_valid && judged.checked;
  wire [63:0] rx_packets, rx_bytes, malformed, errored, overflow, lost, late, rebased;

  clarion_counter count_packets (.clk_i, .rst_ni, .clear_i(clears), .add_i(valid), .value_o(rx_packets));
  clarion_counter #(
      .STEP_BITS(16)
  ) count_bytes (
      .clk_i,
      .rst_ni,
      .clear_i(clears),
      .add_i(valid ? judged_packet.frame.length : 16'd0),
      .value_o(rx_bytes)
  );
  clarion_counter count_malformed (
      .clk_i,
      .rst_ni,
      .clear_i(clears),
      .add_i(valid && judged_packet.malformed),
      .value_o(malformed)
  );
  clarion_counter count_errored (
      .clk_i,
      .rst_ni,
      .clear_i(clears),
      .add_i(counts && judged_packet.frame.errored),
      .value_o(errored)
  );
  clarion_counter #(
      .STEP_BITS(17)
  ) count_overflow (
      .clk_i,
      .rst_ni,
      .clear_i(clears),
      .add_i(counts ? 17'(judged_packet.frame.untold) + 17'(valid && !judged_packet.frame.whole) : 17'd0),
      .value_o(overflow)
  );
  clarion_counter #(
      .STEP_BITS(14)
  ) count_lost (
      .clk_i,
      .rst_ni,
      .clear_i(clears),
      .add_i(checked ? verdict.lost : 14'd0),
      .value_o(lost)
  );
  clarion_counter count_late (.clk_i, .rst_ni, .clear_i(clears), .add_i(checked && verdict.late), .value_o(late));
  clarion_counter count_rebased (
      .clk_i,
      .rst_ni,
      .clear_i(clears),
      .add_i(checked && verdict.rebased),
      .value_o(rebased)
  );

  // --- Commands --------------------------------------------------------------------------------------------

  wire [31:0] operation = command_i[31:0];
  wire [31:0] check_word = command_i[32*clarion_registers_pkg::INGRESS_CONFIGURE_CHECK+:32];
  wire [31:0] edge_word = command_i[32*clarion_registers_pkg::INGRESS_CONFIGURE_EDGE+:32];
  wire [31:0] wire_word = command_i[32*clarion_registers_pkg::INGRESS_CONFIGURE_WIRE+:32];
  wire [31:0] epoch_word = command_i[32*clarion_registers_pkg::INGRESS_CONFIGURE_EPOCH+:32];
  wire [31:0] bucket_word = command_i[32*clarion_registers_pkg::INGRESS_READ_BUCKET_BUCKET+:32];
  wire legal = check_word <= 1 && edge_word <= 1 && wire_word <= 1 &&
               epoch_word <= clarion_registers_pkg::INGRESS_CONFIGURE_EPOCH_LIMIT &&
               !(check_word == 1 && epoch_word == 0);

  logic [7:0] status_q;
  logic beat_q;  // of the answer to `read`
  wire reads = operation == OP_READ;
  wire last = !reads || beat_q;

  assign command_ready_o = state_q == ANSWERS && reply_ready_i && last;
  assign reply_valid_o = state_q == ANSWERS;

  always_ff @(posedge clk_i) begin
    if (wait_q != 0) wait_q <= wait_q - 1'b1;
    if (renews) begin
      renewed_q <= renewed_q + 1'b1;
      if (32'(renewed_q) == BUCKETS - 1) renewing_q <= 1'b0;
    end
    case (state_q)
      CLEARS: begin
        if (renewing_q) wait_q <= SETTLING;
        else if (wait_q == 0) state_q <= RUNS;
      end
      RUNS: begin
        beat_q <= 1'b0;
        wait_q <= SETTLING;
        if (interrupts) state_q <= SETTLES;
      end
      SETTLES: if (wait_q == 0) state_q <= ACTS;
      ACTS: begin
        state_q <= ANSWERS;
        status_q <= 8'(clarion_registers_pkg::STATUS_OK);
        case (operation)
          clarion_registers_pkg::OP_CONFIGURE: begin
            if (legal) {checks_q, edge_q, wire_q, epoch_q} <= {check_word[0], edge_word[0], wire_word[0], epoch_word[7:0]};
            else status_q <= 8'(clarion_registers_pkg::STATUS_OUT_OF_RANGE);
          end
          clarion_registers_pkg::OP_READ: ;
          clarion_registers_pkg::OP_READ_BUCKET: begin
            wait_q <= SETTLING;
            if (bucket_word < BUCKETS) state_q <= LOOKS;
            else status_q <= 8'(clarion_registers_pkg::STATUS_OUT_OF_RANGE);
          end
          clarion_registers_pkg::OP_RESET: begin
            {checks_q, edge_q, wire_q, epoch_q} <= '0;
            generation_q <= !generation_q;
            renewing_q <= 1'b1;
            renewed_q <= '0;
          end
          default: status_q <= 8'(clarion_registers_pkg::STATUS_UNKNOWN_OPERATION);
        endcase
      end
      LOOKS: if (wait_q == 0) state_q <= ANSWERS;
      ANSWERS: begin
        if (reply_ready_i) beat_q <= 1'b1;
        if (reply_ready_i && last) state_q <= RUNS;
      end
      default: state_q <= CLEARS;
    endcase
    if (!rst_ni) begin
      state_q <= CLEARS;
      wait_q <= SETTLING;
      {checks_q, edge_q, wire_q, epoch_q} <= '0;
      generation_q <= 1'b0;
      renewing_q <= 1'b1;
      renewed_q <= '0;
    end
  end

  // --- Answers ---------------------------------------------------------------------------------------------

  // Places in the map are beat * 16 + word.
  `define PUT(name, value) data[32*(clarion_registers_pkg::INGRESS_``name % 16)+:32] = 32'(value)
  `define PUT2(name, value) data[32*(clarion_registers_pkg::INGRESS_``name % 16)+:64] = value
  logic [511:0] data;
  always_comb begin
    data = '0;
    if (reads && !beat_q) begin
      `PUT2(READ_RX_PACKETS, rx_packets);
      `PUT2(READ_RX_BYTES, rx_bytes);
      `PUT2(READ_MALFORMED, malformed);
      `PUT2(READ_ERRORED, errored);
      `PUT2(READ_OVERFLOW, overflow);
      `PUT2(READ_LOST, lost);
      `PUT2(READ_LATE, late);
      `PUT2(READ_REBASED, rebased);
    end else if (reads) begin
      `PUT(READ_CHECK, checks_q);
      `PUT(READ_EDGE, edge_q);
      `PUT(READ_WIRE, wire_q);
      `PUT(READ_EPOCH, epoch_q);
    end else if (operation == clarion_registers_pkg::OP_READ_BUCKET && bucket_word < BUCKETS) begin
      `PUT(READ_BUCKET_EXPECTED, shown_q.expected);
      `PUT(READ_BUCKET_TOTAL, shown_q.total);
      `PUT(READ_BUCKET_EPOCH, shown_q.epoch);
      `PUT(READ_BUCKET_FAR, shown_q.far_behind);
    end
  end
  `undef PUT
  `undef PUT2

  assign reply_o = {data, 4'b0, status_q, last, 2'b0, beat_q};
endmodule
