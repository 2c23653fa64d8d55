// SPDX-License-Identifier: Apache-2.0
// Generation 2 of the control step (docs/datapath.md, "Generation 2"): flows that another hop holds back are told from
// those that this one limits. What the first leave is handed to the second, whose mean rate is the fair share that a
// newcomer is lifted to. XcpInterval has measured the aggregate, and makes the gains of what is left in hdr.interval.

const bit<64> FASTEST = 22938;  // 0.35 of the traffic per interval, q16: more overshoots
const bit<8> USUAL_LOG2 = 5;    // changes below 1/32 of the capacity are those of a full link
const bit<8> FAST_CREDIT = 2;   // an interval with poor flows costs two, every other one brings one

// Where there are none of its own flows, a link hands out what is free to everyone, and a share is all that it carries.
// Else the pools are for its own.
control MaxMinInterval(inout headers_t hdr) {
    DivideToGain() second_by_avg_rtt;
    DivideToInteger(15, FASTEST) avg_rtt_by_max_rtt;
    DivideToInteger(36, RATE_MAX) own_input_by_elapsed;
    DivideToGain() own_input_by_own_x;
    DivideToGain() lift_by_own_input;

    // What flows get from earlier hops comes in addition. What has been handed out arrives a round trip later, and half of
    // it counts as there already, where it is more than a full link hands out.
    @hidden
    action begin() {
        bit<64> unusual = 0;
        if (hdr.interval.handed_out[63:63] == 0) {
            unusual = lesser(RATE_MAX, hdr.interval.handed_out |-| ((bit<64>)hdr.interval.capacity << 8 >> USUAL_LOG2));
        }
        hdr.interval.phi = hdr.interval.phi -
                           (((bit<64>)(hdr.interval.limited ^ LIMITED_SIGN) - LIMITED_ZERO) << 8) -
                           ((bit<64>)hdr.interval.alpha * unusual >> 17);
        hdr.interval.numerator = TICKS_PER_SECOND << 8;
        hdr.interval.denominator = (bit<64>)hdr.interval.avg_rtt;
    }

    @hidden
    action set_growth() {
        hdr.interval.growth = hdr.interval.mantissa[31:0];
        hdr.interval.growth_shift = ((bit<16>)hdr.interval.exponent)[7:0];
        hdr.interval.numerator = (bit<64>)hdr.interval.avg_rtt;
        hdr.interval.denominator = (bit<64>)hdr.interval.max_rtt;
    }

    // What was shifted must be seen by the flow with the longest RTT before more is.
    @hidden
    action limit_speed() {
        hdr.interval.fastest = hdr.interval.gamma;
        if (hdr.interval.mantissa > (bit<64>)hdr.interval.gamma) {
            hdr.interval.fastest = hdr.interval.mantissa[17:0];
        }
        hdr.interval.numerator = (bit<64>)hdr.interval.own_input;
        hdr.interval.denominator = (bit<64>)hdr.interval.elapsed;
    }

    // Intervals in which poor flows are lifted are paid with credit, which comes back slowly. Flows that look poor for
    // ever, or come and go all the time, get no more than generation 1 gives.
    @hidden
    action set_speed() {
        bit<18> shuffled = hdr.interval.gamma;
        bit<18> redistributed = hdr.interval.fastest;
        if ((bit<64>)hdr.interval.poor_sum_x >
            (bit<64>)(hdr.interval.elapsed >> 2) + (bit<64>)(hdr.interval.elapsed >> 4)) {
            // A link that is far from full has enough to hand out: what others give up as well would leave it emptier.
            bool is_full = hdr.interval.phi[63:63] == 1 ||
                           hdr.interval.phi <= (bit<64>)hdr.interval.capacity << 8 >> USUAL_LOG2;
            if (is_full && hdr.interval.credit >= FAST_CREDIT) {
                shuffled = hdr.interval.fastest;
            } else {
                redistributed = hdr.interval.gamma;
            }
            hdr.interval.credit = hdr.interval.credit |-| FAST_CREDIT;
        } else if (hdr.interval.credit < CREDIT_MAX) {
            hdr.interval.credit = hdr.interval.credit + 1;
        }
        hdr.interval.shuffle = (bit<64>)shuffled * hdr.interval.mantissa >> 16;
        hdr.interval.most = (bit<64>)redistributed * hdr.interval.mantissa >> 16;
        hdr.interval.most_taken = hdr.interval.mantissa;
    }

    @hidden
    action share_out_to_own() {
        hdr.interval.shuffle = hdr.interval.shuffle |-| magnitude(hdr.interval.phi);
        hdr.interval.most = hdr.interval.most |-| (magnitude(hdr.interval.phi) + hdr.interval.shuffle);
        hdr.interval.sharing_x = hdr.interval.own_sum_x;
        hdr.interval.sharing_input = hdr.interval.own_input;
        hdr.interval.numerator = (bit<64>)hdr.interval.own_input << 8;
        hdr.interval.denominator = (bit<64>)hdr.interval.own_sum_x;
    }

    @hidden
    action share_out_to_all() {
        hdr.interval.shuffle = 0;
        hdr.interval.most = 0;
        hdr.interval.most_taken = (bit<64>)hdr.interval.rate;
        hdr.interval.numerator = (bit<64>)hdr.interval.capacity << 8;
        hdr.interval.denominator = TICKS_PER_SECOND;
    }

    // Flows that send again after an interval with hardly any packets meet gains that were made for those. So a pool is
    // spread over one flow at least, which has its RTT of x.
    @hidden
    action spread() {
        if (hdr.interval.sharing_x != 0 && hdr.interval.sharing_x < (bit<48>)hdr.interval.avg_rtt) {
            hdr.interval.sharing_x = (bit<48>)hdr.interval.avg_rtt;
        }
    }

    @hidden
    action set_fair() {
        hdr.interval.fair = hdr.interval.mantissa[31:0];
        hdr.interval.fair_shift = ((bit<16>)hdr.interval.exponent)[7:0];
        hdr.interval.numerator = hdr.interval.most;
        hdr.interval.denominator = (bit<64>)hdr.interval.own_input << 8;
    }

    @hidden
    action set_lift() {
        hdr.interval.lift = hdr.interval.mantissa[31:0];
        hdr.interval.lift_shift = ((bit<16>)hdr.interval.exponent)[7:0];
    }

    apply {
        begin();
        second_by_avg_rtt.apply(hdr.interval);
        set_growth();
        avg_rtt_by_max_rtt.apply(hdr.interval);
        limit_speed();
        own_input_by_elapsed.apply(hdr.interval);
        set_speed();
        if (hdr.interval.own_input < hdr.interval.input >> 6 && hdr.interval.own_sum_x < hdr.interval.sum_x >> 6) {
            share_out_to_all();
        } else {
            share_out_to_own();
        }
        spread();
        own_input_by_own_x.apply(hdr.interval);
        set_fair();
        lift_by_own_input.apply(hdr.interval);
        set_lift();
    }
}
