// SPDX-License-Identifier: Apache-2.0
// Lets the packet into its queue, or drops it if it would be more than the queue holds in bytes. BMv2's own limit
// counts packets; it is set so high that it does not matter.

@id(0x12000007)
counter(PORTS, CounterType.packets_and_bytes) queue_drops;

control QueueLimit(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    @hidden
    action join(in bit<64> limit) {
        bit<32> port = (bit<32>)standard.egress_spec;
        if (meta.waiting + (bit<64>)standard.packet_length <= limit) {
            meta.accepted_mark = meta.accepted_mark + (bit<64>)standard.packet_length;
            accepted_bytes.write(port, meta.accepted_mark);
        } else {
            hdr.drop.setValid();
            hdr.drop.port = standard.egress_spec;
            queue_drops.count(port);
            mark_to_drop(standard);
        }
    }

    @id(0x01000007)
    @name(".set_queue_port")
    action set_queue_port(@id(1) bit<40> limit_bytes) {
        join((bit<64>)limit_bytes);
    }

    @id(0x02000006)
    @name(".queue_port")
    table queue_port {
        key = { standard.egress_spec : exact @id(1) @name("port"); }
        actions = { set_queue_port; @defaultonly NoAction; }
        const default_action = NoAction;
        size = PORTS;
    }

    apply {
        if (!queue_port.apply().hit) {
            join(UNLIMITED);
        }
    }
}
