// SPDX-License-Identifier: Apache-2.0
// The control intervals of a queue: what arrives in one, the queue meanwhile, whether it is over, and the control step.

// Structs have members for other stages, too:
// verilator lint_off UNUSEDSIGNAL
module clarion_egress_interval (
    input wire clk_i,
    input wire rst_ni,
    input clarion_block_pkg::config_t config_i,

    // What happens at the queue in this clock, as far as XCP is on: a packet leaves, then one joins.
    input wire leaves_i,
    input wire [15:0] left_length_i,
    input wire joins_i,
    input clarion_block_pkg::packet_t packet_i,
    input wire [23:0] queue_bytes_i,  // of packet memory, and
    input wire [39:0] elsewhere_i,  // behind it, before the packet joins
    output wire ended_o,  // the packet of the last clock has ended the interval: no other may come before `done_o`

    // Between packets, once all is settled.
    input wire hold_i,  // no packet comes, and the configuration may change
    input wire restart_i,  // from nothing
    input wire control_i,  // the control step
    output wire done_o,
    input clarion_block_pkg::pools_t pools_i,
    input clarion_block_pkg::own_t own_i,
    output clarion_block_pkg::shares_t shares_o,  // with done_o
    output clarion_block_pkg::gains_t gains_o,

    // For software, between packets.
    output clarion_block_pkg::sums_t sums_o,
    output clarion_block_pkg::queue_t queue_o,
    output clarion_block_pkg::clock_t clock_o,
    output clarion_block_pkg::report_t report_o,
    output logic [4:0] credit_o
);
  localparam logic [31:0] INITIAL_RTT = 26843546;  // core/config.hpp: 100 ms
  localparam logic [4:0] CREDIT_MAX = 5'd30;  // core/maxmin_interval.hpp

  // --- Is it over? -----------------------------------------------------------------------------------------

  clarion_block_pkg::length_arguments_t length_asked;
  clarion_block_pkg::length_results_t length_result;
  clarion_block_pkg::over_arguments_t over_asked;
  clarion_block_pkg::over_results_t over_result;
  wire [31:0] length;
  logic joined_q;

  assign length_asked.avg_rtt = report_o.avg_rtt;
  assign length_asked.min_interval = config_i.min_interval;
  assign length_asked.max_interval = config_i.max_interval;

  clarion_length length_of_an_interval (
      .clk_i,
      .valid_i(hold_i),
      .arguments_i(length_asked),
      .results_o(length_result)
  );
  clarion_state #(
      .WIDTH(32)
  ) length_state (
      .clk_i,
      .rst_ni,
      .load_i(1'b0),
      .load_value_i('0),
      .called_i(hold_i),
      .result_i(length_result.length),
      .state_o(length)
  );

  assign over_asked.clock = clock_o;
  assign over_asked.now = packet_i.frame.now;
  assign over_asked.length = length;

  clarion_over over (
      .clk_i,
      .valid_i(joins_i),
      .arguments_i(over_asked),
      .results_o(over_result)
  );
  clarion_state #(
      .WIDTH($bits(clock_o))
  ) clock_state (
      .clk_i,
      .rst_ni,
      .load_i(restart_i),
      .load_value_i('0),
      .called_i(joins_i),
      .result_i(over_result.clock),
      .state_o(clock_o)
  );

  assign ended_o = joined_q && over_result.ended;

  // --- The queue, two clocks later -------------------------------------------------------------------------

  // Sums of the clock before; bytes are of 41 bits, for what waits elsewhere may be as much as 40 bits hold.
  typedef struct packed {
    logic leaves;
    logic joins;
    logic [63:0] now;
    logic [15:0] length;
    logic counts;
    logic [31:0] rtt;
    logic [31:0] x;
  } event_t;

  event_t event_q, observed_q;
  logic [23:0] bytes_q;
  logic [39:0] elsewhere_q;
  logic [15:0] left_length_q;
  clarion_block_pkg::tracker_arguments_t tracker_asked;
  clarion_block_pkg::tracker_results_t tracked;
  logic [40:0] waiting_bytes_q, left_bytes_q;

  always_ff @(posedge clk_i) begin
    joined_q <= rst_ni && joins_i;
    event_q.leaves <= rst_ni && leaves_i;
    event_q.joins <= rst_ni && joins_i;
    event_q.now <= packet_i.frame.now;
    event_q.length <= packet_i.frame.length;
    event_q.counts <= packet_i.meta.kind == clarion_sizes_pkg::DATA && packet_i.meta.rtt != 0;
    event_q.rtt <= packet_i.meta.rtt;
    event_q.x <= packet_i.meta.x;
    bytes_q <= queue_bytes_i;
    elsewhere_q <= elsewhere_i;
    left_length_q <= left_length_i;

    observed_q <= event_q;
    if (!rst_ni) {observed_q.leaves, observed_q.joins} <= 2'b0;
    waiting_bytes_q <= 41'(bytes_q) + 41'(elsewhere_q);
    left_bytes_q <= 41'(bytes_q) + 41'(elsewhere_q) - 41'(left_length_q);
  end

  assign tracker_asked.queue = queue_o;
  assign tracker_asked.leaves = observed_q.leaves;
  assign tracker_asked.left_bytes = left_bytes_q;
  assign tracker_asked.joins = observed_q.joins;
  assign tracker_asked.waiting_bytes = waiting_bytes_q;
  assign tracker_asked.now = observed_q.now;
  assign tracker_asked.window = length >> 1;

  clarion_block_pkg::queue_t unknown_queue;
  always_comb begin
    unknown_queue = '0;
    unknown_queue.minimum = '1;
  end

  clarion_tracker tracker (
      .clk_i,
      .valid_i(observed_q.leaves || observed_q.joins),
      .arguments_i(tracker_asked),
      .results_o(tracked)
  );
  clarion_state #(
      .WIDTH($bits(tracked)),
      .INITIAL({1'b0, 64'b0, {40{1'b1}}, 40'b0})  // as `unknown_queue`
  ) queue_state (
      .clk_i,
      .rst_ni,
      .load_i(restart_i),
      .load_value_i(unknown_queue),
      .called_i(observed_q.leaves || observed_q.joins),
      .result_i(tracked),
      .state_o(queue_o)
  );

  // --- The sums --------------------------------------------------------------------------------------------

  typedef struct packed {
    logic begins;
    logic [15:0] length;
    logic counts;
    logic [31:0] x;
  } adding_t;

  adding_t weighed, adding;
  wire adds;
  clarion_block_pkg::weight_arguments_t weight_asked;
  clarion_block_pkg::weight_results_t weight_result;
  clarion_block_pkg::sums_arguments_t sums_asked;
  clarion_block_pkg::sums_results_t summed;
  clarion_block_pkg::sums_t ended_sums_q;

  assign weighed.begins = ended_o;
  assign weighed.length = event_q.length;
  assign weighed.counts = event_q.counts;
  assign weighed.x = event_q.x;
  assign weight_asked.x = event_q.x;
  assign weight_asked.rtt = event_q.rtt;
  assign weight_asked.max_interval = config_i.max_interval;

  clarion_weight weight (
      .clk_i,
      .valid_i(event_q.joins),
      .arguments_i(weight_asked),
      .results_o(weight_result)
  );
  clarion_pipe #(
      .WIDTH($bits(adding)),
      .LATENCY(clarion_block_pkg::WEIGHT_LATENCY)
  ) weight_pipe (
      .clk_i,
      .rst_ni,
      .valid_i(event_q.joins),
      .data_i(weighed),
      .valid_o(adds),
      .data_o(adding)
  );

  assign sums_asked.sums = sums_o;
  assign sums_asked.begins = adding.begins;
  assign sums_asked.length = adding.length;
  assign sums_asked.counts = adding.counts;
  assign sums_asked.x = adding.x;
  assign sums_asked.x_rtt = weight_result.x_rtt;

  clarion_sums sums (
      .clk_i,
      .valid_i(adds),
      .arguments_i(sums_asked),
      .results_o(summed)
  );
  clarion_state #(
      .WIDTH($bits(summed))
  ) sums_state (
      .clk_i,
      .rst_ni,
      .load_i(restart_i),
      .load_value_i('0),
      .called_i(adds),
      .result_i(summed),
      .state_o(sums_o)
  );

  // --- The control step ------------------------------------------------------------------------------------

  clarion_block_pkg::control_arguments_t control_asked;
  clarion_block_pkg::control_results_t controlled;
  logic [31:0] elapsed_q;

  assign control_asked.config_ = config_i;
  assign control_asked.avg_rtt = report_o.avg_rtt;
  assign control_asked.phi = report_o.phi;
  assign control_asked.credit = credit_o;
  assign control_asked.sums = ended_sums_q;
  assign control_asked.own = own_i;
  assign control_asked.pools = pools_i;
  assign control_asked.queue_bytes = queue_o.persistent;
  assign control_asked.elapsed = elapsed_q;

  clarion_control control (
      .clk_i,
      .valid_i(control_i),
      .arguments_i(control_asked),
      .results_o(controlled)
  );
  clarion_pipe #(
      .WIDTH(1),
      .LATENCY(clarion_block_pkg::CONTROL_LATENCY)
  ) control_pipe (
      .clk_i,
      .rst_ni,
      .valid_i(control_i),
      .data_i(1'b0),
      .valid_o(done_o),
      .data_o()
  );

  assign shares_o = controlled.shares;
  assign gains_o = controlled.gains;

  always_ff @(posedge clk_i) begin
    if (ended_o) elapsed_q <= over_result.elapsed;
    if (adds && adding.begins) ended_sums_q <= sums_o;
    if (done_o) begin
      report_o.intervals <= report_o.intervals == '1 ? report_o.intervals : report_o.intervals + 1'b1;
      report_o.avg_rtt <= controlled.avg_rtt;
      report_o.elapsed <= elapsed_q;
      report_o.sums <= ended_sums_q;
      report_o.queue_bytes <= queue_o.persistent;
      report_o.rate <= controlled.rate;
      report_o.phi <= controlled.phi;
      report_o.shares <= controlled.shares;
      credit_o <= controlled.credit;
    end
    if (!rst_ni || restart_i) begin
      report_o <= '0;
      report_o.avg_rtt <= INITIAL_RTT;
      credit_o <= CREDIT_MAX;
    end
  end
endmodule
