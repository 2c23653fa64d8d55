// SPDX-License-Identifier: Apache-2.0
// What a departing packet is granted (docs/datapath.md, "Departure"). xcp_interval fills the pools and sets the gains in
// ingress, this spends them in egress: each in one action, so that neither sees half of what the other does.

control XcpDeparture(inout headers_t hdr, in metadata_t meta, in standard_metadata_t standard) {
    @hidden
    action watch_queue() {
        bit<40> least;
        least_queue.read(least, meta.cell);
        if (meta.waiting < (bit<64>)least) {
            least = meta.waiting[39:0];
            least_queue.write(meta.cell, least);
        }
    }

    @hidden
    action grant() {
        bit<48> increases;
        bit<48> decreases;
        bit<32> mantissa;
        bit<8> shift;
        bit<64> product;
        bit<8> left_over;

        pos.read(increases, meta.cell);
        cp.read(mantissa, meta.cell);
        cp_shift.read(shift, meta.cell);
        product = (bit<64>)mantissa * (bit<64>)hdr.xcp.x >> shift;
        if (product > (bit<64>)increases) {
            product = (bit<64>)increases;
        }
        if (product > SHARE_MAX) {
            product = SHARE_MAX;
        }
        int<64> p = (int<64>)product;

        neg.read(decreases, meta.cell);
        cn.read(mantissa, meta.cell);
        cn_shift.read(shift, meta.cell);
        product = (bit<64>)mantissa * (bit<64>)standard.packet_length >> shift;
        if (product > (bit<64>)decreases) {
            product = (bit<64>)decreases;
        }
        if (product > SHARE_MAX) {
            product = SHARE_MAX;
        }
        int<64> n = (int<64>)product;

        carry.read(left_over, meta.cell);
        int<64> feedback = p - n + (int<64>)(bit<64>)left_over;
        int<64> asked = (int<64>)(int<32>)hdr.xcp.delta_throughput;
        if (asked >= feedback >> 8) {  // the shift rounds down
            hdr.xcp.delta_throughput = ((bit<64>)feedback)[39:8];
            left_over = ((bit<64>)feedback)[7:0];
            carry.write(meta.cell, left_over);
        } else {
            // It asks for less: it keeps that, and the difference is given back.
            asked = asked << 8;
            n = p - asked;
            if (n > (int<64>)(bit<64>)decreases) {
                n = (int<64>)(bit<64>)decreases;
            }
            p = asked + n;
        }

        if (p < 0) {
            increases = increases |+| ((bit<64>)(-p))[47:0];
        } else {
            increases = increases |-| ((bit<64>)p)[47:0];
        }
        decreases = decreases |-| ((bit<64>)n)[47:0];
        pos.write(meta.cell, increases);
        neg.write(meta.cell, decreases);
        // A spent pool stays closed until the next interval.
        if (increases == 0) {
            cp.write(meta.cell, 0);
            cp_shift.write(meta.cell, 0);
        }
        if (decreases == 0) {
            cn.write(meta.cell, 0);
            cn_shift.write(meta.cell, 0);
        }
    }

    apply {
        watch_queue();
        if (meta.format == FORMAT_DATA) {
            grant();
            hdr.clarion.hop = hdr.clarion.hop |+| 1;
        }
    }
}
