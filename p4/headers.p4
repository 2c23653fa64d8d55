// SPDX-License-Identifier: Apache-2.0
// Headers (docs/wire-format.md) and what travels with a packet inside the switch.

typedef bit<48> mac_addr_t;
typedef bit<16> bucket_t;
typedef bit<16> sequence_t;   // modulo 2^16
typedef bit<64> ticks_t;      // a point in time, 2^-28 s
typedef bit<32> duration_t;   // 2^-28 s, at most 16 s

const mac_addr_t NEAREST_BRIDGE = 0x0180c200000e;  // IEEE 802.1AB: no bridge forwards it
const bit<16> ETHERTYPE_VLAN = 0x8100;
const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<16> ETHERTYPE_IPV6 = 0x86dd;
const bit<8> PROTOCOL_TCP = 6;
const bit<8> PROTOCOL_UDP = 17;

const bit<4> CLARION_VERSION = 1;
const bit<4> FORMAT_DATA = 1;
const bit<4> FORMAT_ACK = 2;
const bit<4> FORMAT_TAG = 3;
// DATA is what has hdr.xcp and hdr.tags, TAG what has only hdr.tags, ACK what has hdr.ack: the parser finds them only
// where there is a header to be trusted.
const bit<8> DATA_BYTES = 32;
const bit<8> ACK_BYTES = 12;
const bit<8> TAG_BYTES = 16;

// BMv2's instance_type of a packet that comes in, and of one that comes in again.
const bit<32> INSTANCE_NORMAL = 0;
const bit<32> INSTANCE_RECIRCULATED = 4;

// In front of frames between the controller and this switch, over P4Runtime's stream.
@controller_header("packet_in")
header packet_in_t {
    bit<9> ingress_port;
    bit<7> pad;
    bit<48> timestamp_us;  // this switch's clock as the frame came in
}

@controller_header("packet_out")
header packet_out_t {
    bit<9> egress_port;  // AS_RECEIVED: by its address
    bit<7> pad;
}

header ethernet_t {
    mac_addr_t dst_addr;
    mac_addr_t src_addr;
    bit<16> ether_type;
}

header vlan_t {
    bit<16> tci;
    bit<16> ether_type;
}

header ipv4_t {
    bit<4> version;
    bit<4> ihl;
    bit<8> dscp_ecn;
    bit<16> total_length;
    bit<16> identification;
    bit<2> reserved_dont_fragment;
    bit<14> fragment;  // more-fragments flag and offset
    bit<8> ttl;
    bit<8> protocol;
    bit<16> checksum;
    bit<32> src_addr;
    bit<32> dst_addr;
}

header ipv4_options_t {
    varbit<320> options;
}

header ipv6_t {
    bit<4> version;
    bit<28> class_flow_label;
    bit<16> payload_length;
    bit<8> next_header;
    bit<8> hop_limit;
    bit<128> src_addr;
    bit<128> dst_addr;
}

// The first four bytes of every Clarion header. DATA goes on with xcp_t and tags_t, ACK with ack_t, TAG with
// tags_t.
header clarion_t {
    bit<8> following;  // protocol of the header behind
    bit<8> length;
    bit<4> version;
    bit<4> format;
    bit<3> rev_field;  // echoes of the receiver: the hop that limits the flow,
    bit<1> regulated;  // and whether any hop regulated it
    bit<3> hop;        // regulating hops so far, at most 7
    bit<1> echo;
}

header xcp_t {
    bit<29> rtt;    // 2^-25 s: the low three bits of the word are `field`
    bit<3> field;   // what the sender heard last of the hop that limits the flow
    bit<32> x;
    bit<32> delta_throughput;  // signed, bytes/s
    bit<32> reverse_feedback;
}

header ack_t {
    bit<32> reverse_feedback;
    bit<16> rev_corrupt;
    bit<16> rev_congest;
}

header tags_t {
    bucket_t bucket;
    sequence_t link_seq;
    bit<16> corrupt;
    bit<16> congest;
    bit<16> rev_corrupt;
    bit<16> rev_congest;
}

