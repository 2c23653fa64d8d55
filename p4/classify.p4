// SPDX-License-Identifier: Apache-2.0
// Counts what comes in, and Clarion headers that are not to be trusted: the parser leaves them out.

@id(0x12000001)
counter(PORTS, CounterType.packets) malformed;
@id(0x12000008)
counter(PORTS, CounterType.packets_and_bytes) rx;  // all packets received by the port, dropped ones too

control Classify(in headers_t hdr, in standard_metadata_t standard) {
    @hidden
    action classify() {
        rx.count((bit<32>)standard.ingress_port);
        if (!hdr.tags.isValid() && !hdr.ack.isValid()) {
            bool in_ipv4 = hdr.ipv4.isValid() && hdr.ipv4.version == 4 && hdr.ipv4.ihl >= 5 &&
                           hdr.ipv4.protocol == CLARION_PROTOCOL;
            bool in_ipv6 = hdr.ipv6.isValid() && hdr.ipv6.version == 6 &&
                           hdr.ipv6.next_header == CLARION_PROTOCOL;
            if (in_ipv4 || in_ipv6) {
                malformed.count((bit<32>)standard.ingress_port);
            }
        }
    }

    apply {
        classify();
    }
}
