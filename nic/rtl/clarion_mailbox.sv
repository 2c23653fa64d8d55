// SPDX-License-Identifier: Apache-2.0
// Registers of one unit: its header and its mailbox, from which a request goes out as one beat and to which the beats
// of the answer come back.
//
// A request is taken up when REQUEST is another number than the last one carried out and nothing runs: COMMAND is
// copied, STATUS and REPLY become 0. It has been carried out when a beat with `last` comes, and DONE is its number.
// Beats that come while no answer is due are dropped, so that a stream never blocks.
`default_nettype none
module clarion_mailbox #(
    parameter logic [31:0] TYPE = 0,
    parameter logic [31:0] VERSION = 0,
    parameter logic [31:0] NEXT = 0,
    parameter logic [31:0] PORT = 0
) (
    input wire aclk,
    input wire aresetn,

    input  wire         write,
    input  wire  [31:0] write_offset,
    input  wire  [31:0] write_data,
    output logic        write_known,
    input  wire  [31:0] read_offset,
    output logic [31:0] read_data,
    output logic        read_known,

    output logic         command_tvalid,
    input  wire          command_tready,
    output logic [511:0] command_tdata,

    // {data[511:0], 4 bits without meaning, status[7:0], last, index[2:0]}
    input  wire          reply_tvalid,
    output logic         reply_tready,
    input  wire  [527:0] reply_tdata,
    input  wire          other_reply_tvalid,
    output logic         other_reply_tready,
    input  wire  [527:0] other_reply_tdata
);

  localparam logic [31:0] AT_COMMAND = clarion_registers_pkg::AT_MAILBOX_COMMAND;
  localparam logic [31:0] AT_REPLY = clarion_registers_pkg::AT_MAILBOX_REPLY;
  localparam logic [31:0] COMMAND_END = AT_COMMAND + 4 * clarion_registers_pkg::COMMAND_WORDS;
  localparam logic [31:0] REPLY_END = AT_REPLY + 4 * clarion_registers_pkg::REPLY_WORDS;

  // A part-select at 32 * which would say the same, but some tools make a barrel shifter of that.
  function automatic logic [31:0] word_of(input logic [511:0] words, input logic [3:0] which);
    word_of = 32'h0;
    for (int i = 0; i < 16; i++) if (which == 4'(i)) word_of = words[32*i+:32];
  endfunction

  logic [31:0] request;
  logic [31:0] taken;  // number of the request that runs
  logic [31:0] done;
  logic [7:0] status;
  logic running;
  logic [511:0] command;  // word i at [32*i+:32]

  // The answer. Memory keeps what it held when a request begins; `filled` tells what of it belongs to this one.
  logic [511:0] beats[8];
  logic [7:0] filled;

  // Of two beats, the one that ends the answer comes second. And it waits for those before it: they come by a stream of
  // their own, and nothing says that this is the faster one.
  logic expects;
  logic [7:0] earlier;
  logic too_early;
  logic takes_other;
  logic arrives;
  logic [527:0] arrival;
  logic [2:0] index;
  logic is_last;
  wire unused = &arrival[15:12];

  assign expects = running && !command_tvalid;
  assign earlier = ~(8'hff << other_reply_tdata[2:0]);
  assign too_early = reply_tvalid || (expects && (filled & earlier) != earlier);
  assign takes_other = other_reply_tvalid && !(too_early && other_reply_tdata[3]);
  assign reply_tready = !takes_other;
  assign other_reply_tready = takes_other;
  assign arrival = takes_other ? other_reply_tdata : reply_tdata;
  assign arrives = (reply_tvalid || takes_other) && expects;
  assign index = arrival[2:0];
  assign is_last = arrival[3];

  logic takes_up;
  assign takes_up = !running && request != done;

  always_ff @(posedge aclk) begin
    if (takes_up) begin
      running <= 1'b1;
      taken <= request;
      command_tdata <= command;
      status <= 8'h0;
      filled <= 8'h0;
    end
    if (command_tready) command_tvalid <= 1'b0;
    if (takes_up) command_tvalid <= 1'b1;
    if (arrives) begin
      filled[index] <= 1'b1;
      if (is_last) begin
        running <= 1'b0;
        done <= taken;
        status <= arrival[11:4];
      end
    end
    if (!aresetn) begin
      running <= 1'b0;
      done <= 32'h0;
      status <= 8'h0;
      filled <= 8'h0;
      command_tvalid <= 1'b0;
    end
  end

  always_ff @(posedge aclk) begin
    if (arrives) beats[index] <= arrival[527:16];
  end

  logic writes_command;
  assign writes_command = write_offset >= AT_COMMAND && write_offset < COMMAND_END;
  assign write_known = writes_command || write_offset == clarion_registers_pkg::AT_MAILBOX_REQUEST;

  always_ff @(posedge aclk) begin
    if (write) begin
      for (int i = 0; i < 16; i++) begin
        if (writes_command && write_offset[5:2] == 4'(i)) command[32*i+:32] <= write_data;
      end
      if (write_offset == clarion_registers_pkg::AT_MAILBOX_REQUEST) request <= write_data;
    end
    if (!aresetn) begin
      request <= clarion_registers_pkg::RESET_MAILBOX_REQUEST;
      command <= 512'h0;
    end
  end

  logic [2:0] read_beat;
  logic [511:0] beat;
  logic [31:0] command_word;
  logic [31:0] reply_word;
  assign read_beat = 3'((read_offset - AT_REPLY) >> 6);
  assign beat = beats[read_beat];
  assign command_word = word_of(command, read_offset[5:2]);
  assign reply_word = word_of(beat, read_offset[5:2]);

  always_ff @(posedge aclk) begin
    read_known <= 1'b1;
    if (read_offset >= AT_COMMAND && read_offset < COMMAND_END) begin
      read_data <= command_word;
    end else if (read_offset >= AT_REPLY && read_offset < REPLY_END) begin
      read_data <= filled[read_beat] ? reply_word : 32'h0;
    end else begin
      case (read_offset)
        clarion_registers_pkg::AT_HEADER_TYPE: read_data <= TYPE;
        clarion_registers_pkg::AT_HEADER_VERSION: read_data <= VERSION;
        clarion_registers_pkg::AT_HEADER_NEXT: read_data <= NEXT;
        clarion_registers_pkg::AT_HEADER_PORT: read_data <= PORT;
        clarion_registers_pkg::AT_MAILBOX_REQUEST: read_data <= request;
        clarion_registers_pkg::AT_MAILBOX_DONE: read_data <= done;
        clarion_registers_pkg::AT_MAILBOX_STATUS: read_data <= {24'h0, status};
        default: begin
          read_data <= 32'h0;
          read_known <= 1'b0;
        end
      endcase
    end
  end

endmodule
`default_nettype wire
