// SPDX-License-Identifier: Apache-2.0
// What XCP does when a packet arrives for a port, before it joins or is dropped by the queue: watch the persistent
// queue, see whether the control interval is over, and count the packet in the interval that runs
// (docs/datapath.md, "Control interval" and "Persistent queue").

const duration_t INITIAL_RTT = 26843546;  // 100 ms, until a header has told one

control XcpArrival(inout metadata_t meta, in standard_metadata_t standard) {
    bit<8> running_epoch = 0;

    // ticks = timestamp * multiplier / 2^shift
    @id(0x01000004)
    @name(".set_clock")
    action set_clock(@id(1) bit<72> multiplier, @id(2) bit<8> shift) {
        meta.now = (ticks_t)(((bit<128>)meta.timestamp_us * (bit<128>)multiplier) >> shift);
    }

    // The unit of the target's timestamps. BMv2's are microseconds: 2^28 / 10^6, rounded up to 2^-62, is exact to
    // the tick for all 48 bits.
    @id(0x02000003)
    @name(".clock")
    table clock {
        actions = { set_clock; }
        default_action = set_clock(1237940039285380274900, 62);
    }

    // capacity: bytes/s, not 0. alpha, beta, gamma: 1/65536. Interval bounds: ticks, not 0, in order. generation: 1 or 2. epoch: 1 to
    // 255; a new one starts the controllers of the port again with the next packet.
    @id(0x01000005)
    @name(".set_xcp_port")
    action set_xcp_port(@id(1) bit<38> capacity, @id(2) bit<18> alpha, @id(3) bit<18> beta,
                        @id(4) bit<18> gamma, @id(5) duration_t min_interval,
                        @id(6) duration_t max_interval, @id(7) bit<2> generation, @id(8) bit<8> epoch) {
        meta.xcp_enabled = true;
        meta.xcp.capacity = capacity;
        meta.xcp.alpha = alpha;
        meta.xcp.beta = beta;
        meta.xcp.gamma = gamma;
        meta.xcp.min_interval = min_interval;
        meta.xcp.max_interval = max_interval;
        meta.xcp.generation = generation;
        meta.xcp.epoch = epoch;
    }

    @id(0x02000004)
    @name(".xcp_port")
    table xcp_port {
        key = { standard.egress_spec : exact @id(1) @name("port"); }
        actions = { set_xcp_port; @defaultonly NoAction; }
        const default_action = NoAction;
        size = PORTS;
    }

    @hidden
    action look_at_epoch() {
        xcp_epoch.read(running_epoch, meta.cell);
    }

    // From nothing; the packet at hand starts the first interval and the first window.
    @hidden
    action restart() {
        xcp_epoch.write(meta.cell, meta.xcp.epoch);
        avg_rtt.write(meta.cell, INITIAL_RTT);
        interval_start.write(meta.cell, meta.now);
        window_start.write(meta.cell, meta.now);
        persistent_queue.write(meta.cell, 0);
        if (meta.waiting < QUEUE_MAX) {
            least_queue.write(meta.cell, meta.waiting[39:0]);
        } else {
            least_queue.write(meta.cell, QUEUE_MAX[39:0]);
        }
        input.write(meta.cell, 0);
        sum_x.write(meta.cell, 0);
        sum_x_rtt.write(meta.cell, 0);
        intervals.write(meta.cell, 0);
        pos.write(meta.cell, 0);
        neg.write(meta.cell, 0);
        cp.write(meta.cell, 0);
        cp_shift.write(meta.cell, 0);
        cn.write(meta.cell, 0);
        cn_shift.write(meta.cell, 0);
        carry.write(meta.cell, 0);
    }

    @hidden
    action arrive() {
        duration_t length;
        ticks_t start;
        bit<40> least;
        least_queue.read(least, meta.cell);
        if (meta.waiting < (bit<64>)least) {
            least = meta.waiting[39:0];
            least_queue.write(meta.cell, least);
        }
        avg_rtt.read(length, meta.cell);
        if (length > meta.xcp.max_interval) {
            length = meta.xcp.max_interval;
        }
        if (length < meta.xcp.min_interval) {
            length = meta.xcp.min_interval;
        }
        window_start.read(start, meta.cell);
        if (meta.now |-| start >= (bit<64>)length >> 1) {
            window_start.write(meta.cell, meta.now);
            persistent_queue.write(meta.cell, least);
            least = QUEUE_MAX[39:0];
            if (meta.waiting < QUEUE_MAX) {
                least = meta.waiting[39:0];
            }
            least_queue.write(meta.cell, least);
        }
        interval_start.read(start, meta.cell);
        meta.elapsed = meta.now |-| start;
        meta.interval_ended = meta.elapsed >= (bit<64>)length;
    }

    apply {
        if (xcp_port.apply().hit) {
            clock.apply();
            look_at_epoch();
            if (running_epoch == meta.xcp.epoch) {
                arrive();
            } else {
                restart();
            }
        }
    }
}

control XcpCount(in headers_t hdr, in metadata_t meta, in standard_metadata_t standard) {
    @hidden
    action count_packet() {
        bit<48> total;
        input.read(total, meta.cell);
        total = total |+| (bit<48>)standard.packet_length;
        input.write(meta.cell, total);
    }

    @hidden
    action count_flow() {
        bit<48> x;
        bit<64> x_rtt;
        duration_t rtt = hdr.xcp.rtt ++ 3w0;
        if (rtt > meta.xcp.max_interval) {
            rtt = meta.xcp.max_interval;
        }
        bit<64> product = (bit<64>)hdr.xcp.x * (bit<64>)rtt;
        sum_x.read(x, meta.cell);
        x = x |+| (bit<48>)hdr.xcp.x;
        sum_x.write(meta.cell, x);
        sum_x_rtt.read(x_rtt, meta.cell);
        x_rtt = x_rtt |+| (product + 128 >> 8);
        sum_x_rtt.write(meta.cell, x_rtt);
    }

    apply {
        count_packet();
        if (meta.format == FORMAT_DATA && hdr.xcp.rtt != 0) {
            count_flow();
        }
    }
}
