// SPDX-License-Identifier: Apache-2.0
// One slot per bucket, read, changed and written back, for one packet per clock. Each packet sees its slot as if all
// packets before it had written theirs, whatever their buckets are.
//
//   clock t                     look_i, look_bucket_i
//   clock t + READ_LATENCY      slot_valid_o, slot_bucket_o, slot_o: into a function of one clock
//   clock t + READ_LATENCY + 1  write_i, write_slot_i: what it made of that slot; write_i low leaves the slot as it is
//
// Memory is too late for packets that follow closely. So a packet on its way to `slot_o` watches what those before it
// write, and takes along what goes into its bucket; the newest, that of the packet right before, passes it by at the
// exit. Whether it has the bucket of the packet that writes is found out a clock ahead. `slot_o` is hence one of
// three: what is written now, what was taken along, what memory says.
//
// A reset forgets packets on their way; slots keep their values. While rst_ni is low nothing is looked up or written.
`default_nettype none
module clarion_bucket_memory #(
    parameter logic [31:0] BUCKETS = 4096,     // slots, a power of two, 2 to 65536
    parameter logic [31:0] WIDTH = 8,          // bits of a slot, 1 or more
    parameter logic [31:0] READ_LATENCY = 2,   // clocks, 1 to 3
    parameter              STYLE = "block"     // of memory: "block", "ultra" or "distributed"
) (
    input wire clk_i,
    input wire rst_ni,

    input wire        look_i,
    input wire [15:0] look_bucket_i,  // the low $clog2(BUCKETS) bits count

    output logic             slot_valid_o,
    output logic [15:0]      slot_bucket_o,  // as it was given
    output logic [WIDTH-1:0] slot_o,

    input wire             write_i,
    input wire [WIDTH-1:0] write_slot_i
);
`ifndef __ICARUS__  // which has no such check
  if (BUCKETS < 2 || BUCKETS > 65536 || (BUCKETS & (BUCKETS - 1)) != 0)
    $error("clarion_bucket_memory: BUCKETS: a power of two is needed, 2 to 65536");
  if (WIDTH < 1) $error("clarion_bucket_memory: WIDTH: 1 or more is needed");
  if (READ_LATENCY < 1 || READ_LATENCY > 3) $error("clarion_bucket_memory: READ_LATENCY: 1 to 3 is needed");
`endif

  localparam logic [31:0] BITS = $clog2(BUCKETS);
  localparam logic [31:0] SHOWS = READ_LATENCY;  // the stage in which a packet is shown its slot
  localparam logic [31:0] WRITES = READ_LATENCY + 1;  // and the one in which it writes

  // The packet of stage s was looked up s clocks ago.
  logic [WRITES:1] valid_q;
  logic [15:0] bucket_q[1:WRITES];
  logic [SHOWS:1] meets_q;  // its bucket is that of the packet which is in stage WRITES
  logic [SHOWS:1] taken_q;  // slot_q is newer than what memory will say
  logic [WIDTH-1:0] slot_q[1:SHOWS];

  logic looks_up_written;
  logic writes;
  logic passes_by;
  logic [WIDTH-1:0] remembered;

  assign writes = write_i && valid_q[WRITES];
  assign looks_up_written = look_bucket_i[BITS-1:0] == bucket_q[WRITES][BITS-1:0];

  clarion_ram #(
      .WIDTH(WIDTH),
      .DEPTH(BUCKETS),
      .STYLE(STYLE),
      .READ_LATENCY(READ_LATENCY)
  ) ram (
      .clk_i(clk_i),
      .write_i(writes && rst_ni),
      .write_address_i(bucket_q[WRITES][BITS-1:0]),
      .write_data_i(write_slot_i),
      .read_address_i(look_bucket_i[BITS-1:0]),
      .read_data_o(remembered)
  );

  always_ff @(posedge clk_i) begin
    valid_q <= {valid_q[SHOWS:1], look_i};
    bucket_q[1] <= look_bucket_i;
    for (int s = 1; s <= SHOWS; s++) bucket_q[s+1] <= bucket_q[s];

    // Stages as they will be in the next clock, where the packet of stage SHOWS writes.
    meets_q[1] <= valid_q[SHOWS] && look_bucket_i[BITS-1:0] == bucket_q[SHOWS][BITS-1:0];
    for (int s = 1; s < SHOWS; s++)
      meets_q[s+1] <= valid_q[SHOWS] && bucket_q[s][BITS-1:0] == bucket_q[SHOWS][BITS-1:0];

    taken_q[1] <= writes && looks_up_written;
    for (int s = 1; s < SHOWS; s++) taken_q[s+1] <= taken_q[s] || (meets_q[s] && write_i);

    if (!rst_ni) valid_q <= '0;  // a packet that comes after it meets and takes nothing of those before
  end

  always_ff @(posedge clk_i) begin
    if (writes) slot_q[1] <= write_slot_i;
    for (int s = 1; s < SHOWS; s++) begin
      if (meets_q[s] && write_i) slot_q[s+1] <= write_slot_i;
      else if (taken_q[s]) slot_q[s+1] <= slot_q[s];
    end
  end

  assign slot_valid_o = valid_q[SHOWS];
  assign slot_bucket_o = bucket_q[SHOWS];
  assign passes_by = meets_q[SHOWS] && write_i;
  assign slot_o = passes_by ? write_slot_i : taken_q[SHOWS] ? slot_q[SHOWS] : remembered;

endmodule
`default_nettype wire
