// SPDX-License-Identifier: Apache-2.0
// What each departing DATA packet is granted, in the order in which they leave, and the pools that pay for it.
//
//   leaves ─► offer ─► offers ─► grant ─► grants
//               pipelined          one in two clocks, for each needs what the one before has left
//
// A DATA header ends behind byte 64 of its frame, so such frames have two beats: on average there is one in two clocks.

// Structs have members for other stages, too:
// verilator lint_off UNUSEDSIGNAL
module clarion_egress_grant (
    input wire clk_i,
    input wire rst_ni,

    input wire leaves_i,  // a regulated packet; there is a place for it in every queue here
    input clarion_block_pkg::waiting_t waiting_i,

    output wire granted_valid_o,
    input wire granted_ready_i,
    output wire [31:0] granted_o,  // bytes/s
    output wire pays_o,  // the pools have decided
    output wire idle_o,  // no packet is between `leaves_i` and `granted_valid_o`

    // Between packets, while idle.
    input wire restart_i,  // from nothing
    input wire refill_i,  // for another interval
    input clarion_block_pkg::shares_t shares_i,
    input clarion_block_pkg::gains_t gains_i,
    output clarion_block_pkg::pools_t pools_o,
    output clarion_block_pkg::gain_t cp_o,  // zero if the pool is spent
    output clarion_block_pkg::gain_t cn_o,
    output clarion_block_pkg::gains_t gains_o,
    output clarion_block_pkg::own_t own_o
);
  // What is kept of a packet beside its offer.
  typedef struct packed {
    logic again;  // offered a second time
    logic maxmin;
    logic [31:0] rtt;
    logic [31:0] x;
    logic [31:0] delta_throughput;
    logic [15:0] length;
    logic [7:0] flags;
    logic [2:0] field;
  } asking_t;

  clarion_block_pkg::gain_t cp_q, cn_q;
  clarion_block_pkg::gains_t gains_q;
  clarion_block_pkg::pools_t pools;

  // --- Offers ----------------------------------------------------------------------------------------------

  // An offer is made with the gains of the interval. Where generation 1 has spent a pool, an offer of generation 2 is to
  // be without its gain. That happens only to packets that waited while the generation was changed, so they may take
  // the way twice.
  wire asks_again;
  asking_t asking, again_asking;
  clarion_block_pkg::offer_arguments_t offer_asked;
  asking_t offered_asking;
  clarion_block_pkg::offer_results_t offered;
  wire offered_valid;

  always_comb begin
    asking.again = 1'b0;
    asking.maxmin = waiting_i.maxmin;
    asking.rtt = waiting_i.meta.rtt;
    asking.x = waiting_i.meta.x;
    asking.delta_throughput = waiting_i.meta.delta_throughput;
    asking.length = waiting_i.length;
    asking.flags = waiting_i.meta.flags;
    asking.field = waiting_i.field;
    if (asks_again) asking = again_asking;
    offer_asked.maxmin = asking.maxmin;
    offer_asked.cp = asking.again && pools.pos_spent ? '0 : cp_q;
    offer_asked.cn = asking.again && pools.neg_spent ? '0 : cn_q;
    offer_asked.gains = gains_q;
    offer_asked.rtt = asking.rtt;
    offer_asked.x = asking.x;
    offer_asked.delta_throughput = asking.delta_throughput;
    offer_asked.length = asking.length;
    offer_asked.flags = asking.flags;
    offer_asked.field = asking.field;
  end

  clarion_offer offer (
      .clk_i,
      .valid_i(leaves_i || asks_again),
      .arguments_i(offer_asked),
      .results_o(offered)
  );
  clarion_pipe #(
      .WIDTH($bits(asking)),
      .LATENCY(clarion_block_pkg::OFFER_LATENCY)
  ) asking_pipe (
      .clk_i,
      .rst_ni,
      .valid_i(leaves_i || asks_again),
      .data_i(asking),
      .valid_o(offered_valid),
      .data_o(offered_asking)
  );

  wire head_valid, grants;
  asking_t head;
  clarion_block_pkg::offer_results_t head_offer, last_offer;
  clarion_fifo #(
      .WIDTH($bits(asking) + $bits(offered)),
      .DEPTH(clarion_sizes_pkg::DEPARTURES),
      .STYLE("distributed")
  ) offers (
      .clk_i,
      .rst_ni,
      .valid_i(offered_valid && !offered_asking.again),
      .ready_o(),  // there is a place for each
      .data_i({offered_asking, offered}),
      .valid_o(head_valid),
      .ready_i(grants),
      .data_o({head, head_offer}),
      .count_o()
  );

  // --- Grants ----------------------------------------------------------------------------------------------

  logic busy_q;  // the pools are known again in the next clock
  logic redoes_q, redone_q;  // the first offer is made again, has been made again
  clarion_block_pkg::offer_results_t redone_offer_q;

  wire settled = head_valid && !busy_q;
  wire wants_again = settled && head.maxmin && (pools.pos_spent || pools.neg_spent) && !redone_q;
  assign asks_again = wants_again && !redoes_q && !leaves_i;
  assign grants = settled && !wants_again;

  always_comb begin
    again_asking = head;
    again_asking.again = 1'b1;
    last_offer = redone_q ? redone_offer_q : head_offer;
  end

  always_ff @(posedge clk_i) begin
    busy_q <= grants;
    if (asks_again) redoes_q <= 1'b1;
    if (offered_valid && offered_asking.again) begin
      redoes_q <= 1'b0;
      redone_q <= 1'b1;
      redone_offer_q <= offered;
    end
    if (grants) redone_q <= 1'b0;
    if (!rst_ni) {busy_q, redoes_q, redone_q} <= 3'b0;
  end

  clarion_block_pkg::grant_arguments_t grant_asked;
  clarion_block_pkg::grant_results_t result;
  clarion_block_pkg::pools_t refilled;
  wire pays = last_offer.pays;
  wire answer_valid, answer_pays;
  wire [31:0] answer_reply;

  assign grant_asked.pools = pools;
  assign grant_asked.maxmin = head.maxmin;
  assign grant_asked.requested = head.delta_throughput;
  assign grant_asked.claim = last_offer.claim;

  clarion_grant grant (
      .clk_i,
      .valid_i(grants && pays),
      .arguments_i(grant_asked),
      .results_o(result)
  );
  clarion_pipe #(
      .WIDTH(33),
      .LATENCY(clarion_block_pkg::GRANT_LATENCY)
  ) answer_pipe (
      .clk_i,
      .rst_ni,
      .valid_i(grants),
      .data_i({pays, last_offer.reply}),
      .valid_o(answer_valid),
      .data_o({answer_pays, answer_reply})
  );

  always_comb begin
    refilled = '0;
    refilled.pos = shares_i.pos;
    refilled.neg = shares_i.neg;
    refilled.carry = pools.carry;
    if (restart_i) refilled = '0;
  end

  clarion_state #(
      .WIDTH($bits(pools)),
      .LATENCY(clarion_block_pkg::GRANT_LATENCY)
  ) pools_state (
      .clk_i,
      .rst_ni,
      .load_i(restart_i || refill_i),
      .load_value_i(refilled),
      .called_i(grants && pays),
      .result_i(result.pools),
      .state_o(pools)
  );

  clarion_fifo #(
      .WIDTH(33),
      .DEPTH(clarion_sizes_pkg::DEPARTURES),
      .STYLE("distributed")
  ) grant_queue (
      .clk_i,
      .rst_ni,
      .valid_i(answer_valid),
      .ready_o(),  // there is a place for each
      .data_i({answer_pays, answer_pays ? result.granted : answer_reply}),
      .valid_o(granted_valid_o),
      .ready_i(granted_ready_i),
      .data_o({pays_o, granted_o}),
      .count_o()
  );

  clarion_credit #(
      .CREDITS(clarion_sizes_pkg::DEPARTURES)
  ) on_their_way (
      .clk_i,
      .rst_ni,
      .take_i(leaves_i),
      .give_i(answer_valid),
      .available_o(),
      .idle_o
  );

  // --- Sums of departures, and gains -----------------------------------------------------------------------

  clarion_block_pkg::own_arguments_t own_asked;
  clarion_block_pkg::own_results_t counted;
  wire counts = grants && head.maxmin;

  assign own_asked.sums = own_o;
  assign own_asked.length = head.length;
  assign own_asked.rtt = head.rtt;
  assign own_asked.x = head.x;
  assign own_asked.delta_throughput = head.delta_throughput;
  assign own_asked.own = last_offer.own;
  assign own_asked.poor = last_offer.poor;
  assign own_asked.limited = last_offer.limited;

  clarion_own own (
      .clk_i,
      .valid_i(counts),
      .arguments_i(own_asked),
      .results_o(counted)
  );
  clarion_state #(
      .WIDTH($bits(counted))
  ) own_state (
      .clk_i,
      .rst_ni,
      .load_i(restart_i || refill_i),
      .load_value_i('0),
      .called_i(counts),
      .result_i(counted),
      .state_o(own_o)
  );

  always_ff @(posedge clk_i) begin
    if (refill_i) {cp_q, cn_q, gains_q} <= {shares_i.cp, shares_i.cn, gains_i};
    if (!rst_ni || restart_i) {cp_q, cn_q, gains_q} <= '0;
  end

  assign pools_o = pools;
  assign cp_o = pools.pos_spent ? '0 : cp_q;
  assign cn_o = pools.neg_spent ? '0 : cn_q;
  assign gains_o = gains_q;
endmodule
