// SPDX-License-Identifier: Apache-2.0
// How many bytes wait for a port. BMv2 tells the depth in packets, and only in egress, so the program keeps two
// running totals: what ingress let into the queue, and the mark of the packet that left it last. A packet that
// BMv2's own queue limit drops is out of the account as soon as one behind it leaves.

@id(0x16000003)
register<bit<64>>(PORTS) accepted_bytes;  // written in ingress
@id(0x16000004)
register<bit<64>>(PORTS) left_bytes;  // written in egress
@id(0x16000005)
register<bit<64>>(PORTS) queue_byte_us;  // the queue summed over time: every packet's bytes times its wait

control MeetQueue(inout metadata_t meta, in standard_metadata_t standard) {
    @hidden
    action meet_queue() {
        bit<64> left;
        meta.cell = (bit<32>)standard.egress_spec;
        accepted_bytes.read(meta.accepted_mark, meta.cell);
        left_bytes.read(left, meta.cell);
        meta.waiting = meta.accepted_mark - left;
    }

    apply {
        meet_queue();
    }
}

control LeaveQueue(inout metadata_t meta, in standard_metadata_t standard) {
    @hidden
    action leave_queue() {
        bit<64> total;
        left_bytes.write(meta.cell, meta.accepted_mark);
        accepted_bytes.read(total, meta.cell);
        meta.waiting = total - meta.accepted_mark;
        queue_byte_us.read(total, meta.cell);
        total = total + (bit<64>)standard.packet_length * (bit<64>)standard.deq_timedelta;
        queue_byte_us.write(meta.cell, total);
    }

    apply {
        leave_queue();
    }
}
