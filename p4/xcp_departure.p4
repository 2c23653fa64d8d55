// SPDX-License-Identifier: Apache-2.0
// What a departing packet is granted (docs/datapath.md, "Departure"). xcp_interval fills the pools and sets the gains in
// ingress, this spends them in egress: each in one action, so that neither sees half of what the other does.

const bit<32> SIGN = 1 << 31;
const bit<64> ZERO = 1 << 39;

control XcpDeparture(inout headers_t hdr, in metadata_t meta, in standard_metadata_t standard) {
    @hidden
    action depart() {
        bit<32> port = (bit<32>)standard.egress_port;
        bit<224> left;
        shares.read(left, port);
        if ((bit<64>)left[LEAST_QUEUE] > meta.waiting) {
            left[LEAST_QUEUE] = meta.waiting[39:0];
        }
        if (hdr.tags.isValid() && hdr.xcp.isValid()) {
            hdr.clarion.hop = hdr.clarion.hop |+| 1;
            bit<64> p = (bit<64>)left[CP] * (bit<64>)hdr.xcp.x >> left[CP_SHIFT];
            bit<64> n = (bit<64>)left[CN] * (bit<64>)standard.packet_length >> left[CN_SHIFT];
            if (p > SHARE_MAX || n > SHARE_MAX || p > (bit<64>)left[POS] || n > (bit<64>)left[NEG]) {
                p = lesser(p, lesser(SHARE_MAX, (bit<64>)left[POS]));
                n = lesser(n, lesser(SHARE_MAX, (bit<64>)left[NEG]));
            }
            // What may be negative is kept with 2^31, in q8 2^39, added: so nothing needs a sign.
            bit<40> feedback = (bit<40>)(ZERO + p + (bit<64>)left[CARRY] - n);
            if ((hdr.xcp.delta_throughput ^ SIGN) >= feedback[39:8]) {
                hdr.xcp.delta_throughput = feedback[39:8] ^ SIGN;
                left = (left[POS] - (bit<48>)p) ++ (left[NEG] - (bit<48>)n) ++ left[127:48] ++ feedback[7:0] ++
                       left[LEAST_QUEUE];
            } else {
                // It asks for less: it keeps that, and the difference is given back, as far as `neg` reaches. That is
                // more than n less the carry, so never negative.
                bit<64> back = ZERO + p - (bit<64>)((hdr.xcp.delta_throughput ^ SIGN) ++ 8w0);
                if (back <= (bit<64>)left[NEG]) {
                    left = (left[POS] - (bit<48>)p) ++ (left[NEG] - (bit<48>)back) ++ left[127:0];
                } else {
                    left = (left[POS] - (bit<48>)p |+| ((bit<48>)back - left[NEG])) ++ 48w0 ++ left[127:0];
                }
            }
            // A spent pool stays closed until the next interval.
            if (left[POS] == 0 || left[NEG] == 0) {
                if (left[POS] == 0) {
                    left[CP] = 0;
                    left[CP_SHIFT] = 0;
                }
                if (left[NEG] == 0) {
                    left[CN] = 0;
                    left[CN_SHIFT] = 0;
                }
            }
        }
        shares.write(port, left);
    }

    apply {
        depart();
    }
}
