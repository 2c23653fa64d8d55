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

    // In the interval that runs. Arrivals see the queue with every packet, so what they saw least is kept beside the sums.
    @hidden
    action count_packet(in duration_t max_interval) {
        bit<32> port = (bit<32>)standard.egress_spec;
        bit<200> sums;
        interval_sums.read(sums, port);
        // Nothing saturates, and the queue was shorter before: one addition for all three sums.
        bool is_plain = sums & SUMS_HALF_FULL == 0 && (bit<64>)sums[LEAST_QUEUE] <= meta.waiting;
        bit<64> least = lesser((bit<64>)sums[LEAST_QUEUE], meta.waiting);
        bit<48> length = (bit<48>)standard.packet_length;
        if (hdr.tags.isValid() && hdr.xcp.isValid() && hdr.xcp.rtt != 0) {
            if (is_plain && hdr.xcp.rtt ++ 3w0 <= max_interval) {
                bit<64> x_rtt = (bit<64>)hdr.xcp.x * (bit<64>)(hdr.xcp.rtt ++ 3w0) + 128 >> 8;
                interval_sums.write(port, sums + (length ++ (bit<48>)hdr.xcp.x ++ x_rtt ++ 40w0));
            } else {
                bit<64> rtt = lesser((bit<64>)max_interval, (bit<64>)(hdr.xcp.rtt ++ 3w0));
                bit<64> x_rtt = (bit<64>)hdr.xcp.x * rtt + 128 >> 8;
                interval_sums.write(port, (sums[INPUT] |+| length) ++ (sums[SUM_X] |+| (bit<48>)hdr.xcp.x) ++
                                          (sums[SUM_X_RTT] |+| x_rtt) ++ least[39:0]);
            }
        } else if (is_plain) {
            interval_sums.write(port, sums + (length ++ 152w0));
        } else {
            interval_sums.write(port, (sums[INPUT] |+| length) ++ sums[151:40] ++ least[39:0]);
        }
    }

    // capacity: bytes/s, not 0. alpha, beta, gamma: 1/65536. Interval bounds: ticks, not 0, in order. generation: 1
    // or 2, of which the program has 1. epoch: 1 to 255; a new one starts the controllers of the port again with the
    // next packet.
    @id(0x01000005)
    @name(".set_xcp_port")
    action set_xcp_port(@id(1) bit<38> capacity, @id(2) bit<18> alpha, @id(3) bit<18> beta,
                        @id(4) bit<18> gamma, @id(5) duration_t min_interval,
                        @id(6) duration_t max_interval, @id(7) bit<2> generation,
                        @id(8) bit<8> epoch) {
        bit<32> port = (bit<32>)standard.egress_spec;
        bit<240> clock;
        meta.xcp_enabled = true;
        interval_clock.read(clock, port);
        duration_t length = clock[AVG_RTT];
        if (length > max_interval) {
            length = max_interval;
        }
        if (length < min_interval) {
            length = min_interval;
        }
        // Whoever is in doubt goes to XcpTurn: also where a window of length 0 ends although time went back.
        if (clock[XCP_EPOCH] == epoch && length > 1 &&
            (bit<66>)meta.now < (bit<66>)clock[WINDOW_START] + ((bit<66>)length >> 1) &&
            (bit<66>)meta.now < (bit<66>)clock[INTERVAL_START] + (bit<66>)length) {
            count_packet(max_interval);
        } else {
            hdr.interval.setValid();
            hdr.interval.length = length;
            hdr.interval.capacity = capacity;
            hdr.interval.alpha = alpha;
            hdr.interval.beta = beta;
            hdr.interval.gamma = gamma;
            hdr.interval.max_interval = max_interval;
            hdr.interval.generation = generation;
            hdr.interval.epoch = epoch;
        }
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
            count_packet(hdr.interval.max_interval);
        }
    }
}
