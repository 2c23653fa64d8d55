// SPDX-License-Identifier: Apache-2.0
// Stand-in for the egress unit; see clarion_ingress.sv. Its answers have two beats.
module clarion_egress #(
    parameter logic [31:0] BUCKETS = 4096,
    parameter logic [31:0] QUEUE_BEATS = 4096
) (
    input  wire         clk_i,
    input  wire         rst_ni,
    input  wire [63:0]  now_i,
    input  wire [7:0]   protocol_i,
    input  wire [39:0]  queue_elsewhere_i,
    input  wire         s_axis_tvalid,
    output wire         s_axis_tready,
    input  wire [511:0] s_axis_tdata,
    input  wire [63:0]  s_axis_tkeep,
    input  wire         s_axis_tlast,
    input  wire [47:0]  s_axis_tuser,
    output wire         m_axis_tvalid,
    input  wire         m_axis_tready,
    output wire [511:0] m_axis_tdata,
    output wire [63:0]  m_axis_tkeep,
    output wire         m_axis_tlast,
    output wire [47:0]  m_axis_tuser,
    input  wire         command_valid_i,
    output wire         command_ready_o,
    input  wire [511:0] command_i,
    output reg          reply_valid_o,
    input  wire         reply_ready_i,
    output reg  [527:0] reply_o,
    output wire [148:0] watch_o
);
    localparam [15:0] MARK = 16'h2000;

    assign m_axis_tvalid = s_axis_tvalid;
    assign s_axis_tready = m_axis_tready;
    assign m_axis_tdata = s_axis_tdata;
    assign m_axis_tkeep = s_axis_tkeep;
    assign m_axis_tlast = s_axis_tlast;
    assign m_axis_tuser = {s_axis_tuser[47:32], s_axis_tuser[31:16] | MARK, s_axis_tuser[15:0]};

    // A command is taken with the last beat of its answer.
    wire last = reply_o[3];
    assign command_ready_o = reply_valid_o && reply_ready_i && last;

    always @(posedge clk_i) begin
        if (!rst_ni) begin
            reply_valid_o <= 1'b0;
        end else if (!reply_valid_o) begin
            reply_valid_o <= command_valid_i;
            reply_o <= {472'd0, queue_elsewhere_i, 4'd0, 8'd0, 1'b0, 3'd5};
        end else if (reply_ready_i && !last) begin
            reply_o <= {320'd0, now_i, 24'd0, protocol_i, command_i[63:0], "egrs", 4'd0, 8'd0, 1'b1, 3'd0};
        end else if (reply_ready_i) begin
            reply_valid_o <= 1'b0;
        end
    end

    assign watch_o = 149'd0;

    wire unused = &{1'b0, command_i[511:64], BUCKETS, QUEUE_BEATS};
endmodule
