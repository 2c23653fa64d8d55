// SPDX-License-Identifier: Apache-2.0
// A minimal forwarder: one header, one table. Its cost on BMv2 is the least cost of any program.
#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

struct headers_t {
    ethernet_t ethernet;
}

struct metadata_t {}

parser L2Parser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control L2Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control L2Ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action forward(bit<9> port) {
        standard.egress_spec = port;
    }

    action drop() {
        mark_to_drop(standard);
    }

    table l2_forward {
        key = { hdr.ethernet.dst_addr : exact; }
        actions = { forward; drop; }
        const default_action = drop();
        const entries = {
            0x020000000001 : forward(1);
            0x020000000002 : forward(2);
        }
    }

    apply {
        l2_forward.apply();
    }
}

control L2Egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {}
}

control L2Update(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control L2Deparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
    }
}

V1Switch(L2Parser(), L2Verify(), L2Ingress(), L2Egress(), L2Update(), L2Deparser()) main;
