// SPDX-License-Identifier: Apache-2.0
// What the stages of the block hand to each other.
package clarion_block_pkg;
  localparam logic [31:0] BEAT_BYTES = 64;
  localparam logic [31:0] USER_BITS = 48;  // side-band of the shell: {destination, source, size}
  localparam logic [31:0] FRAME_MIN_BYTES = 60;  // without the checksum
  localparam logic [31:0] FRAME_MAX_BYTES = 9600;
  localparam logic [31:0] FRAME_MAX_BEATS = FRAME_MAX_BYTES / BEAT_BYTES;

  // Packets of one port that may be on their way from the queue to the wire: enough for a frame of one beat per clock,
  // from the decision to its first beat.
  localparam logic [31:0] DEPARTURES = 64;

  localparam logic [31:0] COMMAND_BITS = 512;
  localparam logic [31:0] REPLY_BITS = 528;  // {data[511:0], 4'b0, status[7:0], last, index[2:0]}

  // Clocks from an address to a word of block or ultra RAM, with the registers behind it.
  localparam logic [31:0] RAM_LATENCY = 2;

  // A beat in packet memory. Which bytes count follows from the frame's length.
  typedef struct packed {
    logic [47:0]  user;
    logic [511:0] data;
  } beat_t;

  // A frame that has come in.
  typedef struct packed {
    logic [15:0] length;  // bytes, if not errored
    logic [7:0] stored;  // beats in packet memory
    logic whole;  // all of it is stored
    logic errored;  // invalid, to be discarded
    logic [15:0] untold;  // frames lost just before it: not stored, and without an announcement of their own
    logic [63:0] now;  // arrival of its last beat, ticks
  } arrival_t;

  // The same with its header; of an ordinary frame if it is malformed or errored.
  typedef struct packed {
    clarion_functions_pkg::meta_t meta;
    logic [2:0] field;
    logic malformed;
    arrival_t frame;
  } packet_t;

  // A frame that waits in packet memory of an egress.
  typedef struct packed {
    clarion_functions_pkg::meta_t meta;
    logic [2:0] field;
    logic [15:0] queue_seq;  // if in_queue
    logic in_queue;  // numbered as it joined
    logic xcp;  // as configured then
    logic maxmin;
    logic [15:0] length;  // bytes
    logic [7:0] stored;  // beats in packet memory, at least one
    logic send;  // otherwise its beats are discarded
  } waiting_t;

  // A frame that leaves the queue, with its numbers; `regulated` ones are still to be granted.
  typedef struct packed {
    logic [7:0] stored;
    logic send;
    logic [15:0] length;
    logic [6:0] offset;
    logic [1:0] kind;
    logic numbered;
    logic [15:0] link_seq;
    logic [15:0] corrupt;
    logic [15:0] congest;
    logic regulated;
    logic maxmin;
    logic [31:0] rtt;
    logic [31:0] requested;
    logic [7:0] flags;
    logic [2:0] field;
  } departure_t;

  // New bytes of a Clarion header.
  typedef struct packed {
    logic [31:0]  enable;  // one bit per byte
    logic [255:0] data;  // 0 where not enabled
  } patch_t;

  // The decision on the next frame in packet memory.
  typedef struct packed {
    logic [7:0] stored;  // beats, at least one
    logic send;  // otherwise they are discarded
    logic [15:0] length;  // bytes
    logic [6:0] offset;  // of the header in the frame, bytes
    patch_t patch;
  } release_t;

  // How a port's queue is configured.
  typedef struct packed {
    logic [39:0] queue_limit;  // bytes
    logic [7:0] epoch;
    logic stamp;  // number packets
    logic enabled;  // XCP
    clarion_functions_pkg::config_t xcp;
  } egress_config_t;

  // The controllers of a queue, as they are between two packets.
  typedef struct packed {
    logic [63:0] intervals;  // ended so far
    logic [31:0] avg_rtt;
    logic [31:0] elapsed;  // of the last one: ticks,
    clarion_functions_pkg::sums_t sums;  // what arrived,
    logic [39:0] queue_bytes;  // the persistent queue,
    logic [45:0] rate;  // q8 bytes/s,
    logic signed [51:0] phi;  // the wanted change,
    clarion_functions_pkg::shares_t shares;  // and what was to be handed out
  } report_t;

  // The decisions of a queue as they are made, for a test bench; hardware leaves it open.
  typedef struct packed {
    logic leaves;  // before what joins in the same clock
    logic [40:0] left_bytes;  // waiting without it
    logic joins;
    logic drops;  // instead
    logic [40:0] waiting_bytes;  // before it
    logic [63:0] now;  // its arrival
  } watch_t;
endpackage
