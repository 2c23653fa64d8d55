// SPDX-License-Identifier: Apache-2.0
// clarion_credit beside a user that takes only what is available and gives only what it took: what is out and what is
// left are CREDITS together, in every clock. The assertions inside the module are proved with these.
// The first clock is one of reset; before it registers may hold anything.
`default_nettype none
module clarion_credit_properties #(
    parameter logic [31:0] CREDITS = 5  // up to 14
) (
    input wire clk_i,
    input wire rst_ni,
    input wire take_i,
    input wire give_i
);
  wire available;
  wire idle;

  clarion_credit #(
      .CREDITS(CREDITS)
  ) credit (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .take_i(take_i),
      .give_i(give_i),
      .available_o(available),
      .idle_o(idle)
  );

  logic begun_q = 1'b0;
  logic [3:0] out_q;  // taken and not given back

  always_ff @(posedge clk_i) begin
    begun_q <= 1'b1;
    out_q <= out_q + 4'(take_i) - 4'(give_i);
    if (!rst_ni) out_q <= 4'd0;
  end

  always_comb begin
    if (!begun_q) first_clock : assume (!rst_ni);
    if (take_i) takes_what_is_available : assume (available);
    if (give_i) gives_what_it_took : assume (out_q != 4'd0);
    if (begun_q) begin
      range : assert (out_q <= 4'(CREDITS));
      available_is_exact : assert (available == (out_q < 4'(CREDITS)));
      idle_is_exact : assert (idle == (out_q == 4'd0));
      reaches_none_left : assert (available);
      reaches_both : assert (!(give_i && (take_i || CREDITS == 1)));  // of one, never
    end
  end
endmodule
`default_nettype wire
