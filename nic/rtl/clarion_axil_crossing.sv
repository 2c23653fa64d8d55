// SPDX-License-Identifier: Apache-2.0
// AXI4-Lite from the shell's register clock to the clock of the data path, one access at a time.
//
// A request and its response are handed over by a toggling bit each; address and data are stable meanwhile. Two
// flip-flops sample each bit, so the two clocks may have any relation. Under the shell they are phase-aligned, 1:2,
// and timed as such: no exception is needed in the constraints.
//
// The window is the low 64 KiB of what the shell gives the box: an access outside ends here, with DECERR.
`default_nettype none

module clarion_axil_crossing (
    input  wire        s_aclk,
    input  wire        s_aresetn,
    input  wire        s_axil_awvalid,
    output wire        s_axil_awready,
    input  wire [31:0] s_axil_awaddr,
    input  wire        s_axil_wvalid,
    output wire        s_axil_wready,
    input  wire [31:0] s_axil_wdata,
    output wire        s_axil_bvalid,
    input  wire        s_axil_bready,
    output wire [1:0]  s_axil_bresp,
    input  wire        s_axil_arvalid,
    output wire        s_axil_arready,
    input  wire [31:0] s_axil_araddr,
    output wire        s_axil_rvalid,
    input  wire        s_axil_rready,
    output wire [31:0] s_axil_rdata,
    output wire [1:0]  s_axil_rresp,

    input  wire        m_aclk,
    input  wire        m_aresetn,
    output wire        m_axil_awvalid,
    input  wire        m_axil_awready,
    output wire [15:0] m_axil_awaddr,
    output wire        m_axil_wvalid,
    input  wire        m_axil_wready,
    output wire [31:0] m_axil_wdata,
    output wire [3:0]  m_axil_wstrb,
    input  wire        m_axil_bvalid,
    output wire        m_axil_bready,
    input  wire [1:0]  m_axil_bresp,
    output wire        m_axil_arvalid,
    input  wire        m_axil_arready,
    output wire [15:0] m_axil_araddr,
    input  wire        m_axil_rvalid,
    output wire        m_axil_rready,
    input  wire [31:0] m_axil_rdata,
    input  wire [1:0]  m_axil_rresp
);
    localparam logic [1:0] DECERR = 2'b11;

    // In the shell's clock: the request, and the response for the bus.
    logic        asked;          // toggles with each request
    logic        waiting;        // for the other clock domain
    logic        is_write;
    logic [15:0] address;
    logic [31:0] write_data;
    logic        answer_valid;
    logic [31:0] answer_data;
    logic [1:0]  answer_response;
    (* ASYNC_REG = "TRUE" *) logic [1:0] answered_sampled;
    logic        answered_seen;

    // In the clock of the data path: the access as it runs.
    logic        answered;       // toggles: the answer stands
    logic        answering;      // the access has been put on the bus
    logic        address_pending;
    logic        data_pending;
    logic [31:0] read_data;
    logic [1:0]  response;
    (* ASYNC_REG = "TRUE" *) logic [1:0] asked_sampled;
    logic        asked_seen;

    // Of a read and a write that wait together, the kind goes first that did not go last.
    wire idle = !waiting && !answer_valid;
    wire write_waits = s_axil_awvalid && s_axil_wvalid;
    wire take_read = idle && s_axil_arvalid && (is_write || !write_waits);
    wire take_write = idle && write_waits && (!is_write || !s_axil_arvalid);
    wire [31:0] taken_address = take_read ? s_axil_araddr : s_axil_awaddr;

    assign s_axil_arready = take_read;
    assign s_axil_awready = take_write;
    assign s_axil_wready = take_write;
    assign s_axil_bvalid = answer_valid && is_write;
    assign s_axil_bresp = answer_response;
    assign s_axil_rvalid = answer_valid && !is_write;
    assign s_axil_rresp = answer_response;
    assign s_axil_rdata = answer_data;

    always_ff @(posedge s_aclk) begin
        answered_sampled <= {answered_sampled[0], answered};
        if (take_read || take_write) begin
            is_write <= take_write;
            address <= taken_address[15:0];
            write_data <= s_axil_wdata;
            if (taken_address[31:16] != 0) begin
                answer_valid <= 1'b1;
                answer_data <= 32'd0;
                answer_response <= DECERR;
            end else begin
                asked <= !asked;
                waiting <= 1'b1;
            end
        end else if (waiting && answered_sampled[1] != answered_seen) begin
            answered_seen <= answered_sampled[1];
            waiting <= 1'b0;
            answer_valid <= 1'b1;
            answer_data <= read_data;
            answer_response <= response;
        end else if (answer_valid && (is_write ? s_axil_bready : s_axil_rready)) begin
            answer_valid <= 1'b0;
        end
        if (!s_aresetn) begin
            asked <= 1'b0;
            waiting <= 1'b0;
            is_write <= 1'b0;
            answer_valid <= 1'b0;
            answered_sampled <= 2'b00;
            answered_seen <= 1'b0;
        end
    end

    assign m_axil_awvalid = address_pending && is_write;
    assign m_axil_awaddr = address;
    assign m_axil_wvalid = data_pending;
    assign m_axil_wdata = write_data;
    assign m_axil_wstrb = 4'b1111;  // the shell's bus has no strobes: it writes whole registers
    assign m_axil_arvalid = address_pending && !is_write;
    assign m_axil_araddr = address;
    assign m_axil_bready = answering && is_write;
    assign m_axil_rready = answering && !is_write;

    always_ff @(posedge m_aclk) begin
        asked_sampled <= {asked_sampled[0], asked};
        if (asked_sampled[1] != asked_seen) begin
            asked_seen <= asked_sampled[1];
            address_pending <= 1'b1;
            data_pending <= is_write;
            answering <= 1'b1;
        end
        if (address_pending && (is_write ? m_axil_awready : m_axil_arready)) address_pending <= 1'b0;
        if (data_pending && m_axil_wready) data_pending <= 1'b0;
        if (answering && (is_write ? m_axil_bvalid : m_axil_rvalid)) begin
            answering <= 1'b0;
            read_data <= m_axil_rdata;
            response <= is_write ? m_axil_bresp : m_axil_rresp;
            answered <= !answered;
        end
        if (!m_aresetn) begin
            answered <= 1'b0;
            answering <= 1'b0;
            address_pending <= 1'b0;
            data_pending <= 1'b0;
            asked_sampled <= 2'b00;
            asked_seen <= 1'b0;
        end
    end
endmodule

`default_nettype wire
