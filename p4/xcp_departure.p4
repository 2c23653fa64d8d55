// SPDX-License-Identifier: Apache-2.0
// What a departing packet is granted (docs/datapath.md, "Departure"). xcp_interval fills the pools and sets the gains in
// ingress, this spends them in egress: each in one action, so that neither sees half of what the other does.

control XcpDeparture(inout headers_t hdr, in metadata_t meta, in standard_metadata_t standard) {
    @hidden
    action depart() {
        bit<32> port = (bit<32>)standard.egress_port;
        bit<224> left;
        shares.read(left, port);
        bit<40> least = (bit<40>)lesser((bit<64>)left[LEAST_QUEUE], meta.waiting);
        if (hdr.tags.isValid() && hdr.xcp.isValid()) {
            bit<40> p = (bit<40>)lesser(SHARE_MAX, lesser((bit<64>)left[POS],
                (bit<64>)left[CP] * (bit<64>)hdr.xcp.x >> left[CP_SHIFT]));
            bit<40> n = (bit<40>)lesser(SHARE_MAX, lesser((bit<64>)left[NEG],
                (bit<64>)left[CN] * (bit<64>)standard.packet_length >> left[CN_SHIFT]));
            bit<48> increases = left[POS] - (bit<48>)p;
            bit<48> decreases = left[NEG] - (bit<48>)n;
            int<64> feedback = signed(p) - signed(n) + (int<64>)(bit<64>)left[CARRY];
            int<64> asked = (int<64>)(int<32>)hdr.xcp.delta_throughput;
            bit<8> carry;
            if (asked >= feedback >> 8) {  // the shift rounds down
                hdr.xcp.delta_throughput = ((bit<64>)feedback)[39:8];
                carry = ((bit<64>)feedback)[7:0];
            } else {
                // It asks for less: it keeps that, and the difference is given back.
                carry = left[CARRY];
                int<64> kept = asked << 8;
                int<64> back = signed(p) - kept;
                if (back > (int<64>)(bit<64>)left[NEG]) {
                    back = (int<64>)(bit<64>)left[NEG];
                }
                decreases = left[NEG] |-| ((bit<64>)back)[47:0];
                kept = kept + back;
                if (kept < 0) {
                    increases = left[POS] |+| ((bit<64>)(-kept))[47:0];
                } else {
                    increases = left[POS] |-| ((bit<64>)kept)[47:0];
                }
            }
            // A spent pool stays closed until the next interval.
            if (increases == 0) {
                left[CP] = 0;
                left[CP_SHIFT] = 0;
            }
            if (decreases == 0) {
                left[CN] = 0;
                left[CN_SHIFT] = 0;
            }
            shares.write(port, increases ++ decreases ++ left[127:48] ++ carry ++ least);
            hdr.clarion.hop = hdr.clarion.hop |+| 1;
        } else {
            shares.write(port, left[223:40] ++ least);
        }
    }

    apply {
        depart();
    }
}
