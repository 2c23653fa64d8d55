// SPDX-License-Identifier: Apache-2.0
// Numbers the packets of a bucket on the outgoing link, for the wire check at its other end.

@id(0x1600001a)
register<sequence_t>(PORTS << (bit<8>)BUCKETS_LOG2) link_numbers;

control LinkStamp(inout headers_t hdr, in metadata_t meta) {
    @hidden
    action stamp_link() {
        link_numbers.read(hdr.tags.link_seq, meta.slot);
        link_numbers.write(meta.slot, hdr.tags.link_seq + 1);
    }

    apply {
        stamp_link();
    }
}
