// SPDX-License-Identifier: Apache-2.0
// Frames that have left the queue get their grants, if any, and their new bytes, in the order in which they left.

// Structs have members for other stages, too:
// verilator lint_off UNUSEDSIGNAL
module clarion_egress_departures (
    input wire clk_i,
    input wire rst_ni,

    input wire departs_i,  // there is a place for it here
    input clarion_block_pkg::departure_t departure_i,

    input wire granted_valid_i,
    output wire granted_ready_o,
    input wire [31:0] granted_i,
    input wire pays_i,

    output wire release_valid_o,
    input wire release_ready_i,
    output clarion_block_pkg::release_t release_o
);
  wire head_valid, patched_valid;
  clarion_block_pkg::departure_t head, patched_head;
  wire joins = head_valid && (!head.regulated || granted_valid_i);

  assign granted_ready_o = joins && head.regulated;

  clarion_fifo #(
      .WIDTH($bits(head)),
      .DEPTH(clarion_sizes_pkg::DEPARTURES),
      .STYLE("distributed")
  ) departures (
      .clk_i,
      .rst_ni,
      .valid_i(departs_i),
      .ready_o(),  // there is a place for each
      .data_i(departure_i),
      .valid_o(head_valid),
      .ready_i(joins),
      .data_o(head),
      .count_o()
  );

  clarion_block_pkg::patch_arguments_t asked;
  clarion_block_pkg::patch_results_t patched;
  clarion_block_pkg::release_t release_in;

  assign asked.kind = head.kind;
  assign asked.numbered = head.numbered;
  assign asked.link_seq = head.link_seq;
  assign asked.corrupt = head.corrupt;
  assign asked.congest = head.congest;
  assign asked.regulated = head.regulated;
  assign asked.maxmin = head.maxmin;
  assign asked.pays = pays_i;
  assign asked.rtt = head.rtt;
  assign asked.requested = head.requested;
  assign asked.granted = granted_i;
  assign asked.flags = head.flags;
  assign asked.field = head.field;

  clarion_patch patch (
      .clk_i,
      .valid_i(joins),
      .arguments_i(asked),
      .results_o(patched)
  );
  clarion_pipe #(
      .WIDTH($bits(head)),
      .LATENCY(clarion_block_pkg::PATCH_LATENCY)
  ) patch_pipe (
      .clk_i,
      .rst_ni,
      .valid_i(joins),
      .data_i(head),
      .valid_o(patched_valid),
      .data_o(patched_head)
  );

  assign release_in.stored = patched_head.stored;
  assign release_in.send = patched_head.send;
  assign release_in.length = patched_head.length;
  assign release_in.offset = patched_head.offset;
  assign release_in.patch.enable = patched.enable;
  assign release_in.patch.data = patched.data;

  clarion_fifo #(
      .WIDTH($bits(release_in)),
      .DEPTH(clarion_sizes_pkg::DEPARTURES),
      .STYLE("distributed")
  ) releases (
      .clk_i,
      .rst_ni,
      .valid_i(patched_valid),
      .ready_o(),  // there is a place for each
      .data_i(release_in),
      .valid_o(release_valid_o),
      .ready_i(release_ready_i),
      .data_o(release_o),
      .count_o()
  );
endmodule
