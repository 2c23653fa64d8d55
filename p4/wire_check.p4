// SPDX-License-Identifier: Apache-2.0
// Distrust of hosts, and losses of the wire in front of this port: the sender of a link numbers the packets of a
// bucket (link_stamp), so a gap was lost on the way. It was corrupted only if nothing on the way queues and drops, so
// gaps count only where the link is known to be a bare wire: declared by tag_port, or judged by the controller, which
// hears the neighbours' LLDP. A judgement is a lease: without a controller it ends by itself.

@id(0x16000001)
register<sequence_slot_t>(PORTS << (bit<8>)BUCKETS_LOG2) wire_slots;
@id(0x16000002)
register<bit<64>>(PORTS) wire_lost;  // all buckets together
@id(0x12000002)
counter(PORTS, CounterType.packets) wire_late;
@id(0x12000003)
counter(PORTS, CounterType.packets) wire_rebased;

control WireCheck(inout headers_t hdr, in metadata_t meta, in standard_metadata_t standard) {
    bool checks = false;
    bool distrusts = false;
    bit<8> check_epoch = 0;
    bool is_wire = false;

    // check: count the losses of the incoming link. edge: a host is behind this port; what it claims of earlier
    // losses is zeroed. wire: the link is declared a bare wire. epoch: 1 to 255; a new one makes the port forget the
    // numbers, not the totals.
    @id(0x01000001)
    @name(".set_tag_port")
    action set_tag_port(@id(1) bit<1> check, @id(2) bit<1> edge, @id(4) bit<1> wire, @id(3) bit<8> epoch) {
        checks = check == 1;
        distrusts = edge == 1;
        check_epoch = epoch;
        is_wire = wire == 1;
    }

    @id(0x02000001)
    @name(".tag_port")
    table tag_port {
        key = { standard.ingress_port : exact @id(1) @name("port"); }
        actions = { set_tag_port; @defaultonly NoAction; }
        const default_action = NoAction;
        size = PORTS;
    }

    // Exactly one neighbour, which stamps, answers for the wire. until: us of this switch's clock.
    @id(0x01000008)
    @name(".prove")
    action prove(@id(1) bit<48> until) {
        is_wire = is_wire || standard.ingress_global_timestamp < until;
    }

    // There is something else on the link, whatever was declared.
    @id(0x01000009)
    @name(".disprove")
    action disprove(@id(1) bit<48> until) {
        is_wire = is_wire && standard.ingress_global_timestamp >= until;
    }

    @id(0x02000007)
    @name(".wire_judged")
    table wire_judged {
        key = { standard.ingress_port : exact @id(1) @name("port"); }
        actions = { prove; disprove; @defaultonly NoAction; }
        const default_action = NoAction;
        size = PORTS;
    }

    @hidden
    action distrust() {
        hdr.tags.corrupt = 0;
        hdr.tags.congest = 0;
    }

    @hidden
    action check_wire() {
        bit<32> port = (bit<32>)standard.ingress_port;
        bit<32> index = slot_of(standard.ingress_port, hdr.tags.bucket);
        sequence_slot_t slot;
        wire_slots.read(slot, index);
        judgement_t judgement = follow(slot, check_epoch, hdr.tags.link_seq);
        if (is_wire) {
            judgement = judge(slot, check_epoch, hdr.tags.link_seq);
        }
        wire_slots.write(index, judgement.slot);
        hdr.tags.corrupt = hdr.tags.corrupt + judgement.slot[15:0];
        if (judgement.verdict == GAP) {
            bit<64> lost;
            wire_lost.read(lost, port);
            wire_lost.write(port, lost + (bit<64>)judgement.lost);
        } else if (judgement.verdict == LATE) {
            wire_late.count(port);
        } else if (judgement.verdict == JUMP) {
            wire_rebased.count(port);
        }
    }

    apply {
        if (meta.tagged) {
            tag_port.apply();
            if (distrusts) {
                distrust();
            }
            if (checks) {
                wire_judged.apply();
                check_wire();
            }
        }
    }
}
