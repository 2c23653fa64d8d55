// SPDX-License-Identifier: Apache-2.0
// Ranges and the saturating arithmetic of docs/datapath.md.

const bit<64> RATE_MAX = (1 << 46) - 1;      // q8 bytes/s
const bit<64> POOL_MAX = (1 << 48) - 1;      // q8 bytes/s
const bit<64> QUEUE_MAX = (1 << 40) - 1;      // bytes
const bit<64> UNLIMITED = 0xffffffffffffffff;
const bit<64> TICKS_PER_SECOND = 1 << 28;
const bit<64> DURATION_MAX = (1 << 32) - 1;
const bit<64> SHARE_MAX = ((1 << 31) - 1) << 8;  // q8: the most that one packet is given or charged

// A port's cell of arrays with one cell per bucket.
bit<32> slot_of(in bit<9> port, in bucket_t bucket) {
    return ((bit<32>)port << (bit<8>)BUCKETS_LOG2) | ((bit<32>)bucket & ((1 << BUCKETS_LOG2) - 1));
}

bit<64> lesser(in bit<64> a, in bit<64> b) {
    return a < b ? a : b;
}

// Of a number in two's complement.
bit<64> magnitude(in bit<64> number) {
    return number[63:63] == 0 ? number : 0 - number;
}
