// SPDX-License-Identifier: Apache-2.0
// Numbers the packets of a bucket on the outgoing link, for the wire check at its other end.

@id(0x1600001a)
register<sequence_t>(PORTS << (bit<8>)BUCKETS_LOG2) link_numbers;

control LinkStamp(inout headers_t hdr, in standard_metadata_t standard) {
    @hidden
    action stamp_link() {
        bit<32> index = slot_of(standard.egress_port, hdr.tags.bucket);
        sequence_t number;
        link_numbers.read(number, index);
        link_numbers.write(index, number + 1);
        hdr.tags.link_seq = number;
    }

    apply {
        stamp_link();
    }
}
