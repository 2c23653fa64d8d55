// SPDX-License-Identifier: Apache-2.0
// Stand-in for the shell's reset helper: the same ports and handshake, a shorter reset. clk[0] samples the request.
module generic_reset #(
    parameter int NUM_INPUT_CLK = 1,
    parameter int RESET_DURATION = 100
) (
    input  wire                     mod_rstn,
    output wire                     mod_rst_done,
    input  wire [NUM_INPUT_CLK-1:0] clk,
    output wire [NUM_INPUT_CLK-1:0] rstn
);
    localparam int CLOCKS = RESET_DURATION / 10;

    reg        running = 1'b0;
    reg        done = 1'b0;
    reg [15:0] timer = 16'd0;

    assign mod_rst_done = done;
    assign rstn[0] = !running;

    always @(posedge clk[0]) begin
        if (!mod_rstn) begin
            running <= 1'b1;
            done <= 1'b0;
            timer <= 16'd0;
        end else if (running) begin
            timer <= timer + 16'd1;
            if (timer == 16'(CLOCKS)) begin
                running <= 1'b0;
                done <= 1'b1;
            end
        end
    end

    for (genvar i = 1; i < NUM_INPUT_CLK; i++) begin : others
        reg [1:0] stage = 2'b11;
        always @(posedge clk[i]) stage <= {stage[0], rstn[0]};
        assign rstn[i] = stage[1];
    end
endmodule
