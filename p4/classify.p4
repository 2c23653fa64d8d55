// SPDX-License-Identifier: Apache-2.0
// Validates the packet's Clarion header, if it has one (docs/wire-format.md, "What is recognised").

@id(0x12000001)
counter(PORTS, CounterType.packets) malformed;
@id(0x12000008)
counter(PORTS, CounterType.packets_and_bytes) rx;  // all packets received by the port, dropped ones too

control Classify(in headers_t hdr, inout metadata_t meta, in standard_metadata_t standard) {
    @hidden
    action classify() {
        bool names_clarion = false;
        bit<16> room = 0;  // payload bytes by the IP header's own length; 0 in a fragment
        if (hdr.ipv4.isValid() && hdr.ipv4.version == 4 && hdr.ipv4.ihl >= 5) {
            names_clarion = hdr.ipv4.protocol == CLARION_PROTOCOL;
            if (hdr.ipv4.fragment == 0) {
                room = hdr.ipv4.total_length |-| ((bit<16>)hdr.ipv4.ihl << 2);
            }
        }
        if (hdr.ipv6.isValid() && hdr.ipv6.version == 6) {
            names_clarion = hdr.ipv6.next_header == CLARION_PROTOCOL;
            room = hdr.ipv6.payload_length;
        }
        meta.format = FORMAT_NONE;
        meta.tagged = false;
        if (names_clarion) {
            if (hdr.tags.isValid()) {
                if (!hdr.xcp.isValid()) {
                    if (room >= (bit<16>)TAG_BYTES) {
                        meta.format = FORMAT_TAG;
                        meta.tagged = true;
                    }
                } else if (room >= (bit<16>)DATA_BYTES) {
                    meta.format = FORMAT_DATA;
                    meta.tagged = true;
                }
            } else if (hdr.ack.isValid() && room >= (bit<16>)ACK_BYTES) {
                meta.format = FORMAT_ACK;
            }
            if (meta.format == FORMAT_NONE && standard.instance_type != INSTANCE_RECIRCULATED) {
                malformed.count((bit<32>)standard.ingress_port);
            }
        }
    }

    apply {
        if (standard.instance_type != INSTANCE_RECIRCULATED) {
            rx.count((bit<32>)standard.ingress_port);
        }
        classify();
    }
}
