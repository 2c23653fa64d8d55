// SPDX-License-Identifier: Apache-2.0
// clarion_egress_stage among packets, places and software that do as they like: what has to be settled is settled
// before an interval ends, controllers start or software looks; and bytes in the queue are those that joined and were
// not sent.
// The first clock is one of reset; before it registers may hold anything.
`default_nettype none

// A few bits stand for all:
// verilator lint_off UNUSEDSIGNAL
module clarion_egress_stage_properties (
    input wire clk_i,
    input wire rst_ni,
    input wire enabled_i,
    input wire [1:0] epoch_i,
    input wire [1:0] limit_i,
    input wire packet_valid_i,
    input wire whole_i,
    input wire errored_i,
    input wire [1:0] length_i,
    input wire waiting_valid_i,
    input wire waiting_send_i,
    input wire waiting_xcp_i,
    input wire waiting_data_i,
    input wire place_i,
    input wire sent_i,
    input wire ended_i,
    input wire done_i,
    input wire grants_idle_i,
    input wire hold_i,
    input wire clear_i
);
  localparam logic [4:0] SETTLED = 5'd16;  // clocks behind the last packet, at least
  localparam logic [5:0] BOUND = 6'd40;  // it settles twice at most, and goes on

  wire packet_ready, joins, waiting_ready, leaves, regulates, xcp_leaves, xcp_joins;
  wire prepares, restart, control, held, drops, discards;
  wire [23:0] queue_bytes;
  wire [7:0] running_epoch;
  clarion_block_pkg::egress_config_t configuration;
  clarion_block_pkg::packet_t packet;
  clarion_block_pkg::waiting_t waiting;
  clarion_block_pkg::waiting_t joining;

  always_comb begin
    configuration = '0;
    configuration.enabled = enabled_i;
    configuration.epoch = 8'(epoch_i);
    configuration.queue_limit = 40'(limit_i);
    packet = '0;
    packet.frame.whole = whole_i;
    packet.frame.errored = errored_i;
    packet.frame.length = 16'(length_i);
    waiting = '0;
    waiting.send = waiting_send_i;
    waiting.xcp = waiting_xcp_i;
    waiting.meta.kind = waiting_data_i ? 2'd1 : 2'd0;
  end

  clarion_egress_stage stage (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .config_i(configuration),
      .packet_valid_i(packet_valid_i),
      .packet_ready_o(packet_ready),
      .packet_i(packet),
      .joins_o(joins),
      .joins_waiting_o(joining),
      .waiting_valid_i(waiting_valid_i),
      .waiting_ready_o(waiting_ready),
      .waiting_i(waiting),
      .leaves_o(leaves),
      .regulates_o(regulates),
      .place_i(place_i),
      .sent_i(sent_i),
      .sent_bytes_i(16'(lengths_q[0])),
      .elsewhere_i(40'd0),
      .xcp_leaves_o(xcp_leaves),
      .xcp_joins_o(xcp_joins),
      .queue_bytes_o(queue_bytes),
      .ended_i(ended_i),
      .prepares_o(prepares),
      .restart_o(restart),
      .control_o(control),
      .done_i(done_i),
      .grants_idle_i(grants_idle_i),
      .hold_i(hold_i),
      .held_o(held),
      .clear_i(clear_i),
      .running_epoch_o(running_epoch),
      .watch_o(),
      .drops_o(drops),
      .drops_unstored_o(),
      .discards_o(discards)
  );

  // Three packets, which have joined and are to be sent in their order.
  logic begun_q = 1'b0;
  logic moves;
  logic adds;
  logic was_reset_q;
  logic was_xcp_joins_q;
  logic was_held_q;
  logic was_idle_q;
  logic [4:0] since_q;  // clocks in which nothing joined or left, 31 or more
  logic was_waiting_q;  // the same packet
  logic was_errored_q;
  logic was_enabled_q;
  logic was_hold_q;
  logic [1:0] was_epoch_q;
  logic undisturbed;  // by what may last as long as it likes, or changes
  logic waits;  // software to look, or else a packet
  logic [5:0] waits_q;  // clocks
  logic [1:0] lengths_q[3];
  logic [1:0] packets_q;
  logic [1:0] packets;  // without the one that is sent
  logic [3:0] bytes;  // of those
  logic ending_q;
  logic controls_q;  // the control step has been asked for

  assign moves = joins || leaves;
  assign undisturbed = grants_idle_i && !ended_i && !ending_q &&
                       {hold_i, enabled_i, epoch_i} == {was_hold_q, was_enabled_q, was_epoch_q};
  assign waits = hold_i ? !held : packet_valid_i && !packet_ready;
  assign adds = joins && joining.send;
  assign packets = packets_q - 2'(sent_i);
  assign bytes = (packets_q > 2'd0 && !sent_i ? 4'(lengths_q[0]) : 4'd0) + (packets_q > 2'd1 ? 4'(lengths_q[1]) : 4'd0) +
                 (packets_q > 2'd2 ? 4'(lengths_q[2]) : 4'd0);

  always_ff @(posedge clk_i) begin
    begun_q <= 1'b1;
    was_reset_q <= !rst_ni;
    was_xcp_joins_q <= xcp_joins && rst_ni;
    was_held_q <= held;
    was_idle_q <= grants_idle_i;
    since_q <= moves ? 5'd0 : since_q == 5'd31 ? since_q : since_q + 5'd1;
    was_waiting_q <= packet_valid_i && !packet_ready && rst_ni;
    was_errored_q <= errored_i;
    was_enabled_q <= enabled_i;
    was_epoch_q <= epoch_i;
    was_hold_q <= hold_i;
    waits_q <= waits && undisturbed ? waits_q + 6'd1 : 6'd0;
    packets_q <= packets + 2'(adds);
    if (sent_i) begin
      lengths_q[0] <= lengths_q[1];
      lengths_q[1] <= lengths_q[2];
    end
    if (adds && packets == 2'd0) lengths_q[0] <= length_i;
    if (adds && packets == 2'd1) lengths_q[1] <= length_i;
    if (adds && packets == 2'd2) lengths_q[2] <= length_i;
    if (ended_i) {ending_q, controls_q} <= 2'b10;
    if (control) controls_q <= 1'b1;
    if (done_i) ending_q <= 1'b0;
    if (!rst_ni) begin
      since_q <= 5'd0;
      waits_q <= 6'd0;
      packets_q <= 2'd0;
      {ending_q, controls_q} <= 2'b00;
    end
  end

  always_comb begin
    if (!begun_q) first_clock : assume (!rst_ni);
    if (was_waiting_q) packet_stays : assume (packet_valid_i && errored_i == was_errored_q);
    if (sent_i) sends_what_joined : assume (packets_q != 2'd0);
    if (adds) up_to_three : assume (packets_q != 2'd3);
    if (ended_i) ends_with_a_packet : assume (was_xcp_joins_q);
    if (done_i) answers_what_was_asked : assume (ending_q && controls_q);
    if (clear_i) clears_while_held : assume (held);
    if (begun_q) begin
      if (was_reset_q) empty_after_reset : assert (prepares && !held && !control && queue_bytes == 24'd0);
      taken_as_it_joins : assert (packet_ready == joins && (!joins || packet_valid_i));
      one_of_three : assert (joins == (adds || drops || discards) && !(drops && (adds || discards)) && !(discards && adds));
      leaves_to_a_place : assert (leaves == waiting_ready && (!leaves || (place_i && waiting_valid_i)));
      if (xcp_leaves || regulates) leaves_to_be_counted : assert (leaves && waiting_send_i && waiting_xcp_i);
      if (prepares) rests : assert (!moves);
      if (ended_i || ending_q) rests_until_done : assert (!moves && !held);
      if (held) settled_when_held : assert (since_q >= SETTLED && (was_held_q || was_idle_q));
      if (restart && !clear_i) settled_at_a_start : assert (since_q >= SETTLED && grants_idle_i);
      if (control) settled_at_the_end : assert (since_q >= SETTLED && was_idle_q);
      if (control) asks_once : assert (ending_q && !controls_q);
      not_both : assert (!restart || !control);
      if (xcp_joins) started_before : assert (running_epoch == 8'(epoch_i));
      queue_is_what_joined : assert (queue_bytes == 24'(bytes));
      if (adds) within_the_limit : assert (queue_bytes + 24'(length_i) <= 24'(limit_i) && whole_i && !errored_i);

      goes_on : assert (waits_q < BOUND);

      reaches_held : assert (!held);
      reaches_control : assert (!(control && hold_i));
      reaches_start : assert (!(restart && !clear_i && hold_i));
      reaches_join_and_leave : assert (!(adds && regulates && packets_q == 2'd2 && sent_i && xcp_joins));
      reaches_a_start_before_it_is_held : assert (!(hold_i && waits_q == BOUND - 6'd6));
      reaches_a_start_before_it_goes_on : assert (!(!hold_i && waits_q == BOUND - 6'd6));
      reaches_done : assert (!(ending_q && done_i));
    end
  end
endmodule
`default_nettype wire
