// SPDX-License-Identifier: Apache-2.0
// Clarion for v1model: XCP's efficiency and fairness controllers and loss causes, in the order a packet meets
// them. Each stage is a control of the file of its name; docs/p4.md has the tables, docs/datapath.md the
// arithmetic. core/ is the same data plane in C++; tests/conformance holds the two to the same bits.
//
// Atomicity. BMv2 runs one ingress thread and several egress threads; all packets of a port meet the same egress
// thread. Registers that only ingress, or only one port's egress, touches need no more. The word that both touch
// (shares: pools, bank, gains, what departures have counted, the least queue that they saw) is read, changed and written
// within one action each time: BMv2 locks every register array that an action names until the action is over. At the end
// of an interval ingress does so twice. xcp_turn takes what departures have counted and leaves zeros: so each departure is
// counted in one interval, once. refill puts in pools and gains and empties the bank; what has been counted meanwhile, the
// carry and the least queue stay as they are. A departure between the two is granted from the pools, the bank and the gains
// of the interval that has ended, and counted in the one that begins: as if it had left before refill, which it has.
// Those that one writes and the other only reads (accepted_bytes, left_bytes) are single cells and cannot tear.
#include <core.p4>
#include <v1model.p4>

// --- Switches and sizes -----------------------------------------------------------------------------------
const bit<32> PORTS = 64;                // egress ports 0 to 63
const bit<32> BUCKETS_LOG2 = 12;         // flow tags per port: 4096
const bit<8> CLARION_PROTOCOL = 253;     // RFC 3692: for experiments
const bit<9> CPU_PORT = 63;              // the controller, behind P4Runtime's stream
const bit<9> AS_RECEIVED = 511;          // egress port of a packet_out that is forwarded by its address
const bit<16> FLOOD_GROUP = 1;           // multicast group of all ports, as copies for FLOOD_BASE + port
const bit<9> FLOOD_BASE = 256;           // these ports have no queue: their packets come in again
const bit<32> MAX_ADDRESSES = 4096;      // of l2_forward

#include "headers.p4"
#include "parser.p4"
#include "arithmetic.p4"
#include "division.p4"
#include "sequence.p4"
#include "classify.p4"
#include "wire_check.p4"
#include "l2_forward.p4"
#include "queue_occupancy.p4"
#include "xcp_state.p4"
#include "xcp_turn.p4"
#include "maxmin_interval.p4"
#include "xcp_interval.p4"
#include "xcp_arrival.p4"
#include "xcp_departure.p4"
#include "maxmin_departure.p4"
#include "queue_check.p4"
#include "link_stamp.p4"
#include "telemetry.p4"
#include "queue_limit.p4"
#include "deparser.p4"

control ClarionVerify(inout headers_t hdr, inout metadata_t meta) {
    apply {}  // a router touches no field that a checksum covers (docs/wire-format.md)
}

control ClarionUpdate(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control ClarionIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    Classify() classify;
    WireCheck() wire_check;
    L2Forward() l2_forward;
    MeetQueue() meet_queue;
    XcpArrival() xcp_arrival;
    QueueNumber() queue_number;
    QueueLimit() queue_limit;
    IntervalTelemetry() interval_telemetry;
    DropTelemetry() drop_telemetry;

    apply {
        if (standard.ingress_port >= (bit<9>)PORTS || standard.instance_type == INSTANCE_RECIRCULATED) {
            if (standard.ingress_port >= (bit<9>)PORTS) {
                mark_to_drop(standard);
                exit;
            }
            standard.egress_spec = meta.flood_port;
            standard.ingress_global_timestamp = meta.timestamp_us;
        } else {
            classify.apply(hdr, standard);
            wire_check.apply(hdr, meta, standard);
            l2_forward.apply(hdr, standard);
        }
        if (standard.mcast_grp == 0) {
            meet_queue.apply(meta, standard);
            xcp_arrival.apply(hdr, meta, standard);
            queue_number.apply(hdr, meta, standard);
            queue_limit.apply(hdr, meta, standard);
            if (hdr.drop.isValid() || hdr.interval.isValid()) {
                if (hdr.drop.isValid()) {
                    drop_telemetry.apply(hdr, standard);
                } else if (hdr.interval.ended == 1) {
                    interval_telemetry.apply(hdr, standard);
                } else {
                    hdr.interval.setInvalid();
                }
            }
        }
    }
}

control ClarionEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    Flood() flood;
    LeaveQueue() leave_queue;
    WatchQueue() watch_queue;
    XcpDeparture() xcp_departure;
    MaxMinDeparture() maxmin_departure;
    QueueCheck() queue_check;
    LinkStamp() link_stamp;
    ToController() to_controller;

    apply {
        if (standard.egress_port >= FLOOD_BASE) {
            flood.apply(meta, standard);
        } else {
            leave_queue.apply(meta, standard);
            if (meta.generation == 2 && hdr.tags.isValid() && hdr.xcp.isValid()) {
                maxmin_departure.apply(hdr, meta, standard);
            } else if (meta.generation != 0 && hdr.tags.isValid() && hdr.xcp.isValid()) {
                xcp_departure.apply(hdr, meta, standard);
            } else if (meta.generation != 0) {
                watch_queue.apply(meta, standard);
            }
            if (meta.numbered) {
                queue_check.apply(hdr, meta, standard);
                link_stamp.apply(hdr, meta);
            }
            if (standard.egress_port == CPU_PORT) {
                to_controller.apply(hdr, standard);
            }
        }
    }
}

V1Switch(ClarionParser(), ClarionVerify(), ClarionIngress(), ClarionEgress(), ClarionUpdate(),
         ClarionDeparser()) main;
