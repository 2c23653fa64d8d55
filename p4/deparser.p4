// SPDX-License-Identifier: Apache-2.0
// Puts back every header that was found, in its place; the Clarion header keeps its length.

control ClarionDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.ethernet);
        packet.emit(hdr.vlan);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ipv4_options);
        packet.emit(hdr.ipv6);
        packet.emit(hdr.clarion);
        packet.emit(hdr.xcp);
        packet.emit(hdr.ack);
        packet.emit(hdr.tags);
        packet.emit(hdr.transport);
    }
}
