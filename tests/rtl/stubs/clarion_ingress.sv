// SPDX-License-Identifier: Apache-2.0
// Stand-in for the ingress unit that HLS makes: its ports, frames passed on unchanged. It marks TUSER.src, so that
// a test sees which units a frame has passed, and answers each command with values of its inputs.
module clarion_ingress (
    input  wire         ap_clk,
    input  wire         ap_rst_n,
    input  wire         from_wire_TVALID,
    output wire         from_wire_TREADY,
    input  wire [511:0] from_wire_TDATA,
    input  wire [63:0]  from_wire_TKEEP,
    input  wire [63:0]  from_wire_TSTRB,
    input  wire [0:0]   from_wire_TLAST,
    input  wire [47:0]  from_wire_TUSER,
    output wire         to_host_TVALID,
    input  wire         to_host_TREADY,
    output wire [511:0] to_host_TDATA,
    output wire [63:0]  to_host_TKEEP,
    output wire [63:0]  to_host_TSTRB,
    output wire [0:0]   to_host_TLAST,
    output wire [47:0]  to_host_TUSER,
    input  wire [7:0]   protocol,
    input  wire         commands_TVALID,
    output wire         commands_TREADY,
    input  wire [511:0] commands_TDATA,
    output reg          replies_TVALID,
    input  wire         replies_TREADY,
    output reg  [527:0] replies_TDATA,
    input  wire [63:0]  now
);
    localparam [15:0] MARK = 16'h1000;

    assign to_host_TVALID = from_wire_TVALID;
    assign from_wire_TREADY = to_host_TREADY;
    assign to_host_TDATA = from_wire_TDATA;
    assign to_host_TKEEP = from_wire_TKEEP;
    assign to_host_TSTRB = from_wire_TSTRB;
    assign to_host_TLAST = from_wire_TLAST;
    assign to_host_TUSER = {from_wire_TUSER[47:32], from_wire_TUSER[31:16] | MARK, from_wire_TUSER[15:0]};

    assign commands_TREADY = !replies_TVALID;

    always @(posedge ap_clk) begin
        if (!ap_rst_n) begin
            replies_TVALID <= 1'b0;
        end else if (commands_TVALID && commands_TREADY) begin
            replies_TVALID <= 1'b1;
            // data, reserved, status, last, index
            replies_TDATA <= {320'd0, now, 24'd0, protocol, commands_TDATA[63:0], "ingr", 4'd0, 8'd0, 1'b1, 3'd0};
        end else if (replies_TREADY) begin
            replies_TVALID <= 1'b0;
        end
    end

    wire unused = &{1'b0, commands_TDATA[511:64]};
endmodule
