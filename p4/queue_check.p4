// SPDX-License-Identifier: Apache-2.0
// Drops by the queue, found by numbering: ingress numbers the packets of a bucket before any decision to drop,
// egress finds the gaps. That needs no word from the queue, so it also finds what a traffic manager drops.

@id(0x16000017)
register<sequence_t>(PORTS << (bit<8>)BUCKETS_LOG2) queue_numbers;
@id(0x16000018)
register<sequence_slot_t>(PORTS << (bit<8>)BUCKETS_LOG2) queue_slots;
@id(0x16000019)
register<bit<64>>(PORTS) queue_lost;  // all buckets together
@id(0x12000004)
counter(PORTS, CounterType.packets) queue_late;
@id(0x12000005)
counter(PORTS, CounterType.packets) queue_rebased;

const bit<8> QUEUE_EPOCH = 1;  // this check is never made to forget

control QueueNumber(in headers_t hdr, inout metadata_t meta, in standard_metadata_t standard) {
    @hidden
    action number() {
        meta.numbered = true;
        meta.slot = slot_of(standard.egress_spec, hdr.tags.bucket);
        queue_numbers.read(meta.queue_seq, meta.slot);
        queue_numbers.write(meta.slot, meta.queue_seq + 1);
    }

    // The link behind this port is numbered, and drops of its queue are counted.
    @id(0x01000006)
    @name(".stamp")
    action stamp() {
        number();
    }

    @id(0x02000005)
    @name(".stamp_port")
    table stamp_port {
        key = { standard.egress_spec : exact @id(1) @name("port"); }
        actions = { stamp; @defaultonly NoAction; }
        const default_action = NoAction;
        size = PORTS;
    }

    apply {
        if (hdr.tags.isValid()) {
            stamp_port.apply();
        }
    }
}

control QueueCheck(inout headers_t hdr, in metadata_t meta, in standard_metadata_t standard) {
    @hidden
    action check_queue() {
        bit<32> port = (bit<32>)standard.egress_port;
        sequence_slot_t slot;
        queue_slots.read(slot, meta.slot);
        if (is_in_order(slot, QUEUE_EPOCH, meta.queue_seq)) {
            queue_slots.write(meta.slot, step(slot));
            hdr.tags.congest = hdr.tags.congest + slot[15:0];
        } else {
            sequence_slot_t next = follow(slot, QUEUE_EPOCH, meta.queue_seq);
            if (is_out_of_order(slot, QUEUE_EPOCH, meta.queue_seq)) {
                verdict_t verdict;
                next = judge(slot, QUEUE_EPOCH, meta.queue_seq, verdict);
                if (verdict == GAP) {
                    bit<64> lost;
                    queue_lost.read(lost, port);
                    queue_lost.write(port, lost + (bit<64>)(next[15:0] - slot[15:0]));
                } else if (verdict == LATE) {
                    queue_late.count(port);
                } else {
                    queue_rebased.count(port);
                }
            }
            queue_slots.write(meta.slot, next);
            hdr.tags.congest = hdr.tags.congest + next[15:0];
        }
    }

    apply {
        check_queue();
    }
}
