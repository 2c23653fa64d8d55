// SPDX-License-Identifier: Apache-2.0
// What the controller puts in front of a frame, Ethernet, at most one VLAN tag, IPv4 with options or IPv6, the Clarion header, and the ports of TCP and UDP.
// Whatever is cut short ends the parser with an error, which v1model ignores: the headers found so far are valid,
// the rest is payload, and classify decides what they mean.

parser ClarionParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                     inout standard_metadata_t standard) {
    state start {
        transition select(standard.ingress_port, standard.instance_type) {
            (CPU_PORT, INSTANCE_NORMAL): from_controller;  // a flooded copy that comes in again is without its header
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
        transition select(hdr.ipv4.version, hdr.ipv4.ihl) {
            (4, 5): ipv4_payload;
            (4, 4): accept;            // shorter than an IPv4 header can be
            (4, 0 &&& 0xc): accept;
            (4, _): ipv4_options;
            default: accept;
        }
    }

    state ipv4_options {
        packet.extract(hdr.ipv4_options, ((bit<32>)hdr.ipv4.ihl - 5) << 5);
        transition ipv4_payload;
    }

    state ipv4_payload {
        transition select(hdr.ipv4.protocol) {
            CLARION_PROTOCOL: clarion;
            PROTOCOL_TCP: transport;
            PROTOCOL_UDP: transport;
            default: accept;
        }
    }

    state ipv6 {
        packet.extract(hdr.ipv6);
        transition select(hdr.ipv6.version, hdr.ipv6.next_header) {
            (6, CLARION_PROTOCOL): clarion;
            (6, PROTOCOL_TCP): transport;
            (6, PROTOCOL_UDP): transport;
            default: accept;
        }
    }

    state clarion {
        packet.extract(hdr.clarion);
        transition select(hdr.clarion.version, hdr.clarion.format, hdr.clarion.length) {
            (CLARION_VERSION, FORMAT_DATA, DATA_BYTES): xcp;
            (CLARION_VERSION, FORMAT_ACK, ACK_BYTES): ack;
            (CLARION_VERSION, FORMAT_TAG, TAG_BYTES): tags;
            default: accept;
        }
    }

    state xcp {
        packet.extract(hdr.xcp);
        transition tags;
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
