// SPDX-License-Identifier: Apache-2.0
// Made by `python -m clarion_contract.generate` from functions.yaml; do not edit.
// The first member of a struct is the highest. A member whose name is a keyword ends with _.
package clarion_block_pkg;
  // verilator lint_off UNUSEDPARAM
  // Words of C++ mean nothing here:
  // verilator lint_off SYMRSVDWORD

  typedef struct packed {  // 38 bits
    logic [5:0] shift;
    logic [31:0] mantissa;
  } gain_t;

  typedef struct packed {  // 41 bits
    logic [7:0] far;
    logic based;
    logic [15:0] total;
    logic [15:0] expected;
  } slot_t;

  typedef struct packed {  // 177 bits
    logic signed [31:0] delta_throughput;
    logic [31:0] x;
    logic [31:0] rtt;
    logic [7:0] flags;
    logic [15:0] congest;
    logic [15:0] corrupt;
    logic [15:0] link_seq;
    logic [15:0] bucket;
    logic [6:0] offset;
    logic [1:0] kind;
  } meta_t;

  typedef struct packed {  // 160 bits
    logic [63:0] sum_x_rtt;
    logic [47:0] sum_x;
    logic [47:0] input_;
  } sums_t;

  typedef struct packed {  // 215 bits
    logic [31:0] max_rtt;
    logic signed [38:0] limited;
    logic [47:0] sum_x_poor;
    logic [47:0] sum_x;
    logic [47:0] input_;
  } own_t;

  typedef struct packed {  // 172 bits
    gain_t cn;
    gain_t cp;
    logic [47:0] neg;
    logic [47:0] pos;
  } shares_t;

  typedef struct packed {  // 114 bits
    gain_t growth;
    gain_t lift;
    gain_t fair;
  } gains_t;

  typedef struct packed {  // 154 bits
    logic neg_spent;
    logic pos_spent;
    logic [7:0] carry;
    logic [47:0] bank;
    logic [47:0] neg;
    logic [47:0] pos;
  } pools_t;

  typedef struct packed {  // 118 bits
    logic lacks;
    logic [38:0] lift;
    logic [38:0] n;
    logic [38:0] p;
  } claim_t;

  typedef struct packed {  // 145 bits
    logic started;
    logic [63:0] start;
    logic [39:0] minimum;
    logic [39:0] persistent;
  } queue_t;

  typedef struct packed {  // 65 bits
    logic started;
    logic [63:0] start;
  } clock_t;

  typedef struct packed {  // 158 bits
    logic [1:0] generation;
    logic [31:0] max_interval;
    logic [31:0] min_interval;
    logic [17:0] gamma_q16;
    logic [17:0] beta_q16;
    logic [17:0] alpha_q16;
    logic [37:0] capacity_bytes_per_s;
  } config_t;

  // A beat in packet memory. Which bytes count follows from the frame's length.
  typedef struct packed {  // 560 bits
    logic [47:0] user;  // {destination, source, size}
    logic [7:0][63:0] data;
  } beat_t;

  // A frame that has come in.
  typedef struct packed {  // 106 bits
    logic [63:0] now;  // arrival of its last beat, ticks
    logic [15:0] untold;  // frames lost just before it: not stored, and not announced
    logic errored;  // invalid, to be discarded
    logic whole;  // all of it is stored
    logic [7:0] stored;  // beats in packet memory
    logic [15:0] length;  // bytes, if not errored
  } arrival_t;

  // The same with its header; an ordinary frame if it is malformed or errored.
  typedef struct packed {  // 287 bits
    arrival_t frame;
    logic malformed;
    logic [2:0] field;
    meta_t meta;
  } packet_t;

  // A frame that waits in packet memory of an egress.
  typedef struct packed {  // 224 bits
    logic send;  // otherwise its beats are discarded
    logic [7:0] stored;  // beats in packet memory, at least one
    logic [15:0] length;  // bytes
    logic maxmin;
    logic xcp;  // as configured then
    logic in_queue;  // numbered as it joined
    logic [15:0] queue_seq;  // if in_queue
    logic [2:0] field;
    meta_t meta;
  } waiting_t;

  // A frame that leaves the queue, with its numbers; a regulated one is still to be granted.
  typedef struct packed {  // 160 bits
    logic [2:0] field;
    logic [7:0] flags;
    logic [31:0] requested;
    logic [31:0] rtt;
    logic maxmin;
    logic regulated;
    logic [15:0] congest;
    logic [15:0] corrupt;
    logic [15:0] link_seq;
    logic numbered;
    logic [1:0] kind;
    logic [6:0] offset;
    logic [15:0] length;
    logic send;
    logic [7:0] stored;
  } departure_t;

  // New bytes of a Clarion header.
  typedef struct packed {  // 288 bits
    logic [3:0][63:0] data;  // 0 where not enabled
    logic [31:0] enable;  // one bit per byte
  } header_patch_t;

  // The decision on the next frame in packet memory.
  typedef struct packed {  // 320 bits
    header_patch_t patch;
    logic [6:0] offset;  // of the header in the frame, bytes
    logic [15:0] length;  // bytes
    logic send;  // otherwise they are discarded
    logic [7:0] stored;  // beats, at least one
  } release_t;

  // How a port's queue is configured.
  typedef struct packed {  // 208 bits
    logic [39:0] queue_limit;  // bytes
    logic [7:0] epoch;
    logic stamp;  // number packets
    logic enabled;  // XCP
    config_t xcp;
  } egress_config_t;

  // The last control interval.
  typedef struct packed {  // 598 bits
    shares_t shares;
    logic signed [51:0] phi;  // the wanted change
    logic [45:0] rate;  // q8 bytes/s
    logic [39:0] queue_bytes;  // the persistent queue
    sums_t sums;
    logic [31:0] elapsed;  // how long it lasted, ticks
    logic [31:0] avg_rtt;  // ticks
    logic [63:0] intervals;  // ended so far
  } report_t;

  // The decisions of a queue as they are made, for a test bench; hardware leaves it open.
  typedef struct packed {  // 149 bits
    logic [63:0] now;  // its arrival
    logic [40:0] waiting_bytes;  // before it
    logic drops;  // instead
    logic joins;
    logic [40:0] left_bytes;  // waiting without it
    logic leaves;  // before what joins in the same clock
  } watch_t;

  // which bytes of a beat count
  typedef struct packed {  // 64 bits
    logic [63:0] keep;
  } lanes_arguments_t;
  typedef struct packed {  // 9 bits
    logic full;
    logic contiguous;
    logic [6:0] bytes;
  } lanes_results_t;
  localparam logic [31:0] LANES_LATENCY = 32'd2;
  localparam logic [31:0] LANES_INTERVAL = 32'd1;

  // the Clarion header of a frame, if it has one
  typedef struct packed {  // 920 bits
    logic [7:0] protocol;
    logic [15:0] length;
    logic [13:0][63:0] window;
  } classify_arguments_t;
  typedef struct packed {  // 181 bits
    logic malformed;
    logic [2:0] field;
    meta_t meta;
  } classify_results_t;
  localparam logic [31:0] CLASSIFY_LATENCY = 32'd6;
  localparam logic [31:0] CLASSIFY_INTERVAL = 32'd1;

  // a packet's number against what its bucket expects
  typedef struct packed {  // 58 bits
    logic counts;
    logic [15:0] number;
    slot_t slot;
  } judge_arguments_t;
  typedef struct packed {  // 57 bits
    logic rebased;
    logic late;
    logic [13:0] lost;
    slot_t slot;
  } judge_results_t;
  localparam logic [31:0] JUDGE_LATENCY = 32'd1;
  localparam logic [31:0] JUDGE_INTERVAL = 32'd1;

  // the number after this one
  typedef struct packed {  // 16 bits
    logic [15:0] number;
  } number_arguments_t;
  typedef struct packed {  // 16 bits
    logic [15:0] number;
  } number_results_t;
  localparam logic [31:0] NUMBER_LATENCY = 32'd1;
  localparam logic [31:0] NUMBER_INTERVAL = 32'd1;

  // what a DATA packet adds to the sum of x * rtt
  typedef struct packed {  // 96 bits
    logic [31:0] max_interval;
    logic [31:0] rtt;
    logic [31:0] x;
  } weight_arguments_t;
  typedef struct packed {  // 56 bits
    logic [55:0] x_rtt;
  } weight_results_t;
  localparam logic [31:0] WEIGHT_LATENCY = 32'd4;
  localparam logic [31:0] WEIGHT_INTERVAL = 32'd1;

  // a packet joins the sums of the interval, or begins those of the next
  typedef struct packed {  // 266 bits
    logic [55:0] x_rtt;
    logic [31:0] x;
    logic counts;
    logic [15:0] length;
    logic begins;
    sums_t sums;
  } sums_arguments_t;
  typedef struct packed {  // 160 bits
    sums_t sums;
  } sums_results_t;
  localparam logic [31:0] SUMS_LATENCY = 32'd1;
  localparam logic [31:0] SUMS_INTERVAL = 32'd1;

  // the persistent queue, as a packet leaves and one joins, in this order
  typedef struct packed {  // 325 bits
    logic [31:0] window;
    logic [63:0] now;
    logic [40:0] waiting_bytes;
    logic joins;
    logic [40:0] left_bytes;
    logic leaves;
    queue_t queue;
  } tracker_arguments_t;
  typedef struct packed {  // 145 bits
    queue_t queue;
  } tracker_results_t;
  localparam logic [31:0] TRACKER_LATENCY = 32'd1;
  localparam logic [31:0] TRACKER_INTERVAL = 32'd1;

  // how long an interval lasts
  typedef struct packed {  // 96 bits
    logic [31:0] max_interval;
    logic [31:0] min_interval;
    logic [31:0] avg_rtt;
  } length_arguments_t;
  typedef struct packed {  // 32 bits
    logic [31:0] length;
  } length_results_t;
  localparam logic [31:0] LENGTH_LATENCY = 32'd1;
  localparam logic [31:0] LENGTH_INTERVAL = 32'd1;

  // does the packet that arrives end the interval
  typedef struct packed {  // 161 bits
    logic [31:0] length;
    logic [63:0] now;
    clock_t clock;
  } over_arguments_t;
  typedef struct packed {  // 98 bits
    clock_t clock;
    logic [31:0] elapsed;
    logic ended;
  } over_results_t;
  localparam logic [31:0] OVER_LATENCY = 32'd1;
  localparam logic [31:0] OVER_INTERVAL = 32'd1;

  // what a departing DATA packet may have, as far as it does not depend on the pools
  typedef struct packed {  // 314 bits
    logic [2:0] field;
    logic [7:0] flags;
    logic [15:0] length;
    logic signed [31:0] delta_throughput;
    logic [31:0] x;
    logic [31:0] rtt;
    gains_t gains;
    gain_t cn;
    gain_t cp;
    logic maxmin;
  } offer_arguments_t;
  typedef struct packed {  // 154 bits
    logic limited;
    logic poor;
    logic own;
    logic signed [31:0] reply;
    logic pays;
    claim_t claim;
  } offer_results_t;
  localparam logic [31:0] OFFER_LATENCY = 32'd9;
  localparam logic [31:0] OFFER_INTERVAL = 32'd1;

  // a packet leaves and joins the sums of departures
  typedef struct packed {  // 330 bits
    logic limited;
    logic poor;
    logic own;
    logic signed [31:0] delta_throughput;
    logic [31:0] x;
    logic [31:0] rtt;
    logic [15:0] length;
    own_t sums;
  } own_arguments_t;
  typedef struct packed {  // 215 bits
    own_t sums;
  } own_results_t;
  localparam logic [31:0] OWN_LATENCY = 32'd1;
  localparam logic [31:0] OWN_INTERVAL = 32'd1;

  // what a departing DATA packet is paid from the pools
  typedef struct packed {  // 305 bits
    claim_t claim;
    logic signed [31:0] requested;
    logic maxmin;
    pools_t pools;
  } grant_arguments_t;
  typedef struct packed {  // 186 bits
    logic signed [31:0] granted;
    pools_t pools;
  } grant_results_t;
  localparam logic [31:0] GRANT_LATENCY = 32'd2;
  localparam logic [31:0] GRANT_INTERVAL = 32'd2;

  // the bytes of a header that change
  typedef struct packed {  // 161 bits
    logic [2:0] field;
    logic [7:0] flags;
    logic signed [31:0] granted;
    logic signed [31:0] requested;
    logic [31:0] rtt;
    logic pays;
    logic maxmin;
    logic regulated;
    logic [15:0] congest;
    logic [15:0] corrupt;
    logic [15:0] link_seq;
    logic numbered;
    logic [1:0] kind;
  } patch_arguments_t;
  typedef struct packed {  // 288 bits
    logic [3:0][63:0] data;
    logic [31:0] enable;
  } patch_results_t;
  localparam logic [31:0] PATCH_LATENCY = 32'd2;
  localparam logic [31:0] PATCH_INTERVAL = 32'd1;

  // the end of an interval
  typedef struct packed {  // 848 bits
    logic [31:0] elapsed;
    logic [39:0] queue_bytes;
    pools_t pools;
    own_t own;
    sums_t sums;
    logic [4:0] credit;
    logic signed [51:0] phi;
    logic [31:0] avg_rtt;
    config_t config_;
  } control_arguments_t;
  typedef struct packed {  // 421 bits
    logic [4:0] credit;
    gains_t gains;
    shares_t shares;
    logic signed [51:0] phi;
    logic [45:0] rate;
    logic [31:0] avg_rtt;
  } control_results_t;
  localparam logic [31:0] CONTROL_LATENCY = 32'd160;
  localparam logic [31:0] CONTROL_INTERVAL = 32'd160;

endpackage
