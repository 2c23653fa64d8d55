// SPDX-License-Identifier: Apache-2.0
// Stand-in for the egress unit of hls/rtl; see clarion_ingress.sv. It answers with two beats, the sixth one first.
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
    output wire         reply_valid_o,
    input  wire         reply_ready_i,
    output wire [527:0] reply_o,
    output wire         watch_o
);
    localparam [15:0] MARK = 16'h2000;

    assign m_axis_tvalid = s_axis_tvalid;
    assign s_axis_tready = m_axis_tready;
    assign m_axis_tdata = s_axis_tdata;
    assign m_axis_tkeep = s_axis_tkeep;
    assign m_axis_tlast = s_axis_tlast;
    assign m_axis_tuser = {s_axis_tuser[47:32], s_axis_tuser[31:16] | MARK, s_axis_tuser[15:0]};

    reg          answers;
    reg          last;
    reg  [511:0] data;

    assign command_ready_o = answers && reply_ready_i && last;
    assign reply_valid_o = answers;
    assign reply_o = last ? {data, 4'd0, 8'd0, 1'b1, 3'd0} :
                            {416'd0, QUEUE_BEATS, 24'd0, queue_elsewhere_i, 4'd0, 8'd0, 1'b0, 3'd5};
    assign watch_o = 1'b0;

    always @(posedge clk_i) begin
        answers <= rst_ni && (answers ? !command_ready_o : command_valid_i);
        last <= answers && (last || reply_ready_i);
        if (!answers) data <= {288'd0, BUCKETS, now_i, 24'd0, protocol_i, command_i[63:0], "egrs"};
    end

    wire unused = &{1'b0, command_i[511:64]};
endmodule
