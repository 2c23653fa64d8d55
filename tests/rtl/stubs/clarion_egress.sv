// SPDX-License-Identifier: Apache-2.0
// Stand-in for the egress unit that HLS makes; see clarion_ingress.sv. Its grant stage answers first, with beat 5.
module clarion_egress (
    input  wire         ap_clk,
    input  wire         ap_rst_n,
    input  wire         from_host_TVALID,
    output wire         from_host_TREADY,
    input  wire [511:0] from_host_TDATA,
    input  wire [63:0]  from_host_TKEEP,
    input  wire [63:0]  from_host_TSTRB,
    input  wire [0:0]   from_host_TLAST,
    input  wire [47:0]  from_host_TUSER,
    output wire         to_wire_TVALID,
    input  wire         to_wire_TREADY,
    output wire [511:0] to_wire_TDATA,
    output wire [63:0]  to_wire_TKEEP,
    output wire [63:0]  to_wire_TSTRB,
    output wire [0:0]   to_wire_TLAST,
    output wire [47:0]  to_wire_TUSER,
    input  wire [7:0]   protocol,
    input  wire [39:0]  queue_elsewhere,
    input  wire         commands_TVALID,
    output wire         commands_TREADY,
    input  wire [511:0] commands_TDATA,
    output reg          traffic_replies_TVALID,
    input  wire         traffic_replies_TREADY,
    output reg  [527:0] traffic_replies_TDATA,
    output reg          grant_replies_TVALID,
    input  wire         grant_replies_TREADY,
    output reg  [527:0] grant_replies_TDATA,
    input  wire [63:0]  now
);
    localparam [15:0] MARK = 16'h2000;

    assign to_wire_TVALID = from_host_TVALID;
    assign from_host_TREADY = to_wire_TREADY;
    assign to_wire_TDATA = from_host_TDATA;
    assign to_wire_TKEEP = from_host_TKEEP;
    assign to_wire_TSTRB = from_host_TSTRB;
    assign to_wire_TLAST = from_host_TLAST;
    assign to_wire_TUSER = {from_host_TUSER[47:32], from_host_TUSER[31:16] | MARK, from_host_TUSER[15:0]};

    assign commands_TREADY = !traffic_replies_TVALID && !grant_replies_TVALID;

    always @(posedge ap_clk) begin
        if (!ap_rst_n) begin
            traffic_replies_TVALID <= 1'b0;
            grant_replies_TVALID <= 1'b0;
        end else if (commands_TVALID && commands_TREADY) begin
            traffic_replies_TVALID <= 1'b1;
            traffic_replies_TDATA <= {320'd0, now, 24'd0, protocol, commands_TDATA[63:0], "egrs",
                                      4'd0, 8'd0, 1'b1, 3'd0};
            grant_replies_TVALID <= 1'b1;
            grant_replies_TDATA <= {472'd0, queue_elsewhere, 4'd0, 8'd0, 1'b0, 3'd5};
        end else begin
            if (traffic_replies_TREADY) traffic_replies_TVALID <= 1'b0;
            if (grant_replies_TREADY) grant_replies_TVALID <= 1'b0;
        end
    end

    wire unused = &{1'b0, commands_TDATA[511:64]};
endmodule
