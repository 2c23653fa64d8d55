// SPDX-License-Identifier: Apache-2.0
// What a departing packet is granted by generation 1 (docs/datapath.md, "Control interval"). xcp_interval fills the pools
// and sets the gains in ingress, this spends them in egress: each in one action, so that neither sees half of what the
// other does.
//
// Nearly all packets change the word of a port by one sum. Where the sum does not come out right, for one of its members
// would leave its range, or where the packet asks for less than it may have, the word is taken apart and put together.

const bit<32> SIGN = 1 << 31;
const bit<64> ZERO = 1 << 39;  // what may be negative is kept with 2^31, in q8 2^39, added: so nothing needs a sign

// Regulating hops of a packet behind this one.
bit<3> next_hop(in bit<3> hop) {
    return hop == 7 ? hop : hop + 1;
}

// Packets that are granted nothing.
control WatchQueue(in metadata_t meta, in standard_metadata_t standard) {
    @hidden
    action watch_queue() {
        bit<32> port = (bit<32>)standard.egress_port;
        shares_t left;
        shares.read(left, port);
        if ((bit<64>)left[LEAST_QUEUE] > meta.waiting) {
            left[LEAST_QUEUE] = meta.waiting[39:0];
            shares.write(port, left);
        }
    }

    apply {
        watch_queue();
    }
}

control XcpDeparture(inout headers_t hdr, in metadata_t meta, in standard_metadata_t standard) {
    @hidden
    action depart() {
        bit<32> port = (bit<32>)standard.egress_port;
        shares_t left;
        shares.read(left, port);
        hdr.clarion.hop = next_hop(hdr.clarion.hop);
        bit<64> p = (bit<64>)left[CP] * (bit<64>)hdr.xcp.x >> left[CP_SHIFT];
        bit<64> n = (bit<64>)left[CN] * (bit<64>)standard.packet_length >> left[CN_SHIFT];
        if ((p | n) > SHARE_MAX || (bit<64>)left[LEAST_QUEUE] > meta.waiting) {
            p = lesser(p, SHARE_MAX);
            n = lesser(n, SHARE_MAX);
            left[LEAST_QUEUE] = lesser((bit<64>)left[LEAST_QUEUE], meta.waiting)[39:0];
        }
        bit<40> feedback = (bit<40>)(ZERO + p + (bit<64>)left[CARRY] - n);
        shares_t next = left - (shares_t)(p ++ AT_POS) - (shares_t)(n ++ AT_NEG) +
                        ((feedback[7:0] - left[CARRY]) ++ AT_CARRY);
        // A spent pool stays closed until the next interval: one byte/s or its gain less, and there is still something left.
        shares_t spare = next - (shares_t)((p == 0 ? left[CP] : 1) ++ AT_POS) -
                         (shares_t)((n == 0 ? left[CN] : 1) ++ AT_NEG);
        if (spare & DOUBTFUL == 0 && (hdr.xcp.delta_throughput ^ SIGN) >= feedback[39:8]) {
            shares.write(port, next);
            hdr.xcp.delta_throughput = feedback[39:8] ^ SIGN;
        } else {
            p = lesser(p, (bit<64>)left[POS]);
            n = lesser(n, (bit<64>)left[NEG]);
            feedback = (bit<40>)(ZERO + p + (bit<64>)left[CARRY] - n);
            bit<64> given_up = 0;
            if ((hdr.xcp.delta_throughput ^ SIGN) >= feedback[39:8]) {
                hdr.xcp.delta_throughput = feedback[39:8] ^ SIGN;
                left = feedback[7:0] ++ left[BELOW_CARRY];
            } else {
                // It asks for less: it keeps that, and the difference is given back, as far as `neg` reaches. That is
                // more than n less the carry, so never negative.
                given_up = ZERO + p - (bit<64>)((hdr.xcp.delta_throughput ^ SIGN) ++ 8w0);
                n = lesser(given_up, (bit<64>)left[NEG]);
                given_up = given_up - n;
            }
            left[POS] = left[POS] - (bit<48>)p |+| (bit<48>)given_up;
            left[NEG] = left[NEG] - (bit<48>)n;
            if (left[POS] == 0) {
                left = left[CARRY] ++ 40w0 ++ left[559:0];
            }
            if (left[NEG] == 0) {
                left = left[607:560] ++ 40w0 ++ left[519:0];
            }
            shares.write(port, left);
        }
    }

    apply {
        depart();
    }
}
