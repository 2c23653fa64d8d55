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
        bit<32> index = slot_of(standard.egress_spec, hdr.tags.bucket);
        meta.numbered = true;
        queue_numbers.read(meta.queue_seq, index);
        queue_numbers.write(index, meta.queue_seq + 1);
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
        if (meta.tagged) {
            stamp_port.apply();
        }
    }
}

control QueueCheck(inout headers_t hdr, in metadata_t meta, in standard_metadata_t standard) {
    @hidden
    action check_queue() {
        bit<32> index = slot_of(standard.egress_port, hdr.tags.bucket);
        sequence_slot_t slot;
        queue_slots.read(slot, index);
        judgement_t judgement = judge(slot, QUEUE_EPOCH, meta.queue_seq);
        queue_slots.write(index, judgement.slot);
        hdr.tags.congest = hdr.tags.congest + judgement.slot[15:0];
        if (judgement.verdict == GAP) {
            bit<64> lost;
            queue_lost.read(lost, meta.cell);
            queue_lost.write(meta.cell, lost + (bit<64>)judgement.lost);
        } else if (judgement.verdict == LATE) {
            queue_late.count(meta.cell);
        } else if (judgement.verdict == JUMP) {
            queue_rebased.count(meta.cell);
        }
    }

    apply {
        check_queue();
    }
}
