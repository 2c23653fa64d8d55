// SPDX-License-Identifier: Apache-2.0
// A packet with which a window or an interval ends, or with which the controllers start (docs/datapath.md, "Control
// interval" and "Persistent queue"). Only here and in refill ingress touches `shares`, which egress changes.

const duration_t INITIAL_RTT = 26843546;  // 100 ms, until a header has told one
const bit<8> CREDIT_MAX = 30;

// Of an interval, or of two windows: the mean RTT within the port's bounds.
duration_t length_of(in duration_t avg_rtt, in duration_t min_interval, in duration_t max_interval) {
    return avg_rtt < min_interval ? min_interval : (avg_rtt < max_interval ? avg_rtt : max_interval);
}

control XcpTurn(inout headers_t hdr, in metadata_t meta, in standard_metadata_t standard) {
    // From nothing; the packet at hand starts the first interval and the first window.
    // Otherwise the window first: what arrivals and departures saw least becomes the persistent queue. Then the interval:
    // what it has collected goes into hdr.interval.
    @hidden
    action turn() {
        bit<32> port = (bit<32>)standard.egress_spec;
        clock_t clock;
        bit<336> sums;
        shares_t left;
        interval_clock.read(clock, port);
        interval_sums.read(sums, port);
        shares.read(left, port);
        bit<40> seen = lesser(QUEUE_MAX, meta.waiting)[39:0];
        if (clock[XCP_EPOCH] != hdr.interval.epoch) {
            clock = hdr.interval.epoch ++ 64w0 ++ INITIAL_RTT ++ meta.now ++ meta.now ++ 72w0 ++ CREDIT_MAX;
            sums = 296w0 ++ seen;
            left = 568w0 ++ QUEUE_MAX[39:0];
        } else {
            duration_t length = length_of(clock[AVG_RTT], hdr.interval.min_interval, hdr.interval.max_interval);
            bit<64> elapsed = meta.now |-| clock[INTERVAL_START];
            bit<64> least = lesser((bit<64>)seen, lesser((bit<64>)sums[LEAST_QUEUE], (bit<64>)left[LEAST_QUEUE]));
            if (meta.now |-| clock[WINDOW_START] >= (bit<64>)length >> 1) {
                clock[WINDOW_START] = meta.now;
                clock[PERSISTENT_QUEUE] = least[39:0];
                sums[LEAST_QUEUE] = seen;
                left[LEAST_QUEUE] = QUEUE_MAX[39:0];
            }
            if (elapsed >= (bit<64>)length) {
                clock[INTERVAL_START] = meta.now;
                clock[INTERVALS] = clock[INTERVALS] + 1;
                hdr.interval.ended = 1;
                hdr.interval.intervals = clock[INTERVALS];
                hdr.interval.elapsed = lesser(DURATION_MAX, elapsed)[31:0];
                hdr.interval.input = sums[INPUT];
                hdr.interval.sum_x = sums[SUM_X];
                hdr.interval.sum_x_rtt = sums[SUM_X_RTT];
                hdr.interval.queue = clock[PERSISTENT_QUEUE];
                hdr.interval.own_input = left[OWN_INPUT];
                hdr.interval.own_sum_x = left[OWN_SUM_X];
                hdr.interval.poor_sum_x = left[POOR_SUM_X];
                hdr.interval.limited = left[LIMITED];
                hdr.interval.max_rtt = left[MAX_RTT];
                hdr.interval.handed_out =
                    clock[PHI] - (bit<64>)left[POS] - (bit<64>)left[BANK] + (bit<64>)left[NEG];
                sums = 296w0 ++ sums[LEAST_QUEUE];
                left = left[NOT_COUNTED_ABOVE] ++ 216w0 ++ left[NOT_COUNTED_BELOW];
            }
        }
        hdr.interval.avg_rtt = clock[AVG_RTT];
        hdr.interval.credit = clock[CREDIT];
        hdr.interval.phi = clock[PHI];
        interval_clock.write(port, clock);
        interval_sums.write(port, sums);
        shares.write(port, left);
    }

    apply {
        turn();
    }
}
