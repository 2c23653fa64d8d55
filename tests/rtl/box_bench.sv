// SPDX-License-Identifier: Apache-2.0
// The whole block with its units: a frame through each path, then what every unit says of it through its mailbox.
module box_bench #(
    parameter logic BUMP = 1'b0
);
  localparam logic [31:0] BYTES = 100;  // of a frame, two beats
  localparam logic [31:0] FRAMES = 3;  // by each path
  localparam logic [31:0] PATIENCE = 5000;  // clocks

  bit clk = 0;
  bit resetn = 0;
  initial forever #2 clk = !clk;

  // Inputs change at falling edges, so that no simulator sees them change with the block's registers.

  logic awvalid = 0, wvalid = 0, arvalid = 0;
  wire awready, wready, bvalid, arready, rvalid;
  logic [15:0] address;
  logic [31:0] wdata;
  wire [31:0] rdata;
  wire [1:0] bresp, rresp;

  // [0]: the wire, [1]: the hosts; two ports each.
  logic [1:0] in_valid[2] = '{0, 0};
  wire [1:0] in_ready[2], out_valid[2], out_last[2];
  logic [1023:0] in_data[2];
  logic [127:0] in_keep[2];
  logic [1:0] in_last[2];
  logic [95:0] in_user[2];
  wire [1023:0] out_data[2];
  wire [127:0] out_keep[2];
  wire [95:0] out_user[2];

  clarion_box #(
      .BUMP(BUMP),
      .BUCKETS(16),
      .QUEUE_BEATS(256)
  ) box (
      .aclk(clk),
      .aresetn(resetn),
      .s_axil_awvalid(awvalid),
      .s_axil_awready(awready),
      .s_axil_awaddr(address),
      .s_axil_wvalid(wvalid),
      .s_axil_wready(wready),
      .s_axil_wdata(wdata),
      .s_axil_wstrb(4'hf),
      .s_axil_bvalid(bvalid),
      .s_axil_bready(1'b1),
      .s_axil_bresp(bresp),
      .s_axil_arvalid(arvalid),
      .s_axil_arready(arready),
      .s_axil_araddr(address),
      .s_axil_rvalid(rvalid),
      .s_axil_rready(1'b1),
      .s_axil_rdata(rdata),
      .s_axil_rresp(rresp),
      .s_axis_wire_tvalid(in_valid[0]),
      .s_axis_wire_tready(in_ready[0]),
      .s_axis_wire_tdata(in_data[0]),
      .s_axis_wire_tkeep(in_keep[0]),
      .s_axis_wire_tlast(in_last[0]),
      .s_axis_wire_tuser(in_user[0]),
      .m_axis_wire_tvalid(out_valid[0]),
      .m_axis_wire_tready(2'b11),
      .m_axis_wire_tdata(out_data[0]),
      .m_axis_wire_tkeep(out_keep[0]),
      .m_axis_wire_tlast(out_last[0]),
      .m_axis_wire_tuser(out_user[0]),
      .s_axis_host_tvalid(in_valid[1]),
      .s_axis_host_tready(in_ready[1]),
      .s_axis_host_tdata(in_data[1]),
      .s_axis_host_tkeep(in_keep[1]),
      .s_axis_host_tlast(in_last[1]),
      .s_axis_host_tuser(in_user[1]),
      .m_axis_host_tvalid(out_valid[1]),
      .m_axis_host_tready(2'b11),
      .m_axis_host_tdata(out_data[1]),
      .m_axis_host_tkeep(out_keep[1]),
      .m_axis_host_tlast(out_last[1]),
      .m_axis_host_tuser(out_user[1])
  );

  // Byte i of frame n of an input: no header of Clarion.
  function automatic logic [7:0] content(int side, int port, int n, int i);
    content = 8'(64 * side + 32 * port + 7 * n + i);
  endfunction

  function automatic logic [511:0] beat(int side, int port, int n, int first);
    for (int i = 0; i < 64; i++) beat[8*i+:8] = first + i < int'(BYTES) ? content(side, port, n, first + i) : 8'h0;
  endfunction

  task automatic send(int side, int port, int n);
    for (int first = 0; first < int'(BYTES); first += 64) begin
      @(negedge clk);
      in_valid[side][port] = 1;
      in_data[side][512*port+:512] = beat(side, port, n, first);
      in_keep[side][64*port+:64] = int'(BYTES) - first >= 64 ? '1 : (64'd1 << (int'(BYTES) - first)) - 1;
      in_last[side][port] = first + 64 >= int'(BYTES);
      in_user[side][48*port+:48] = 48'(BYTES);
      do @(posedge clk); while (!in_ready[side][port]);
    end
    @(negedge clk);
    in_valid[side][port] = 0;
  endtask

  // What has come out, and where it must have come from.
  int unsigned frames[2][2] = '{'{0, 0}, '{0, 0}};
  int unsigned bytes[2][2] = '{'{0, 0}, '{0, 0}};
  always @(posedge clk) begin
    for (int side = 0; side < 2; side++) begin
      for (int port = 0; port < 2; port++) begin
        if (resetn && out_valid[side][port]) begin
          int from = BUMP ? 0 : 1 - side;
          int by = BUMP ? 1 - port : port;
          if (BUMP && side == 1) $fatal(1, "a bump gives its hosts a frame");
          if (out_data[side][512*port+:512] != beat(from, by, int'(frames[side][port]), int'(bytes[side][port])))
            $fatal(1, "side %0d port %0d frame %0d: other bytes", side, port, frames[side][port]);
          if (out_last[side][port]) begin
            if (bytes[side][port] + 32'($countones(out_keep[side][64*port+:64])) != BYTES) $fatal(1, "length");
            if (out_user[side][48*port+:16] != 16'(BYTES)) $fatal(1, "size");
            frames[side][port] <= frames[side][port] + 1;
            bytes[side][port] <= 0;
          end else bytes[side][port] <= bytes[side][port] + 64;
        end
      end
    end
  end

  task automatic put(int at, int value);
    logic took_address, took_data, answered;
    @(negedge clk);
    {awvalid, wvalid, address, wdata} = {2'b11, 16'(at), value};
    do begin
      @(posedge clk);
      {took_address, took_data, answered} = {awready, wready, bvalid};
      if (answered && bresp != 0) $fatal(1, "write of %0h refused", at);
      @(negedge clk);
      if (took_address) awvalid = 0;
      if (took_data) wvalid = 0;
    end while (!answered);
  endtask

  task automatic get(int at, output int value);
    logic took_address, answered;
    @(negedge clk);
    {arvalid, address} = {1'b1, 16'(at)};
    do begin
      @(posedge clk);
      {took_address, answered, value} = {arready, rvalid, rdata};
      if (answered && rresp != 0) $fatal(1, "read of %0h refused", at);
      @(negedge clk);
      if (took_address) arvalid = 0;
    end while (!answered);
  endtask

  // The first word of the reply to `read`: packets received, or sent.
  task automatic ask(int block, int request, output int packets);
    int base = (block + 1) * int'(clarion_registers_pkg::STRIDE_BYTES);
    int done = 0;
    put(base + int'(clarion_registers_pkg::AT_MAILBOX_COMMAND), int'(clarion_registers_pkg::OP_READ));
    put(base + int'(clarion_registers_pkg::AT_MAILBOX_REQUEST), request);
    while (done != request) get(base + int'(clarion_registers_pkg::AT_MAILBOX_DONE), done);
    get(base + int'(clarion_registers_pkg::AT_MAILBOX_REPLY), packets);
  endtask

  initial begin
    repeat (10) @(negedge clk);
    resetn = 1;
    repeat (100) @(posedge clk);
    for (int n = 0; n < int'(FRAMES); n++)
      for (int side = 0; side < 2; side++) for (int port = 0; port < 2; port++) send(side, port, n);
    for (int request = 1; request <= 2; request++) begin
      repeat (500) @(posedge clk);
      for (int block = 0; block < 4; block++) begin
        int packets;
        ask(block, request, packets);
        if (packets != int'(FRAMES)) $fatal(1, "block %0d counts %0d packets", block, packets);
      end
    end
    for (int port = 0; port < 2; port++) begin
      if (frames[0][port] != FRAMES) $fatal(1, "wire %0d: %0d frames", port, frames[0][port]);
      if (frames[1][port] != (BUMP ? 0 : FRAMES)) $fatal(1, "host %0d: %0d frames", port, frames[1][port]);
    end
    $display("box_bench: done");
    $finish;
  end

  initial begin
    repeat (PATIENCE) @(posedge clk);
    $fatal(1, "no end after %0d clocks", PATIENCE);
  end
endmodule
