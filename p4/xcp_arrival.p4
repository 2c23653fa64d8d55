// SPDX-License-Identifier: Apache-2.0
// What XCP does when a packet arrives for a port, before it joins or is dropped by the queue: watch the persistent
// queue, see whether the control interval is over, and count the packet in the interval that runs
// (docs/datapath.md, "Control interval" and "Persistent queue").
//
// Nearly all packets only count. Those with which a window, an interval or the state itself begins anew take hdr.interval
// along to XcpTurn; only there ingress meets what egress changes.

control XcpArrival(inout headers_t hdr, inout metadata_t meta, in standard_metadata_t standard) {
    XcpTurn() xcp_turn;
    XcpInterval() xcp_interval;

    // Counts the packet, whatever the sums are. Arrivals see the queue with every packet, so what they saw least is kept
    // beside the sums.
    @hidden
    action count_exactly(in bit<32> port, in bit<336> sums, in duration_t max_interval) {
        bit<64> least = lesser((bit<64>)sums[LEAST_QUEUE], meta.waiting);
        bit<64> x = 0;
        bit<64> x_rtt = 0;
        if (hdr.tags.isValid() && hdr.xcp.isValid() && hdr.xcp.rtt != 0) {
            x = (bit<64>)hdr.xcp.x;
            x_rtt = x * lesser((bit<64>)max_interval, (bit<64>)(hdr.xcp.rtt ++ 3w0)) + 128 >> 8;
        }
        interval_sums.write(port, sums[335:200] ++ (sums[INPUT] |+| (bit<48>)standard.packet_length) ++
                                  (sums[SUM_X] |+| (bit<48>)x) ++ (sums[SUM_X_RTT] |+| x_rtt) ++ least[39:0]);
    }

    // capacity: bytes/s, not 0. alpha, beta, gamma: 1/65536. Interval bounds: ticks, not 0, in order. generation: 1
    // or 2. epoch: 1 to 255; a new one starts the controllers of the port again with the next packet.
    @id(0x01000005)
    @name(".set_xcp_port")
    action set_xcp_port(@id(1) bit<38> capacity, @id(2) bit<18> alpha, @id(3) bit<18> beta,
                        @id(4) bit<18> gamma, @id(5) duration_t min_interval,
                        @id(6) duration_t max_interval, @id(7) bit<2> generation,
                        @id(8) bit<8> epoch) {
        bit<32> port = (bit<32>)standard.egress_spec;
        bit<48> length = (bit<48>)standard.packet_length;
        bit<336> sums;
        meta.generation = generation;
        interval_sums.read(sums, port);
        if (sums[TURN_SETTINGS] == epoch ++ min_interval ++ max_interval && meta.now < sums[NEXT_TURN]) {
            // Nothing saturates, and the queue was shorter before: one addition for all three sums.
            bool is_plain = sums & SUMS_HALF_FULL == 0 && (bit<64>)sums[LEAST_QUEUE] <= meta.waiting;
            if (is_plain && hdr.tags.isValid() && hdr.xcp.isValid() && hdr.xcp.rtt != 0 &&
                hdr.xcp.rtt ++ 3w0 <= max_interval) {
                bit<64> x_rtt = (bit<64>)hdr.xcp.x * (bit<64>)(hdr.xcp.rtt ++ 3w0) + 128 >> 8;
                interval_sums.write(port, sums + (bit<336>)(length ++ (bit<48>)hdr.xcp.x ++ x_rtt ++ 40w0));
            } else if (is_plain && !hdr.xcp.isValid()) {
                interval_sums.write(port, sums + (bit<336>)(length ++ 152w0));
            } else {
                count_exactly(port, sums, max_interval);
            }
        } else {
            hdr.interval.setValid();
            hdr.interval.capacity = capacity;
            hdr.interval.alpha = alpha;
            hdr.interval.beta = beta;
            hdr.interval.gamma = gamma;
            hdr.interval.min_interval = min_interval;
            hdr.interval.max_interval = max_interval;
            hdr.interval.generation = generation;
            hdr.interval.epoch = epoch;
        }
    }

    // The packet at hand is the first of what has begun. Where time went back, or a length is so small that every packet
    // ends something, the next packet has to look again.
    @hidden
    action begin() {
        bit<32> port = (bit<32>)standard.egress_spec;
        clock_t clock;
        bit<336> sums;
        interval_clock.read(clock, port);
        interval_sums.read(sums, port);
        clock[AVG_RTT] = hdr.interval.avg_rtt;
        clock[CREDIT] = hdr.interval.credit;
        clock[PHI] = hdr.interval.phi;
        duration_t length =
            length_of(hdr.interval.avg_rtt, hdr.interval.min_interval, hdr.interval.max_interval);
        bit<64> next = lesser(clock[WINDOW_START] |+| ((bit<64>)length >> 1), clock[INTERVAL_START] |+| (bit<64>)length);
        if (length < 2) {
            next = 0;
        }
        sums = hdr.interval.epoch ++ hdr.interval.min_interval ++ hdr.interval.max_interval ++ next ++ sums[199:0];
        interval_clock.write(port, clock);
        count_exactly(port, sums, hdr.interval.max_interval);
    }

    @id(0x02000004)
    @name(".xcp_port")
    table xcp_port {
        key = { standard.egress_spec : exact @id(1) @name("port"); }
        actions = { set_xcp_port; @defaultonly NoAction; }
        const default_action = NoAction;
        size = PORTS;
    }

    apply {
        xcp_port.apply();
        if (hdr.interval.isValid()) {
            xcp_turn.apply(hdr, meta, standard);
            if (hdr.interval.ended == 1) {
                xcp_interval.apply(hdr, standard);
            }
            begin();
        }
    }
}
