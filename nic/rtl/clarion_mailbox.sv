// SPDX-License-Identifier: Apache-2.0
// Registers of one unit: its header and its mailbox, from which a request goes out as one beat and to which the beats
// of the answer come back.
//
// A request is taken up when REQUEST is another number than the last one carried out and nothing runs: COMMAND is
// copied, STATUS and REPLY become 0. The unit answers while the command is offered, and takes it with the last beat of
// the answer: then the request has been carried out, and DONE is its number. Beats that come while no answer is due are
// dropped, so that a stream never blocks.
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
    input  wire          command_tready,  // with the last beat of the answer
    output logic [511:0] command_tdata,

    // {data[511:0], 4 bits without meaning, status[7:0], last, index[2:0]}
    input  wire          reply_tvalid,
    output logic         reply_tready,
    input  wire  [527:0] reply_tdata
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
  logic [511:0] command;  // word i at [32*i+:32]

  // The answer. Memory keeps what it held when a request begins; `filled` tells what of it belongs to this one.
  logic [511:0] beats[8];
  logic [7:0] filled;

  logic arrives;
  logic [2:0] index;
  logic ends;
  logic takes_up;
  wire unused = &reply_tdata[15:12];

  assign reply_tready = 1'b1;
  assign arrives = reply_tvalid && command_tvalid;
  assign index = reply_tdata[2:0];
  assign ends = arrives && reply_tdata[3] && command_tready;
  assign takes_up = !command_tvalid && request != done;

  always_ff @(posedge aclk) begin
    if (takes_up) begin
      command_tvalid <= 1'b1;
      taken <= request;
      command_tdata <= command;
      status <= 8'h0;
      filled <= 8'h0;
    end
    if (arrives) filled[index] <= 1'b1;
    if (ends) begin
      command_tvalid <= 1'b0;
      done <= taken;
      status <= reply_tdata[11:4];
    end
    if (!aresetn) begin
      command_tvalid <= 1'b0;
      done <= 32'h0;
      status <= 8'h0;
      filled <= 8'h0;
    end
  end

  always_ff @(posedge aclk) begin
    if (arrives) beats[index] <= reply_tdata[527:16];
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
