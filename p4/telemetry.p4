// SPDX-License-Identifier: Apache-2.0
// What the control plane hears: one digest per control interval and port, one per packet that a queue drops, and
// counters. BMv2 sends one digest per pass of a packet: a drop takes the place of an interval that ended with it.
// BMv2 sends what the fields hold at the end of ingress, so the digests are the last that happens there.

@id(0x1600001b)
register<bit<32>>(PORTS) queue_drop_number;  // makes every report of a drop a different one

// Digest: a control interval of a port that ended. Units as in docs/datapath.md; the totals never go back.
struct interval_report_t {
    bit<9> port;
    bit<32> intervals;
    duration_t elapsed;
    duration_t avg_rtt;
    bit<48> input;
    bit<48> sum_x;
    bit<64> sum_x_rtt;
    bit<40> queue;
    bit<46> rate;
    bit<64> phi;  // two's complement
    bit<48> pos;
    bit<48> neg;
    bit<32> cp;
    bit<8> cp_shift;
    bit<32> cn;
    bit<8> cn_shift;
    bit<64> corrupt_total;  // lost on the wire into this port
    bit<64> congest_total;  // dropped by this port's queue
    bit<38> measured;  // bytes/s that the link was seen to carry; 0: not measured, as BMv2 never does
}

// Digest: a packet that a port's queue dropped. Zero where the packet has no such field.
struct queue_drop_t {
    bit<48> timestamp;  // us, the switch's clock
    bit<9> port;
    bit<16> length;     // bytes of the frame
    bit<128> src_addr;  // IPv4 as ::ffff:a.b.c.d
    bit<128> dst_addr;
    bit<8> protocol;  // of the transport, behind any Clarion header
    bit<16> src_port;
    bit<16> dst_port;
    bit<4> format;
    bit<16> bucket;
    bit<32> drops;  // of this port so far
}

control IntervalTelemetry(inout headers_t hdr, in standard_metadata_t standard) {
    @hidden
    action read_totals() {
        wire_lost.read(hdr.interval.corrupt_total, (bit<32>)standard.egress_spec);
        queue_lost.read(hdr.interval.congest_total, (bit<32>)standard.egress_spec);
        hdr.interval.measured = 0;
    }

    apply {
        read_totals();
        digest<interval_report_t>(1, {
            standard.egress_spec, hdr.interval.intervals, hdr.interval.elapsed, hdr.interval.avg_rtt,
            hdr.interval.input, hdr.interval.sum_x, hdr.interval.sum_x_rtt, hdr.interval.queue, hdr.interval.rate,
            hdr.interval.phi, hdr.interval.pos, hdr.interval.neg, hdr.interval.cp, hdr.interval.cp_shift,
            hdr.interval.cn, hdr.interval.cn_shift, hdr.interval.corrupt_total, hdr.interval.congest_total,
            hdr.interval.measured
        });
        hdr.interval.setInvalid();
    }
}

control DropTelemetry(inout headers_t hdr, in standard_metadata_t standard) {
    @hidden
    action describe() {
        bit<32> port = (bit<32>)hdr.drop.port;
        bit<32> number;
        queue_drop_number.read(number, port);
        hdr.drop.number = number + 1;
        queue_drop_number.write(port, hdr.drop.number);
        hdr.drop.length = (bit<16>)standard.packet_length;
        if (hdr.ipv4.isValid()) {
            hdr.drop.src_addr = (bit<128>)(16w0xffff ++ hdr.ipv4.src_addr);
            hdr.drop.dst_addr = (bit<128>)(16w0xffff ++ hdr.ipv4.dst_addr);
            hdr.drop.protocol = hdr.ipv4.protocol;
        }
        if (hdr.ipv6.isValid()) {
            hdr.drop.src_addr = hdr.ipv6.src_addr;
            hdr.drop.dst_addr = hdr.ipv6.dst_addr;
            hdr.drop.protocol = hdr.ipv6.next_header;
        }
        if (hdr.tags.isValid()) {
            hdr.drop.format = FORMAT_TAG;
            hdr.drop.protocol = hdr.clarion.following;
            hdr.drop.bucket = hdr.tags.bucket;
            if (hdr.xcp.isValid()) {
                hdr.drop.format = FORMAT_DATA;
            }
        }
        if (hdr.ack.isValid()) {
            hdr.drop.format = FORMAT_ACK;
            hdr.drop.protocol = hdr.clarion.following;
        }
        if (hdr.transport.isValid()) {
            hdr.drop.src_port = hdr.transport.src_port;
            hdr.drop.dst_port = hdr.transport.dst_port;
        }
    }

    apply {
        describe();
        digest<queue_drop_t>(1, {
            standard.ingress_global_timestamp, hdr.drop.port, hdr.drop.length, hdr.drop.src_addr,
            hdr.drop.dst_addr, hdr.drop.protocol, hdr.drop.src_port, hdr.drop.dst_port, hdr.drop.format,
            hdr.drop.bucket, hdr.drop.number
        });
    }
}
