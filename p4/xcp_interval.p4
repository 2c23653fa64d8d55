// SPDX-License-Identifier: Apache-2.0
// The end of a control interval: the efficiency controller decides how much the aggregate should change, the
// fairness controller how that and some shuffled traffic is handed out per packet (docs/datapath.md, "Control
// step"). The packet that ends the interval does the work; it happens in headers that are never sent, because BMv2
// clears metadata, but not headers, for every packet.

control XcpInterval(inout headers_t hdr, in standard_metadata_t standard) {
    DivideToInteger(8, DURATION_MAX) sum_x_rtt_by_sum_x;
    DivideToInteger(36, RATE_MAX) input_by_elapsed;
    DivideToInteger(36, RATE_MAX) queue_by_avg_rtt;
    MaxMinInterval() maxmin_interval;
    DivideToGain() pos_by_x;
    DivideToGain() neg_by_input;

    @hidden
    action begin() {
        hdr.interval.sharing_x = hdr.interval.sum_x;
        hdr.interval.sharing_input = hdr.interval.input;
        hdr.interval.numerator = hdr.interval.sum_x_rtt;
        hdr.interval.denominator = (bit<64>)hdr.interval.sum_x;
    }

    // The mean RTT of the flows seen; the last known one if no header told an RTT.
    @hidden
    action average() {
        if (hdr.interval.sum_x != 0) {
            hdr.interval.avg_rtt = hdr.interval.mantissa[31:0];
            if (hdr.interval.avg_rtt == 0) {
                hdr.interval.avg_rtt = 1;
            }
        }
        hdr.interval.numerator = (bit<64>)hdr.interval.input;
        hdr.interval.denominator = (bit<64>)hdr.interval.elapsed;
    }

    @hidden
    action measure_rate() {
        hdr.interval.rate = hdr.interval.mantissa[45:0];
        hdr.interval.numerator = (bit<64>)hdr.interval.queue;
        hdr.interval.denominator = (bit<64>)hdr.interval.avg_rtt;
    }

    // Efficiency controller: phi = alpha * spare - beta * queue / avg_rtt, each term towards zero.
    @hidden
    action control_efficiency() {
        bit<64> capacity = (bit<64>)hdr.interval.capacity << 8;
        bit<64> rate = (bit<64>)hdr.interval.rate;
        bit<64> drain = (bit<64>)hdr.interval.beta * hdr.interval.mantissa >> 16;
        if (rate > capacity) {
            hdr.interval.phi = 0 - ((bit<64>)hdr.interval.alpha * (rate - capacity) >> 16) - drain;
        } else {
            hdr.interval.phi = ((bit<64>)hdr.interval.alpha * (capacity - rate) >> 16) - drain;
        }
    }

    // Generation 1: among all flows, and no more than fits beside phi.
    @hidden
    action shuffle_all() {
        hdr.interval.shuffle =
            ((bit<64>)hdr.interval.gamma * (bit<64>)hdr.interval.rate >> 16) |-| magnitude(hdr.interval.phi);
        hdr.interval.most_taken = UNLIMITED;
        hdr.interval.fair = 0;
        hdr.interval.fair_shift = 0;
        hdr.interval.lift = 0;
        hdr.interval.lift_shift = 0;
        hdr.interval.growth = 0;
        hdr.interval.growth_shift = 0;
    }

    // Fairness controller: the pools are the change and what is shuffled between the flows.
    @hidden
    action control_fairness() {
        bit<64> up = hdr.interval.shuffle;
        bit<64> down = hdr.interval.shuffle;
        if (hdr.interval.phi[63:63] == 0) {
            up = up + hdr.interval.phi;
        } else {
            down = down + lesser(hdr.interval.most_taken, 0 - hdr.interval.phi);
        }
        hdr.interval.pos = lesser(POOL_MAX, up)[47:0];
        hdr.interval.neg = lesser(POOL_MAX, down)[47:0];
        hdr.interval.numerator = (bit<64>)hdr.interval.pos;
        hdr.interval.denominator = (bit<64>)hdr.interval.sharing_x;
    }

    @hidden
    action set_cp() {
        hdr.interval.cp = hdr.interval.mantissa[31:0];
        hdr.interval.cp_shift = ((bit<16>)hdr.interval.exponent)[7:0];
        hdr.interval.numerator = (bit<64>)hdr.interval.neg;
        hdr.interval.denominator = (bit<64>)hdr.interval.sharing_input;
    }

    // All at once for the departures, which run beside this. What they have counted since the turn is of the next interval.
    @hidden
    action refill() {
        hdr.interval.cn = hdr.interval.mantissa[31:0];
        hdr.interval.cn_shift = ((bit<16>)hdr.interval.exponent)[7:0];
        shares_t left;
        shares.read(left, (bit<32>)standard.egress_spec);
        shares.write((bit<32>)standard.egress_spec,
                     left[CARRY] ++
                     hdr.interval.cp ++ hdr.interval.cp_shift ++ hdr.interval.cn ++ hdr.interval.cn_shift ++
                     hdr.interval.fair ++ hdr.interval.fair_shift ++ hdr.interval.lift ++ hdr.interval.lift_shift ++
                     hdr.interval.growth ++ hdr.interval.growth_shift ++
                     left[COUNTED] ++ 48w0 ++ hdr.interval.pos ++ hdr.interval.neg ++ left[LEAST_QUEUE]);
    }

    apply {
        begin();
        sum_x_rtt_by_sum_x.apply(hdr.interval);
        average();
        input_by_elapsed.apply(hdr.interval);
        measure_rate();
        queue_by_avg_rtt.apply(hdr.interval);
        control_efficiency();
        if (hdr.interval.generation == 2) {
            maxmin_interval.apply(hdr);
        } else {
            shuffle_all();
        }
        control_fairness();
        pos_by_x.apply(hdr.interval);
        set_cp();
        neg_by_input.apply(hdr.interval);
        refill();
    }
}
