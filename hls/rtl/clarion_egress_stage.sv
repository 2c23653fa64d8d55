// SPDX-License-Identifier: Apache-2.0
// The order of things at a queue: in each clock one packet may leave and one may join, in this order. Every state that
// depends on that order is in here, or follows what is decided here.
//
// Where the order matters to what takes longer than a clock, nothing leaves or joins until all before it is settled:
// while an interval ends, before the controllers start anew, and while software is answered.

// Structs have members for other stages, too:
// verilator lint_off UNUSEDSIGNAL
module clarion_egress_stage (
    input wire clk_i,
    input wire rst_ni,
    input clarion_block_pkg::egress_config_t config_i,

    input  wire packet_valid_i,
    output wire packet_ready_o,
    input clarion_block_pkg::packet_t packet_i,

    output wire joins_o,  // or is dropped, or discarded: to the queue
    output clarion_block_pkg::waiting_t joins_waiting_o,
    input  wire waiting_valid_i,
    output wire waiting_ready_o,
    input clarion_block_pkg::waiting_t waiting_i,

    output wire leaves_o,  // `waiting_i` leaves, or its beats are discarded
    output wire regulates_o,  // it is to be granted
    input wire place_i,  // there is a place for it behind the queue
    input wire sent_i,  // a frame has been sent
    input wire [15:0] sent_bytes_i,
    input wire [39:0] elsewhere_i,  // bytes that wait behind the block

    // To the control intervals.
    output wire xcp_leaves_o,
    output wire xcp_joins_o,
    output logic [23:0] queue_bytes_o,  // in packet memory, before what joins
    input wire ended_i,
    output wire prepares_o,  // no packet comes, and the configuration may change
    output wire restart_o,
    output wire control_o,
    input wire done_i,
    input wire grants_idle_i,

    // Software wants to have a look: all is settled while `held_o`.
    input  wire hold_i,
    output wire held_o,
    input wire clear_i,  // controllers and statistics, while held
    output logic [7:0] running_epoch_o,  // of the controllers' last start

    output clarion_block_pkg::watch_t watch_o,
    output wire drops_o,  // for statistics: what is decided on is dropped,
    output wire drops_unstored_o,  // because packet memory had no room,
    output wire discards_o  // or is none
);
  localparam logic [4:0] SETTLING = 5'd16;  // clocks: more than any way behind a decision takes, but to the grants

  typedef enum logic [2:0] {
    PREPARES,  // the length of the interval follows from its new mean RTT, or configuration
    RUNS,
    SETTLES,
    CONTROLS,
    HOLDS
  } state_t;

  state_t state_q;
  logic [4:0] wait_q;
  logic ends_q;  // why it settles: the interval is over,
  logic begins_q;  // or the controllers start
  logic controls_q;  // the control step has been asked for
  logic restarted_q;  // for the packet that waits: it goes before software does

  wire xcp = config_i.enabled;
  wire begins = xcp && config_i.epoch != running_epoch_o;  // with the next packet
  wire errored = packet_i.frame.errored;
  wire stops = ended_i || (hold_i && !restarted_q) || (begins && packet_valid_i && !errored);
  wire runs = state_q == RUNS && !stops;
  wire settled = state_q == SETTLES && wait_q == 0 && grants_idle_i;
  wire restarts = settled && begins_q;

  assign prepares_o = state_q != RUNS;
  assign held_o = state_q == HOLDS;
  assign restart_o = restarts || clear_i;
  assign control_o = state_q == CONTROLS && !controls_q;

  always_ff @(posedge clk_i) begin
    wait_q <= state_q == RUNS ? SETTLING : wait_q != 0 ? wait_q - 1'b1 : wait_q;
    controls_q <= state_q == CONTROLS;
    case (state_q)
      PREPARES: if (wait_q == 0) state_q <= RUNS;
      RUNS: begin
        ends_q <= ended_i;
        begins_q <= !ended_i && (!hold_i || restarted_q);
        if (stops) state_q <= SETTLES;
      end
      SETTLES: if (settled) state_q <= ends_q ? CONTROLS : begins_q ? PREPARES : HOLDS;
      CONTROLS: if (done_i) state_q <= PREPARES;
      default: if (!hold_i) state_q <= PREPARES;
    endcase
    if (restarts) {restarted_q, running_epoch_o} <= {1'b1, config_i.epoch};
    if (packet_ready_o) restarted_q <= 1'b0;
    if (clear_i) running_epoch_o <= 8'd0;
    if (!rst_ni) begin
      state_q <= PREPARES;
      wait_q <= SETTLING;
      running_epoch_o <= 8'd0;
      restarted_q <= 1'b0;
    end
  end

  // --- A packet joins --------------------------------------------------------------------------------------

  logic [23:0] queue_bytes_q;
  wire [15:0] length = packet_i.frame.length;
  wire [23:0] held_bytes = queue_bytes_q - (sent_i ? 24'(sent_bytes_i) : 24'd0);
  wire [24:0] with_it = 25'(held_bytes) + 25'(length);
  wire fits = packet_i.frame.whole && !errored && 40'(with_it) <= config_i.queue_limit;
  wire decides = runs && packet_valid_i;
  wire [1:0] kind = packet_i.meta.kind;
  wire has_tags = kind == clarion_sizes_pkg::DATA || kind == clarion_sizes_pkg::TAG;

  assign packet_ready_o = decides;
  assign joins_o = decides;
  wire joins_whole = decides && fits;
  assign drops_o = decides && !errored && !fits;
  assign drops_unstored_o = drops_o && !packet_i.frame.whole;
  assign discards_o = decides && errored;
  assign xcp_joins_o = decides && !errored && xcp;
  assign queue_bytes_o = held_bytes;

  always_comb begin
    joins_waiting_o.meta = packet_i.meta;
    joins_waiting_o.field = packet_i.field;
    joins_waiting_o.queue_seq = 16'd0;
    joins_waiting_o.in_queue = has_tags && config_i.stamp;
    joins_waiting_o.xcp = xcp;
    joins_waiting_o.maxmin = xcp && config_i.xcp.generation == 2'd2;
    joins_waiting_o.length = length;
    joins_waiting_o.stored = packet_i.frame.stored;
    joins_waiting_o.send = fits;
  end

  always_ff @(posedge clk_i) queue_bytes_q <= !rst_ni ? 24'd0 : joins_whole ? with_it[23:0] : held_bytes;

  // --- A packet leaves -------------------------------------------------------------------------------------

  wire leaves = runs && !restarted_q && waiting_valid_i && place_i;  // before the start, or behind the packet that waits
  wire goes = leaves && waiting_i.send;

  assign waiting_ready_o = leaves;
  assign leaves_o = leaves;
  assign regulates_o = goes && waiting_i.xcp && waiting_i.meta.kind == clarion_sizes_pkg::DATA;
  assign xcp_leaves_o = goes && waiting_i.xcp;

  wire [40:0] waiting_bytes = 41'(held_bytes) + 41'(elsewhere_i);
  assign watch_o.leaves = goes;
  assign watch_o.left_bytes = waiting_bytes - 41'(waiting_i.length);
  assign watch_o.joins = joins_whole;
  assign watch_o.drops = drops_o;
  assign watch_o.waiting_bytes = waiting_bytes;
  assign watch_o.now = packet_i.frame.now;
endmodule
