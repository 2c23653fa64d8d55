// SPDX-License-Identifier: Apache-2.0
// How many bytes wait for a port. BMv2 tells the depth in packets, and only in egress, so the program keeps two
// running totals: what ingress let into the queue, and the mark of the packet that left it last. A packet that
// BMv2's own queue limit drops is out of the account as soon as one behind it leaves.

@id(0x16000003)
register<bit<64>>(PORTS) accepted_bytes;  // written in ingress
@id(0x16000004)
register<bit<64>>(PORTS) left_bytes;  // written in egress
@id(0x16000005)
register<bit<64>>(PORTS) queue_byte_us;  // the queue summed over time: every packet's bytes times its stay

@id(0x12000006)
counter(PORTS, CounterType.packets_and_bytes) tx;

// Every packet for a port, before its queue takes or drops it.
control MeetQueue(inout metadata_t meta, in standard_metadata_t standard) {
    // ticks = timestamp * multiplier / 2^shift
    @id(0x01000004)
    @name(".set_clock")
    action set_clock(@id(1) bit<72> multiplier, @id(2) bit<8> shift) {
        bit<32> port = (bit<32>)standard.egress_spec;
        bit<64> left;
        meta.now = (ticks_t)(((bit<128>)standard.ingress_global_timestamp * (bit<128>)multiplier) >> shift);
        accepted_bytes.read(meta.accepted_mark, port);
        left_bytes.read(left, port);
        meta.waiting = meta.accepted_mark - left;
    }

    // The unit of the target's timestamps. BMv2's are microseconds: 2^28 / 10^6, rounded up to 2^-62, is exact to
    // the tick for all 48 bits.
    @id(0x02000003)
    @name(".clock")
    table clock {
        actions = { set_clock; }
        default_action = set_clock(1237940039285380274900, 62);
    }

    apply {
        clock.apply();
    }
}

// An action of its own: while it runs, ingress cannot look at its accounts.
control LeaveQueue(inout metadata_t meta, in standard_metadata_t standard) {
    @hidden
    action leave_queue() {
        bit<32> port = (bit<32>)standard.egress_port;
        bit<64> total;
        tx.count(port);
        left_bytes.write(port, meta.accepted_mark);
        accepted_bytes.read(total, port);
        meta.waiting = total - meta.accepted_mark;
        queue_byte_us.read(total, port);
        queue_byte_us.write(port, total + (bit<64>)standard.packet_length *
                                          (bit<64>)(standard.egress_global_timestamp -
                                                    standard.ingress_global_timestamp));
    }

    apply {
        leave_queue();
    }
}
