// SPDX-License-Identifier: Apache-2.0
// Where to: by destination address; unknown and group addresses go to all ports. No frame goes back by the port that
// it came in by, and none goes to a port that has no registers, whatever a client wrote into the table.
//
// A frame from the controller goes where its header says. Frames between neighbours (LLDP) are for the controller alone:
// a switch that passed them on would make two wires look like one.
//
// A flooded packet is copied behind ingress, where XCP's arrival and the queue check would miss it. The copies
// therefore go to FLOOD_BASE + port, which has no queue, and come in again with their port decided: from there
// on they are unicast packets.

control L2Forward(inout headers_t hdr, inout standard_metadata_t standard) {
    @id(0x01000002)
    @name(".forward")
    action forward(@id(1) bit<9> port) {
        standard.egress_spec = port;
    }

    @id(0x01000003)
    @name(".flood")
    action flood() {
        standard.mcast_grp = FLOOD_GROUP;
    }

    @id(0x02000002)
    @name(".l2_forward")
    table l2_forward {
        key = { hdr.ethernet.dst_addr : exact @id(1) @name("dst_addr"); }
        actions = { forward; @defaultonly flood; }
        const default_action = flood;
        size = MAX_ADDRESSES;
    }

    @hidden
    action send_as_told() {
        standard.egress_spec = hdr.packet_out.egress_port;
    }

    @hidden
    action tell_controller() {
        standard.egress_spec = CPU_PORT;
    }

    apply {
        // In this order, so that nearly all packets meet one condition only.
        if (hdr.ethernet.isValid() && hdr.ethernet.dst_addr != NEAREST_BRIDGE &&
            (!hdr.packet_out.isValid() || hdr.packet_out.egress_port == AS_RECEIVED)) {
            l2_forward.apply();
        } else if (hdr.packet_out.isValid() && hdr.packet_out.egress_port != AS_RECEIVED) {
            send_as_told();
        } else if (hdr.ethernet.isValid()) {
            tell_controller();
        } else {
            flood();
        }
        if (hdr.packet_out.isValid()) {
            hdr.packet_out.setInvalid();
        }
        // Back, or nowhere.
        if (standard.mcast_grp == 0 &&
            (standard.egress_spec == standard.ingress_port || standard.egress_spec >= (bit<9>)PORTS)) {
            mark_to_drop(standard);
            exit;
        }
    }
}

control Flood(inout metadata_t meta, inout standard_metadata_t standard) {
    @hidden
    action come_in_again() {
        meta.flood_port = standard.egress_port - FLOOD_BASE;
        meta.timestamp_us = standard.egress_global_timestamp;
        recirculate_preserving_field_list(1);
    }

    apply {
        if (standard.egress_port - FLOOD_BASE == standard.ingress_port) {
            mark_to_drop(standard);
        } else {
            come_in_again();
        }
    }
}

// Tells the controller where a frame came in, and when.
control ToController(inout headers_t hdr, in standard_metadata_t standard) {
    @hidden
    action introduce() {
        hdr.packet_in.setValid();
        hdr.packet_in.ingress_port = standard.ingress_port;
        hdr.packet_in.pad = 0;
        hdr.packet_in.timestamp_us = standard.ingress_global_timestamp;
    }

    apply {
        introduce();
    }
}
