// SPDX-License-Identifier: Apache-2.0
// What a departing packet is granted by generation 2, and what its departure tells of its flow (docs/datapath.md,
// "Generation 2"). Beside the pools there is a bank: what packets above their flow's fair share pay in, those below are
// paid from. As with generation 1, nearly all packets change the word of a port by one sum.

const bit<64> GAP_MAX = (1 << 32) - 1;
const bit<64> POOR = 264;       // 1/256 of a packet's length: its flow lacks 1/32 of a packet of the fair share,
const bit<64> VERY_POOR = 276;  // and 5/64
const bit<64> LIMITED_LEAST = LIMITED_ZERO - ((1 << 38) - 1);
const bit<64> LIMITED_MOST = LIMITED_ZERO + ((1 << 38) - 1);

control MaxMinDeparture(inout headers_t hdr, in metadata_t meta, in standard_metadata_t standard) {
    // This hop limits the flow, or nobody knows who does: its packet takes from the pools and from the bank, or pays.
    @hidden
    action pay_offer(in bit<32> port, in shares_t left, in bit<64> p, in bit<64> n, in bit<64> fair, in bit<64> lift,
                     in shares_t x_counted) {
        bit<64> length = (bit<64>)standard.packet_length;
        bool lacks = fair > length << 8;
        bit<64> offer = ZERO + p + (bit<64>)left[CARRY] - n;
        bit<40> feedback = (bit<40>)(lacks ? offer + lift : offer - lift);
        shares_t counted = left + (shares_t)(length ++ AT_OWN_INPUT) + x_counted;
        shares_t paid = counted - (shares_t)(p ++ AT_POS) - (shares_t)(n ++ AT_NEG) +
                        ((feedback[7:0] - left[CARRY]) ++ AT_CARRY);
        shares_t next = lacks ? paid - (shares_t)(lift ++ AT_BANK) : paid + (shares_t)(lift ++ AT_BANK);
        if ((left | next) & DOUBTFUL == 0 && hdr.xcp.rtt != 0 && (hdr.xcp.delta_throughput ^ SIGN) >= feedback[39:8]) {
            shares.write(port, next);
            hdr.xcp.field = hdr.xcp.field > hdr.clarion.hop ? hdr.xcp.field :
                            ((hdr.xcp.delta_throughput ^ SIGN) > feedback[39:8] ? hdr.clarion.hop :
                             (hdr.xcp.field == hdr.clarion.hop ? 0 : hdr.xcp.field));
            hdr.xcp.delta_throughput = feedback[39:8] ^ SIGN;
        } else {
            shares_t rest = left;
            if (hdr.xcp.rtt != 0) {
                rest[OWN_INPUT] = rest[OWN_INPUT] |+| (bit<48>)length;
                rest[OWN_SUM_X] = rest[OWN_SUM_X] |+| (bit<48>)hdr.xcp.x;
                if (fair > VERY_POOR * length) {
                    rest = rest[607:328] ++ (rest[POOR_SUM_X] |+| (bit<48>)hdr.xcp.x) ++ rest[279:0];
                }
            }
            bit<64> from_pos = lesser(p, (bit<64>)left[POS]);
            bit<64> from_neg = lesser(n, (bit<64>)left[NEG]);
            bit<64> from_bank = 0;
            bit<64> to_bank = 0;
            if (lacks) {
                from_bank = lesser(lift, (bit<64>)left[BANK]);
            } else {
                to_bank = lift;
            }
            bit<64> granted = ZERO + from_pos + from_bank + (bit<64>)left[CARRY] - from_neg - to_bank;
            bit<64> given_up = 0;
            bit<3> limited_by = hdr.xcp.field == hdr.clarion.hop ? 0 : hdr.xcp.field;
            if ((hdr.xcp.delta_throughput ^ SIGN) >= granted[39:8]) {
                if ((hdr.xcp.delta_throughput ^ SIGN) > granted[39:8]) {
                    limited_by = hdr.clarion.hop;
                }
                hdr.xcp.delta_throughput = granted[39:8] ^ SIGN;
                rest = granted[7:0] ++ rest[BELOW_CARRY];
            } else {
                // It asks for less: it keeps that, first from `pos`, and the difference is given back, as far as `neg`
                // reaches. That is more than n less the carry, so never negative.
                bit<64> kept = (bit<64>)((hdr.xcp.delta_throughput ^ SIGN) ++ 8w0);
                from_bank = kept |-| (ZERO + from_pos);
                to_bank = 0;
                given_up = ZERO + from_pos + from_bank - kept;
                from_neg = lesser(given_up, (bit<64>)left[NEG]);
                given_up = given_up - from_neg;
            }
            if (hdr.xcp.rtt != 0 && hdr.xcp.field <= hdr.clarion.hop) {
                hdr.xcp.field = limited_by;
            }
            rest[POS] = left[POS] - (bit<48>)from_pos |+| (bit<48>)given_up;
            rest[NEG] = left[NEG] - (bit<48>)from_neg;
            rest[BANK] = left[BANK] - (bit<48>)from_bank |+| (bit<48>)to_bank;
            shares.write(port, rest);
        }
    }

    @hidden
    action depart() {
        bit<32> port = (bit<32>)standard.egress_port;
        bit<64> length = (bit<64>)standard.packet_length;
        shares_t left;
        shares.read(left, port);
        hdr.clarion.hop = next_hop(hdr.clarion.hop);
        bit<64> p = (bit<64>)left[CP] * (bit<64>)hdr.xcp.x >> left[CP_SHIFT];
        bit<64> n = (bit<64>)left[CN] * length >> left[CN_SHIFT];
        bit<64> fair = (bit<64>)left[FAIR] * (bit<64>)hdr.xcp.x >> left[FAIR_SHIFT];
        // What its flow lacks of the fair share, or has beyond it. One that a later hop limits cannot use a lift.
        bit<32> gap = (bit<32>)(fair <= length << 8 ? (length << 8) - fair :
                                (hdr.xcp.field > hdr.clarion.hop ? 0 : fair - (length << 8)));
        bit<64> lift = (bit<64>)left[LIFT] * (bit<64>)gap >> left[LIFT_SHIFT];
        // While none of the shares reaches a quarter of its limit, nor the fair one its own, none has to be limited.
        if (((p | n | lift) >> 5 | fair) > GAP_MAX || (bit<64>)left[LEAST_QUEUE] > meta.waiting ||
            left[MAX_RTT] < hdr.xcp.rtt ++ 3w0) {
            left = left[NOT_COUNTED_ABOVE] ++
                   (left[MAX_RTT] < hdr.xcp.rtt ++ 3w0 ? hdr.xcp.rtt ++ 3w0 : left[MAX_RTT]) ++ left[367:40] ++
                   lesser((bit<64>)left[LEAST_QUEUE], meta.waiting)[39:0];
            p = lesser(p, SHARE_MAX);
            n = lesser(n, SHARE_MAX);
            fair = lesser(fair, GAP_MAX);
            if (fair <= length << 8) {
                lift = lesser(lift, SHARE_MAX - n);
            } else if (hdr.xcp.field <= hdr.clarion.hop) {
                lift = lesser((bit<64>)left[LIFT] * (fair - (length << 8)) >> left[LIFT_SHIFT], SHARE_MAX - p);
            }
        }
        if (fair > POOR * length && hdr.xcp.rtt != 0) {
            bit<64> offer = ZERO + p + lift - n;
            if (hdr.xcp.field > hdr.clarion.hop) {
                // A later hop will give less: its offer is not paid from the pools, and doubles it at most.
                bit<64> doubled = ZERO + ((bit<64>)left[GROWTH] * length >> left[GROWTH_SHIFT]);
                bit<64> unpaid = lesser(offer, doubled);
                if ((hdr.xcp.delta_throughput ^ SIGN) > unpaid[39:8]) {
                    hdr.xcp.delta_throughput = unpaid[39:8] ^ SIGN;
                }
                shares.write(port, left);
            } else if ((bit<64>)((hdr.xcp.delta_throughput ^ SIGN) ++ 8w0) < offer) {
                // An earlier hop gives less, or one that is not known.
                bit<64> limited = (bit<64>)(left[LIMITED] ^ LIMITED_SIGN) +
                                  (bit<64>)(hdr.xcp.delta_throughput ^ SIGN) - (bit<64>)SIGN;
                limited = limited < LIMITED_LEAST ? LIMITED_LEAST :
                          (limited > LIMITED_MOST ? LIMITED_MOST : limited);
                shares.write(port, left[607:368] ++ (limited[39:0] ^ LIMITED_SIGN) ++ left[327:0]);
            } else {
                pay_offer(port, left, p, n, fair, lift,
                          (shares_t)hdr.xcp.x * (fair > VERY_POOR * length ? ONE_POOR_X : ONE_OWN_X));
            }
        } else {
            pay_offer(port, left, p, n, fair, lift, (shares_t)hdr.xcp.x * ONE_OWN_X);
        }
    }

    apply {
        depart();
    }
}
