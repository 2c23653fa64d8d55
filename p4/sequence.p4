// SPDX-License-Identifier: Apache-2.0
// Loss detection by numbering: the judgement that wire_check and queue_check share.

const sequence_t GAP_LIMIT = 16384;    // a gap this long or longer is a jump
const sequence_t BACK_LIMIT = 0xc000;  // -16384 modulo 2^16: this far behind is one, too
const sequence_t LATE_LIMIT = 0xff00;  // -256 modulo 2^16: a packet at most this far behind was overtaken
const bit<8> FAR_LIMIT = 64;           // so many in a row further behind are a restart

// One bucket: packets in a row further behind than LATE_LIMIT 8, epoch 8 (it has a base if this is the check's epoch),
// expected 16, total 16.
typedef bit<48> sequence_slot_t;

typedef bit<2> verdict_t;
const verdict_t GAP = 1;
const verdict_t LATE = 2;
const verdict_t JUMP = 3;

// Whether `seq` is the number that a bucket with a base expects, and nothing has to be carried to its other members.
bool is_in_order(in sequence_slot_t slot, in bit<8> epoch, in sequence_t seq) {
    return slot[47:16] == 8w0 ++ epoch ++ seq && seq != 0xffff;
}

// The bucket behind that number.
sequence_slot_t step(in sequence_slot_t slot) {
    return slot + (1 << 16);
}

// The bucket behind any other number that is not judged: the first of the bucket, or on a link that is not known to be a
// bare wire. It is nothing but a new base.
sequence_slot_t follow(in sequence_slot_t slot, in bit<8> epoch, in sequence_t seq) {
    return 8w0 ++ epoch ++ (seq + 1) ++ slot[15:0];
}

// Whether there is something to judge: number `seq` is neither the first of its bucket nor in order.
bool is_out_of_order(in sequence_slot_t slot, in bit<8> epoch, in sequence_t seq) {
    return slot[39:32] == epoch && slot[31:16] != seq;
}

// What such a number means. A path may reorder over any distance, but a sender that has started again stays far behind.
sequence_slot_t judge(in sequence_slot_t slot, in bit<8> epoch, in sequence_t seq, out verdict_t verdict) {
    sequence_t expected = seq + 1;
    bit<16> total = slot[15:0];
    bit<8> far = 0;
    sequence_t ahead = seq - slot[31:16];
    if (ahead > BACK_LIMIT && ahead < LATE_LIMIT) {
        far = slot[47:40] + 1;
    }
    if (ahead < GAP_LIMIT) {
        verdict = GAP;
        total = total + ahead;
    } else if (ahead > BACK_LIMIT && far < FAR_LIMIT) {
        verdict = LATE;
        total = total - 1;
        expected = slot[31:16];
    } else {
        verdict = JUMP;
        far = 0;
    }
    return far ++ epoch ++ expected ++ total;
}
