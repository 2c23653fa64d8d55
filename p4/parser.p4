// SPDX-License-Identifier: Apache-2.0
// What the controller puts in front of a frame, Ethernet, at most one VLAN tag, IPv4 with options or IPv6, the Clarion
// header, and the ports of TCP and UDP. Whatever is cut short ends the parser with an error, which v1model ignores: the
// headers found so far are valid, the rest is payload. A Clarion header behind the first four bytes is found only if it is
// to be trusted (docs/wire-format.md, "What is recognised").

parser ClarionParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                     inout standard_metadata_t standard) {
    bit<16> room;  // payload bytes by the IP header's own length

    state start {
        transition select(standard.ingress_port) {
            CPU_PORT: from_cpu_port;
            default: ethernet;
        }
    }

    state from_cpu_port {
        transition select(standard.instance_type) {
            INSTANCE_NORMAL: from_controller;  // a flooded copy that comes in again is without its header
            default: ethernet;
        }
    }

    state from_controller {
        packet.extract(hdr.packet_out);
        transition ethernet;
    }

    state ethernet {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_VLAN: vlan;
            ETHERTYPE_IPV4: ipv4;
            ETHERTYPE_IPV6: ipv6;
            default: accept;
        }
    }

    state vlan {
        packet.extract(hdr.vlan);
        transition select(hdr.vlan.ether_type) {
            ETHERTYPE_IPV4: ipv4;
            ETHERTYPE_IPV6: ipv6;
            default: accept;
        }
    }

    state ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.protocol, hdr.ipv4.fragment) {
            (4, 5, CLARION_PROTOCOL, 0): clarion_in_ipv4;  // nearly all, without a detour
            (4, 5, _, _): ipv4_payload;
            (4, 4, _, _): accept;  // shorter than an IPv4 header can be
            (4, 0 &&& 0xc, _, _): accept;
            (4, _, _, _): ipv4_options;
            default: accept;
        }
    }

    state ipv4_options {
        packet.extract(hdr.ipv4_options, ((bit<32>)hdr.ipv4.ihl - 5) << 5);
        transition ipv4_payload;
    }

    state ipv4_payload {
        transition select(hdr.ipv4.protocol, hdr.ipv4.fragment) {
            (CLARION_PROTOCOL, 0): clarion_in_ipv4;
            (PROTOCOL_TCP, _): transport;
            (PROTOCOL_UDP, _): transport;
            default: accept;
        }
    }

    state clarion_in_ipv4 {
        room = hdr.ipv4.total_length |-| ((bit<16>)hdr.ipv4.ihl << 2);
        transition clarion;
    }

    state ipv6 {
        packet.extract(hdr.ipv6);
        transition select(hdr.ipv6.version, hdr.ipv6.next_header) {
            (6, CLARION_PROTOCOL): clarion_in_ipv6;
            (6, PROTOCOL_TCP): transport;
            (6, PROTOCOL_UDP): transport;
            default: accept;
        }
    }

    state clarion_in_ipv6 {
        room = hdr.ipv6.payload_length;
        transition clarion;
    }

    // A header for which the IP header leaves no room is malformed: room has to reach DATA_BYTES, ACK_BYTES, TAG_BYTES.
    state clarion {
        packet.extract(hdr.clarion);
        transition select(hdr.clarion.version, hdr.clarion.format, hdr.clarion.length, room) {
            (CLARION_VERSION, FORMAT_DATA, DATA_BYTES, 0 &&& 0xffe0): accept;
            (CLARION_VERSION, FORMAT_DATA, DATA_BYTES, _): data;
            (CLARION_VERSION, FORMAT_ACK, ACK_BYTES, 0 &&& 0xfff8): accept;
            (CLARION_VERSION, FORMAT_ACK, ACK_BYTES, 8 &&& 0xfffc): accept;
            (CLARION_VERSION, FORMAT_ACK, ACK_BYTES, _): ack;
            (CLARION_VERSION, FORMAT_TAG, TAG_BYTES, 0 &&& 0xfff0): accept;
            (CLARION_VERSION, FORMAT_TAG, TAG_BYTES, _): tags;
            default: accept;
        }
    }

    state data {
        packet.extract(hdr.xcp);
        packet.extract(hdr.tags);
        transition clarion_payload;
    }

    state tags {
        packet.extract(hdr.tags);
        transition clarion_payload;
    }

    state ack {
        packet.extract(hdr.ack);
        transition clarion_payload;
    }

    state clarion_payload {
        transition select(hdr.clarion.following) {
            PROTOCOL_TCP: transport;
            PROTOCOL_UDP: transport;
            default: accept;
        }
    }

    state transport {
        packet.extract(hdr.transport);
        transition accept;
    }
}
