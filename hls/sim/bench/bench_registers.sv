// SPDX-License-Identifier: Apache-2.0
// The register front end of a bench, whose number of ports is chosen at run time: one front end for each.
// What is of a port lies port by port.
`default_nettype none
module bench_registers #(
    parameter logic [31:0] BUCKETS = 4096,
    parameter logic [31:0] QUEUE_BEATS = 4096
) (
    input wire clk_i,
    input wire rst_ni,
    input wire [1:0] ports_i,  // 1 to 3
    input wire [63:0] now_i,

    input  wire        s_axil_awvalid,
    output wire        s_axil_awready,
    input  wire [15:0] s_axil_awaddr,
    input  wire        s_axil_wvalid,
    output wire        s_axil_wready,
    input  wire [31:0] s_axil_wdata,
    output wire        s_axil_bvalid,
    output wire [ 1:0] s_axil_bresp,
    input  wire        s_axil_arvalid,
    output wire        s_axil_arready,
    input  wire [15:0] s_axil_araddr,
    output wire        s_axil_rvalid,
    output wire [31:0] s_axil_rdata,
    output wire [ 1:0] s_axil_rresp,

    // Ingress units in [2:0], egress units in [5:3].
    output wire [     5:0] command_valid_o,
    input  wire [     5:0] command_ready_i,
    output wire [6*512-1:0] command_o,
    input  wire [     5:0] reply_valid_i,
    input  wire [6*528-1:0] reply_i
);
  wire [3:0] awready, wready, bvalid, arready, rvalid;
  wire [3:0][1:0] bresp, rresp;
  wire [3:0][31:0] rdata;
  wire [3:0][5:0] command_valid;
  wire [3:0][6*512-1:0] command;

  assign s_axil_awready = awready[ports_i];
  assign s_axil_wready = wready[ports_i];
  assign s_axil_bvalid = bvalid[ports_i];
  assign s_axil_bresp = bresp[ports_i];
  assign s_axil_arready = arready[ports_i];
  assign s_axil_rvalid = rvalid[ports_i];
  assign s_axil_rdata = rdata[ports_i];
  assign s_axil_rresp = rresp[ports_i];
  assign command_valid_o = command_valid[ports_i];
  assign command_o = command[ports_i];

  assign {awready[0], wready[0], bvalid[0], arready[0], rvalid[0]} = '0;
  assign {bresp[0], rresp[0], rdata[0], command_valid[0], command[0]} = '0;

  for (genvar n = 1; n <= 3; n++) begin : gen_ports
    wire selected = ports_i == 2'(n);
    wire [n-1:0] unused_ingress_ready, unused_egress_ready;
    wire [7:0] unused_protocol;

    if (n < 3) begin : gen_rest
      assign command_valid[n][2:n] = '0;
      assign command_valid[n][5:3+n] = '0;
      assign command[n][512*3-1:512*n] = '0;
      assign command[n][512*6-1:512*(3+n)] = '0;
    end

    clarion_axil #(
        .PORTS(n),
        .BUCKETS(BUCKETS),
        .QUEUE_BEATS(QUEUE_BEATS)
    ) registers (
        .aclk(clk_i),
        .aresetn(rst_ni),
        .s_axil_awvalid(s_axil_awvalid && selected),
        .s_axil_awready(awready[n]),
        .s_axil_awaddr,
        .s_axil_wvalid(s_axil_wvalid && selected),
        .s_axil_wready(wready[n]),
        .s_axil_wdata,
        .s_axil_wstrb(4'hf),
        .s_axil_bvalid(bvalid[n]),
        .s_axil_bready(1'b1),
        .s_axil_bresp(bresp[n]),
        .s_axil_arvalid(s_axil_arvalid && selected),
        .s_axil_arready(arready[n]),
        .s_axil_araddr,
        .s_axil_rvalid(rvalid[n]),
        .s_axil_rready(1'b1),
        .s_axil_rdata(rdata[n]),
        .s_axil_rresp(rresp[n]),
        .ingress_command_tvalid(command_valid[n][n-1:0]),
        .ingress_command_tready(command_ready_i[n-1:0]),
        .ingress_command_tdata(command[n][512*n-1:0]),
        .ingress_reply_tvalid(reply_valid_i[n-1:0]),
        .ingress_reply_tready(unused_ingress_ready),
        .ingress_reply_tdata(reply_i[528*n-1:0]),
        .egress_command_tvalid(command_valid[n][3+:n]),
        .egress_command_tready(command_ready_i[3+:n]),
        .egress_command_tdata(command[n][512*3+:512*n]),
        .egress_reply_tvalid(reply_valid_i[3+:n]),
        .egress_reply_tready(unused_egress_ready),
        .egress_reply_tdata(reply_i[528*3+:528*n]),
        .now(now_i),
        .protocol(unused_protocol)
    );
  end
endmodule
`default_nettype wire
