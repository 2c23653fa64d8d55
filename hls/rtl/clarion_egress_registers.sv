// SPDX-License-Identifier: Apache-2.0
// Commands of software to an egress: configuration, and answers about all of its state. The queue is held meanwhile, so
// that what an answer says belongs together.

// Structs have members for other stages, too:
// verilator lint_off UNUSEDSIGNAL
module clarion_egress_registers #(
    parameter logic [31:0] BUCKETS = 4096  // a power of two, 2 to 65536
) (
    input wire clk_i,
    input wire rst_ni,

    input  wire         command_valid_i,
    output wire         command_ready_o,
    input  wire [511:0] command_i,
    output wire         reply_valid_o,
    input  wire         reply_ready_i,
    output wire [527:0] reply_o,

    output wire hold_o,
    input  wire held_i,
    output wire clear_o,  // everything but the buckets' numbers and totals: neighbours would mistake a jump for losses
    output clarion_block_pkg::egress_config_t config_o,

    output wire peek_o,  // into a bucket; what it holds is there RAM_LATENCY + 1 clocks later
    output wire [15:0] peek_bucket_o,
    input wire [15:0] queue_next_i,
    input clarion_block_pkg::slot_t queue_slot_i,
    input wire [15:0] link_next_i,

    // Statistics of the queue.
    input wire drops_i,
    input wire drops_unstored_i,
    input wire discards_i,
    input wire [15:0] length_i,  // of what joins, or is dropped
    input wire decides_i,
    input wire [15:0] untold_i,  // frames lost in front of it
    input wire leaves_i,
    input wire [15:0] left_length_i,
    input wire [23:0] queue_bytes_i,
    input wire [63:0] now_i,
    input wire [63:0] lost_i,
    input wire [63:0] late_i,
    input wire [63:0] rebased_i,

    // State of the controllers.
    input wire [7:0] running_epoch_i,
    input clarion_block_pkg::sums_t sums_i,
    input clarion_block_pkg::queue_t queue_i,
    input clarion_block_pkg::clock_t clock_i,
    input clarion_block_pkg::report_t report_i,
    input wire [4:0] credit_i,
    input clarion_block_pkg::pools_t pools_i,
    input clarion_block_pkg::gain_t cp_i,
    input clarion_block_pkg::gain_t cn_i,
    input clarion_block_pkg::gains_t gains_i,
    input clarion_block_pkg::own_t own_i
);
  typedef enum logic [1:0] {
    WAITS,
    ACTS,
    LOOKS,
    ANSWERS
  } state_t;

  localparam logic [2:0] LOOKING = 3'(clarion_sizes_pkg::RAM_LATENCY + 32'd2);  // clocks
  localparam logic [39:0] QUEUE_MAX = '1;

  state_t state_q;
  logic [2:0] wait_q;
  logic [2:0] beat_q;
  logic [7:0] status_q;

  wire [31:0] operation = command_i[31:0];
  wire reads = operation == clarion_registers_pkg::OP_READ;
  wire resets = operation == clarion_registers_pkg::OP_RESET;
  wire [31:0] bucket = command_i[32*clarion_registers_pkg::EGRESS_READ_BUCKET_BUCKET+:32];
  wire last = !reads || 32'(beat_q) == clarion_registers_pkg::EGRESS_READ_BEATS - 1;

  assign hold_o = command_valid_i;
  assign command_ready_o = state_q == ANSWERS && reply_ready_i && last;
  assign reply_valid_o = state_q == ANSWERS;
  assign clear_o = state_q == ACTS && resets;
  assign peek_o = state_q == LOOKS && wait_q == LOOKING;
  assign peek_bucket_o = bucket[15:0];

  // --- Configuration ---------------------------------------------------------------------------------------

  `define WORD(name) command_i[32*clarion_registers_pkg::EGRESS_CONFIGURE_``name+:32]
  `define WORDS(name) command_i[32*clarion_registers_pkg::EGRESS_CONFIGURE_``name+:64]
  `define LEGAL(name) (64'(`WORD(name)) <= 64'(clarion_registers_pkg::EGRESS_CONFIGURE_``name``_LIMIT))
  `define LEGAL2(name) (`WORDS(name) <= 64'(clarion_registers_pkg::EGRESS_CONFIGURE_``name``_LIMIT))
  wire legal = `LEGAL(XCP) && `LEGAL(STAMP) && `LEGAL(EPOCH) && `LEGAL2(CAPACITY) && `LEGAL(ALPHA) && `LEGAL(BETA) &&
               `LEGAL(GAMMA) && `LEGAL(GENERATION) && `LEGAL2(QUEUE_LIMIT) && `WORD(GENERATION) != 0 &&
               `WORD(MIN_INTERVAL) != 0 && `WORD(MAX_INTERVAL) >= `WORD(MIN_INTERVAL) &&
               !(`WORD(XCP) == 1 && `WORD(EPOCH) == 0);

  clarion_block_pkg::egress_config_t asked_config, initial_config;

  always_comb begin
    asked_config.enabled = command_i[32*clarion_registers_pkg::EGRESS_CONFIGURE_XCP];
    asked_config.stamp = command_i[32*clarion_registers_pkg::EGRESS_CONFIGURE_STAMP];
    asked_config.epoch = command_i[32*clarion_registers_pkg::EGRESS_CONFIGURE_EPOCH+:8];
    asked_config.queue_limit = command_i[32*clarion_registers_pkg::EGRESS_CONFIGURE_QUEUE_LIMIT+:40];
    asked_config.xcp.capacity_bytes_per_s = command_i[32*clarion_registers_pkg::EGRESS_CONFIGURE_CAPACITY+:38];
    asked_config.xcp.alpha_q16 = command_i[32*clarion_registers_pkg::EGRESS_CONFIGURE_ALPHA+:18];
    asked_config.xcp.beta_q16 = command_i[32*clarion_registers_pkg::EGRESS_CONFIGURE_BETA+:18];
    asked_config.xcp.gamma_q16 = command_i[32*clarion_registers_pkg::EGRESS_CONFIGURE_GAMMA+:18];
    asked_config.xcp.min_interval = `WORD(MIN_INTERVAL);
    asked_config.xcp.max_interval = `WORD(MAX_INTERVAL);
    asked_config.xcp.generation = command_i[32*clarion_registers_pkg::EGRESS_CONFIGURE_GENERATION+:2];
  end
  `undef WORD
  `undef WORDS
  `undef LEGAL
  `undef LEGAL2

  always_comb begin  // as in core/xcp_config.hpp
    initial_config = '0;
    initial_config.queue_limit = QUEUE_MAX;  // no limit but that of packet memory
    initial_config.xcp.alpha_q16 = 18'd26214;
    initial_config.xcp.beta_q16 = 18'd14811;
    initial_config.xcp.gamma_q16 = 18'd6554;
    initial_config.xcp.min_interval = 32'd268435;
    initial_config.xcp.max_interval = 32'd268435456;
    initial_config.xcp.generation = 2'd2;
  end

  always_ff @(posedge clk_i) begin
    if (wait_q != 0) wait_q <= wait_q - 1'b1;
    case (state_q)
      WAITS: if (command_valid_i && held_i) state_q <= ACTS;
      ACTS: begin
        state_q <= ANSWERS;
        beat_q <= 3'd0;
        wait_q <= LOOKING;
        status_q <= 8'(clarion_registers_pkg::STATUS_OK);
        case (operation)
          clarion_registers_pkg::OP_CONFIGURE: begin
            if (legal) config_o <= asked_config;
            else status_q <= 8'(clarion_registers_pkg::STATUS_OUT_OF_RANGE);
          end
          clarion_registers_pkg::OP_READ: ;
          clarion_registers_pkg::OP_READ_BUCKET: begin
            if (bucket < BUCKETS) state_q <= LOOKS;
            else status_q <= 8'(clarion_registers_pkg::STATUS_OUT_OF_RANGE);
          end
          clarion_registers_pkg::OP_RESET: config_o <= initial_config;
          default: status_q <= 8'(clarion_registers_pkg::STATUS_UNKNOWN_OPERATION);
        endcase
      end
      LOOKS: if (wait_q == 0) state_q <= ANSWERS;
      default: begin
        if (reply_ready_i) beat_q <= beat_q + 1'b1;
        if (reply_ready_i && last) state_q <= WAITS;
      end
    endcase
    if (!rst_ni) begin
      state_q <= WAITS;
      config_o <= initial_config;
    end
  end

  // --- Statistics ------------------------------------------------------------------------------------------

  logic [15:0] length_q, left_length_q, untold_q;
  logic drops_q, drops_unstored_q, discards_q, leaves_q;
  wire [63:0] tx_packets, tx_bytes, drop_packets, drop_bytes, overflow, errored;

  always_ff @(posedge clk_i) begin
    length_q <= length_i;
    left_length_q <= left_length_i;
    untold_q <= decides_i ? untold_i : 16'd0;
    drops_q <= drops_i;
    drops_unstored_q <= drops_unstored_i;
    discards_q <= discards_i;
    leaves_q <= leaves_i;
    if (!rst_ni) {drops_q, drops_unstored_q, discards_q, leaves_q, untold_q} <= '0;
  end

  clarion_counter count_sent (.clk_i, .rst_ni, .clear_i(clear_o), .add_i(leaves_q), .value_o(tx_packets));
  clarion_counter #(
      .STEP_BITS(16)
  ) count_sent_bytes (
      .clk_i,
      .rst_ni,
      .clear_i(clear_o),
      .add_i(leaves_q ? left_length_q : 16'd0),
      .value_o(tx_bytes)
  );
  clarion_counter #(
      .STEP_BITS(17)
  ) count_drops (
      .clk_i,
      .rst_ni,
      .clear_i(clear_o),
      .add_i(17'(untold_q) + 17'(drops_q)),
      .value_o(drop_packets)
  );
  clarion_counter #(
      .STEP_BITS(16)
  ) count_dropped_bytes (
      .clk_i,
      .rst_ni,
      .clear_i(clear_o),
      .add_i(drops_q ? length_q : 16'd0),
      .value_o(drop_bytes)
  );
  clarion_counter #(
      .STEP_BITS(17)
  ) count_overflow (
      .clk_i,
      .rst_ni,
      .clear_i(clear_o),
      .add_i(17'(untold_q) + 17'(drops_unstored_q)),
      .value_o(overflow)
  );
  clarion_counter count_errored (.clk_i, .rst_ni, .clear_i(clear_o), .add_i(discards_q), .value_o(errored));

  // Bytes that wait, summed up over time.
  logic [63:0] now_q;
  logic [31:0] elapsed_q;
  logic [23:0] bytes_q;
  logic [55:0] area_q;
  logic [63:0] byte_ticks_q;
  wire [63:0] elapsed = now_i - now_q;

  always_ff @(posedge clk_i) begin
    now_q <= now_i;
    elapsed_q <= now_i <= now_q ? 32'd0 : elapsed[63:32] != 0 ? '1 : elapsed[31:0];
    bytes_q <= queue_bytes_i;
    area_q <= bytes_q * 56'(elapsed_q);
    byte_ticks_q <= byte_ticks_q + 64'(area_q);
    if (clear_o || !rst_ni) byte_ticks_q <= '0;
    if (!rst_ni) {bytes_q, area_q} <= '0;
  end

  // --- Answers ---------------------------------------------------------------------------------------------

  // Places in the map are beat * 16 + word.
  `define PUT(name, value) data[32*(clarion_registers_pkg::EGRESS_``name % 16)+:32] = 32'(value)
  `define PUT2(name, value) data[32*(clarion_registers_pkg::EGRESS_``name % 16)+:64] = 64'(value)
  logic [511:0] data;

  always_comb begin
    data = '0;
    if (reads) begin
      case (beat_q)
        3'd0: begin
          `PUT2(READ_TX_PACKETS, tx_packets);
          `PUT2(READ_TX_BYTES, tx_bytes);
          `PUT2(READ_DROP_PACKETS, drop_packets);
          `PUT2(READ_DROP_BYTES, drop_bytes);
          `PUT2(READ_OVERFLOW, overflow);
          `PUT2(READ_ERRORED, errored);
          `PUT2(READ_QUEUE_BYTES, queue_bytes_i);
          `PUT2(READ_QUEUE_BYTE_TICKS, byte_ticks_q);
        end
        3'd1: begin
          `PUT2(READ_QUEUE_LOST, lost_i);
          `PUT2(READ_QUEUE_LATE, late_i);
          `PUT2(READ_QUEUE_REBASED, rebased_i);
          `PUT2(READ_INPUT, sums_i.input_);
          `PUT2(READ_SUM_X, sums_i.sum_x);
          `PUT2(READ_SUM_X_RTT, sums_i.sum_x_rtt);
          `PUT2(READ_PERSISTENT_QUEUE, queue_i.persistent);
          `PUT2(READ_LEAST_QUEUE, queue_i.minimum);
        end
        3'd2: begin
          `PUT2(READ_INTERVALS, report_i.intervals);
          `PUT2(READ_RATE, report_i.rate);
          `PUT2(READ_PHI, report_i.phi);
          `PUT2(READ_INTERVAL_START, clock_i.start);
          `PUT2(READ_WINDOW_START, queue_i.start);
          `PUT2(READ_INTERVAL_INPUT, report_i.sums.input_);
          `PUT2(READ_INTERVAL_SUM_X, report_i.sums.sum_x);
          `PUT2(READ_INTERVAL_SUM_X_RTT, report_i.sums.sum_x_rtt);
        end
        3'd3: begin
          `PUT(READ_AVG_RTT, report_i.avg_rtt);
          `PUT(READ_ELAPSED, report_i.elapsed);
          `PUT2(READ_INTERVAL_QUEUE, report_i.queue_bytes);
          `PUT2(READ_INTERVAL_POS, report_i.shares.pos);
          `PUT2(READ_INTERVAL_NEG, report_i.shares.neg);
          `PUT(READ_INTERVAL_CP, report_i.shares.cp.mantissa);
          `PUT(READ_INTERVAL_CP_SHIFT, report_i.shares.cp.shift);
          `PUT(READ_INTERVAL_CN, report_i.shares.cn.mantissa);
          `PUT(READ_INTERVAL_CN_SHIFT, report_i.shares.cn.shift);
          `PUT(READ_INTERVAL_STARTED, clock_i.started);
          `PUT(READ_WINDOW_STARTED, queue_i.started);
        end
        3'd4: begin
          `PUT(READ_XCP, config_o.enabled);
          `PUT(READ_STAMP, config_o.stamp);
          `PUT(READ_EPOCH, config_o.epoch);
          `PUT2(READ_CAPACITY, config_o.xcp.capacity_bytes_per_s);
          `PUT(READ_ALPHA, config_o.xcp.alpha_q16);
          `PUT(READ_BETA, config_o.xcp.beta_q16);
          `PUT(READ_GAMMA, config_o.xcp.gamma_q16);
          `PUT(READ_MIN_INTERVAL, config_o.xcp.min_interval);
          `PUT(READ_MAX_INTERVAL, config_o.xcp.max_interval);
          `PUT(READ_GENERATION, config_o.xcp.generation);
          `PUT2(READ_QUEUE_LIMIT, config_o.queue_limit);
          `PUT(READ_RUNNING_EPOCH, running_epoch_i);
        end
        3'd5: begin
          `PUT2(READ_POS, pools_i.pos);
          `PUT2(READ_NEG, pools_i.neg);
          `PUT(READ_CP, cp_i.mantissa);
          `PUT(READ_CP_SHIFT, cp_i.shift);
          `PUT(READ_CN, cn_i.mantissa);
          `PUT(READ_CN_SHIFT, cn_i.shift);
          `PUT(READ_CARRY, pools_i.carry);
          `PUT2(READ_BANK, pools_i.bank);
          `PUT(READ_CREDIT, credit_i);
        end
        default: begin
          `PUT(READ_FAIR, gains_i.fair.mantissa);
          `PUT(READ_FAIR_SHIFT, gains_i.fair.shift);
          `PUT(READ_LIFT, gains_i.lift.mantissa);
          `PUT(READ_LIFT_SHIFT, gains_i.lift.shift);
          `PUT(READ_GROWTH, gains_i.growth.mantissa);
          `PUT(READ_GROWTH_SHIFT, gains_i.growth.shift);
          `PUT2(READ_OWN_INPUT, own_i.input_);
          `PUT2(READ_OWN_SUM_X, own_i.sum_x);
          `PUT2(READ_POOR_SUM_X, own_i.sum_x_poor);
          `PUT2(READ_LIMITED, own_i.limited);
          `PUT(READ_MAX_RTT, own_i.max_rtt);
        end
      endcase
    end else if (operation == clarion_registers_pkg::OP_READ_BUCKET && bucket < BUCKETS) begin
      `PUT(READ_BUCKET_QUEUE_NEXT, queue_next_i);
      `PUT(READ_BUCKET_QUEUE_EXPECTED, queue_slot_i.expected);
      `PUT(READ_BUCKET_QUEUE_TOTAL, queue_slot_i.total);
      `PUT(READ_BUCKET_QUEUE_EPOCH, queue_slot_i.based);
      `PUT(READ_BUCKET_LINK_NEXT, link_next_i);
      `PUT(READ_BUCKET_QUEUE_FAR, queue_slot_i.far);
    end
  end
  `undef PUT
  `undef PUT2

  assign reply_o = {data, 4'b0, status_q, last, beat_q};
endmodule
