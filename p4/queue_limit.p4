// SPDX-License-Identifier: Apache-2.0
// Lets the packet into its queue, or drops it if it would be more than the queue holds in bytes. BMv2's own limit
// counts packets; it is set so high that it does not matter.

@id(0x12000007)
counter(PORTS, CounterType.packets_and_bytes) queue_drops;

control QueueLimit(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    DropTelemetry() drop_telemetry;
    bit<64> limit = UNLIMITED;

    @id(0x01000007)
    @name(".set_queue_port")
    action set_queue_port(@id(1) bit<40> limit_bytes) {
        limit = (bit<64>)limit_bytes;
    }

    @id(0x02000006)
    @name(".queue_port")
    table queue_port {
        key = { standard.egress_spec : exact @id(1) @name("port"); }
        actions = { set_queue_port; @defaultonly NoAction; }
        const default_action = NoAction;
        size = PORTS;
    }

    @hidden
    action accept() {
        meta.accepted_mark = meta.accepted_mark + (bit<64>)standard.packet_length;
        accepted_bytes.write(meta.cell, meta.accepted_mark);
    }

    @hidden
    action drop() {
        queue_drops.count(meta.cell);
        mark_to_drop(standard);
    }

    apply {
        queue_port.apply();
        if (meta.waiting + (bit<64>)standard.packet_length <= limit) {
            accept();
        } else {
            drop_telemetry.apply(hdr, meta, standard);
            drop();
        }
    }
}