header transport_ports_t {
    bit<16> src_port;
    bit<16> dst_port;
}

// What few packets need is in headers that are never sent: BMv2 clears all metadata for every packet, but no headers.
// A valid header counts as length of the packet, so they are made invalid after use.

// A control interval that ended; units as in docs/datapath.md. From `ended` on: what else its end needs. Valid for a
// packet with which something of its port's controllers ends or starts.
header interval_t {
    bit<32> intervals;
    duration_t elapsed;
    duration_t avg_rtt;
    bit<48> input;
    bit<48> sum_x;
    bit<64> sum_x_rtt;
    bit<40> queue;
    bit<46> rate;
    bit<64> phi;  // two's complement
    bit<48> pos;
    bit<48> neg;
    bit<32> cp;
    bit<8> cp_shift;
    bit<32> cn;
    bit<8> cn_shift;
    bit<64> corrupt_total;
    bit<64> congest_total;
    bit<38> measured;
    bit<1> ended;
    bit<3> unused;
    bit<8> credit;  // from here on what generation 2 counts and hands out
    bit<48> own_input;
    bit<48> own_sum_x;
    bit<48> poor_sum_x;
    bit<40> limited;  // two's complement
    duration_t max_rtt;
    bit<64> handed_out;  // q8 bytes/s, two's complement
    bit<32> fair;
    bit<8> fair_shift;
    bit<32> lift;
    bit<8> lift_shift;
    bit<32> growth;
    bit<8> growth_shift;
    bit<64> most;           // q8 bytes/s: what packets may pay in and be paid, beside the pools
    bit<18> fastest;        // q16: the most of the traffic that may change hands
    bit<64> shuffle;        // from here on for both generations: q8 bytes/s that change hands through the pools, ...
    bit<48> sharing_x;      // ... and the sums of the flows among which they are shared out
    bit<48> sharing_input;
    bit<64> most_taken;     // q8 bytes/s: what they have, and can be told to give up
    bit<38> capacity;  // from here on the port's settings
    bit<18> alpha;
    bit<18> beta;
    bit<18> gamma;
    duration_t min_interval;
    duration_t max_interval;
    bit<2> generation;
    bit<8> epoch;
    bit<64> numerator;  // from here on what a division works in
    bit<64> denominator;
    bit<64> reciprocal;
    bit<64> mantissa;
    int<16> exponent;
    bit<8> leading_bits;
}

// A dropped packet, for its report.
header drop_t {
    bit<9> port;
    bit<3> unused;
    bit<4> format;
    bit<16> length;
    bit<128> src_addr;
    bit<128> dst_addr;
    bit<8> protocol;
    bit<16> src_port;
    bit<16> dst_port;
    bit<16> bucket;
    bit<32> number;
}

struct headers_t {
    packet_in_t packet_in;
    packet_out_t packet_out;
    ethernet_t ethernet;
    vlan_t vlan;
    ipv4_t ipv4;
    ipv4_options_t ipv4_options;
    ipv6_t ipv6;
    clarion_t clarion;
    xcp_t xcp;
    ack_t ack;
    tags_t tags;
    transport_ports_t transport;

    interval_t interval;
    drop_t drop;
}

// What travels with a packet. BMv2 clears all of it for every packet, each field at the price of some ten additions.
struct metadata_t {
    // Set by flood for the second pass of a copy, read in ingress.
    @field_list(1)
    bit<9> flood_port;
    @field_list(1)
    bit<48> timestamp_us;  // of the second pass, BMv2's clock

    // Set by wire_check: what the controller says of the link that the packet came by.
    bit<2> judged;

    // Set by meet_queue.
    ticks_t now;
    bit<64> waiting;        // bytes before the packet
    bit<64> accepted_mark;  // accepted_bytes of the port; with this packet, once the queue has accepted it

    bit<2> generation;  // Set by xcp_arrival: of the XCP that has counted the packet; 0: none has.

    // Set by queue_number: what egress needs of the loss causes.
    bool numbered;
    bit<32> slot;  // the packet's cell of arrays with one cell per bucket, by its egress port
    sequence_t queue_seq;
}
