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

const bit<2> PROVEN = 1;
const bit<2> DISPROVED = 2;

control WireCheck(inout headers_t hdr, inout metadata_t meta, in standard_metadata_t standard) {
    // Exactly one neighbour, which stamps, answers for the wire. until: us of this switch's clock.
    @id(0x01000008)
    @name(".prove")
    action prove(@id(1) bit<48> until) {
        if (standard.ingress_global_timestamp < until) {
            meta.judged = PROVEN;
        }
    }

    // There is something else on the link, whatever was declared.
    @id(0x01000009)
    @name(".disprove")
    action disprove(@id(1) bit<48> until) {
        if (standard.ingress_global_timestamp < until) {
            meta.judged = DISPROVED;
        }
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
    action check_wire(in bit<8> epoch, in bool is_wire) {
        bit<32> port = (bit<32>)standard.ingress_port;
        bit<32> index = slot_of(standard.ingress_port, hdr.tags.bucket);
        sequence_slot_t slot;
        wire_slots.read(slot, index);
        if (is_in_order(slot, epoch, hdr.tags.link_seq)) {
            wire_slots.write(index, step(slot));
            hdr.tags.corrupt = hdr.tags.corrupt + slot[15:0];
        } else {
            sequence_slot_t next = follow(slot, epoch, hdr.tags.link_seq);
            if (is_out_of_order(slot, epoch, hdr.tags.link_seq)) {
                if (is_wire) {
                    verdict_t verdict;
                    next = judge(slot, epoch, hdr.tags.link_seq, verdict);
                    if (verdict == GAP) {
                        bit<64> lost;
                        wire_lost.read(lost, port);
                        wire_lost.write(port, lost + (bit<64>)(next[15:0] - slot[15:0]));
                    } else if (verdict == LATE) {
                        wire_late.count(port);
                    } else {
                        wire_rebased.count(port);
                    }
                }
            }
            wire_slots.write(index, next);
            hdr.tags.corrupt = hdr.tags.corrupt + next[15:0];
        }
    }

    // check: count the losses of the incoming link. edge: a host is behind this port; what it claims of earlier
    // losses is zeroed. wire: the link is declared a bare wire. epoch: 1 to 255; a new one makes the port forget the
    // numbers, not the totals.
    @id(0x01000001)
    @name(".set_tag_port")
    action set_tag_port(@id(1) bit<1> check, @id(2) bit<1> edge, @id(4) bit<1> wire, @id(3) bit<8> epoch) {
        if (edge == 1) {
            hdr.tags.corrupt = 0;
            hdr.tags.congest = 0;
        }
        if (check == 1) {
            check_wire(epoch, meta.judged == PROVEN || (wire == 1 && meta.judged != DISPROVED));
        }
    }

    @id(0x02000001)
    @name(".tag_port")
    table tag_port {
        key = { standard.ingress_port : exact @id(1) @name("port"); }
        actions = { set_tag_port; @defaultonly NoAction; }
        const default_action = NoAction;
        size = PORTS;
    }

    apply {
        if (hdr.tags.isValid()) {
            wire_judged.apply();
            tag_port.apply();
        }
    }
}
