// SPDX-License-Identifier: Apache-2.0
// Stand-in for the ingress unit of hls/rtl, whose types Icarus cannot read: its ports, frames passed on unchanged. It
// marks TUSER.src, so that a test sees which units a frame has passed, and answers each command with values of its
// inputs. The command is taken with the last beat of the answer.
module clarion_ingress #(
    parameter logic [31:0] BUCKETS = 4096
) (
    input  wire         clk_i,
    input  wire         rst_ni,
    input  wire [63:0]  now_i,
    input  wire [7:0]   protocol_i,
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
    output wire         reply_valid_o,
    input  wire         reply_ready_i,
    output wire [527:0] reply_o
);
    localparam [15:0] MARK = 16'h1000;

    assign m_axis_tvalid = s_axis_tvalid;
    assign s_axis_tready = m_axis_tready;
    assign m_axis_tdata = s_axis_tdata;
    assign m_axis_tkeep = s_axis_tkeep;
    assign m_axis_tlast = s_axis_tlast;
    assign m_axis_tuser = {s_axis_tuser[47:32], s_axis_tuser[31:16] | MARK, s_axis_tuser[15:0]};

    reg          answers;
    reg  [511:0] data;

    assign command_ready_o = answers && reply_ready_i;
    assign reply_valid_o = answers;
    assign reply_o = {data, 4'd0, 8'd0, 1'b1, 3'd0};  // data, reserved, status, last, index

    always @(posedge clk_i) begin
        answers <= rst_ni && (answers ? !reply_ready_i : command_valid_i);
        if (!answers) data <= {288'd0, BUCKETS, now_i, 24'd0, protocol_i, command_i[63:0], "ingr"};
    end

    wire unused = &{1'b0, command_i[511:64]};
endmodule
