// SPDX-License-Identifier: Apache-2.0
// The tokens of the block's streams as words of 512 bits, fields from the low end on: on the ports of a unit
// that is synthesised by itself, and in the files that its RTL is played with. Wider words are more than
// bambu takes.
#ifndef CLARION_SYNTH_BAMBU_TOKENS_HPP
#define CLARION_SYNTH_BAMBU_TOKENS_HPP

#include <ap_int.h>

#include <cstdint>

#include "hls/block/axis.hpp"
#include "hls/block/frame_intake.hpp"
#include "hls/block/grant_join.hpp"
#include "hls/block/grant_stage.hpp"
#include "hls/block/ingress_stage.hpp"
#include "hls/block/interval_stage.hpp"

namespace clarion::block {

// A slot of the wire check as a word of memory.
CLARION_INLINE std::uint64_t slot_bits(const WireSlot& slot) {
  return std::uint64_t{slot.generation} << 48 | std::uint64_t{slot.far} << 40 |
         std::uint64_t{slot.epoch} << 32 | std::uint64_t{slot.total} << 16 | slot.expected;
}
CLARION_INLINE void slot_from(std::uint64_t bits, WireSlot& slot) {
  slot.expected = static_cast<std::uint16_t>(bits);
  slot.total = static_cast<std::uint16_t>(bits >> 16);
  slot.epoch = static_cast<std::uint8_t>(bits >> 32);
  slot.far = static_cast<std::uint8_t>(bits >> 40);
  slot.generation = (bits >> 48 & 1) != 0;
}

}  // namespace clarion::block

namespace clarion::synth {

constexpr unsigned WORD_BITS = 512;
constexpr unsigned MAX_WORDS = 3;  // of a token

using namespace clarion::block;

using Word = ap_uint<WORD_BITS>;

struct Token {
  Word word[MAX_WORDS] = {0, 0, 0};
};

// Fields one after another into words.
class Packer {
 public:
  template <int N>
  CLARION_INLINE void field(const ap_uint<N>& value) {
    words_.word[at_ / WORD_BITS] |= Word(value) << (at_ % WORD_BITS);
    at_ += N;
  }
  CLARION_INLINE void field(bool value) { field(ap_uint<1>(value ? 1u : 0u)); }
  CLARION_INLINE void field(std::uint8_t value) { field(ap_uint<8>(value)); }
  CLARION_INLINE void field(std::uint16_t value) { field(ap_uint<16>(value)); }
  CLARION_INLINE void field(std::uint32_t value) { field(ap_uint<32>(value)); }
  CLARION_INLINE void field(std::int32_t value) { field(ap_uint<32>(static_cast<std::uint32_t>(value))); }
  CLARION_INLINE void field(std::uint64_t value) { field(ap_uint<64>(value)); }
  CLARION_INLINE void field(std::int64_t value) { field(ap_uint<64>(static_cast<std::uint64_t>(value))); }
  CLARION_INLINE void field(Kind value) { field(static_cast<std::uint8_t>(value)); }
  CLARION_INLINE void field(PoolEvent::Kind value) { field(static_cast<std::uint8_t>(value)); }
  CLARION_INLINE void next() { at_ = (at_ / WORD_BITS + 1) * WORD_BITS; }  // no field crosses a word

  CLARION_INLINE const Token& words() const { return words_; }

 private:
  Token words_{};
  unsigned at_ = 0;
};

// And out of them.
class Unpacker {
 public:
  CLARION_INLINE explicit Unpacker(const Token& words) : words_(words) {}

  template <int N>
  CLARION_INLINE void field(ap_uint<N>& value) {
    value = ap_uint<N>(words_.word[at_ / WORD_BITS] >> (at_ % WORD_BITS));
    at_ += N;
  }
  CLARION_INLINE void field(bool& value) { value = (take<1>() & 1) != 0; }
  CLARION_INLINE void field(std::uint8_t& value) { value = static_cast<std::uint8_t>(take<8>()); }
  CLARION_INLINE void field(std::uint16_t& value) { value = static_cast<std::uint16_t>(take<16>()); }
  CLARION_INLINE void field(std::uint32_t& value) { value = static_cast<std::uint32_t>(take<32>()); }
  CLARION_INLINE void field(std::int32_t& value) { value = static_cast<std::int32_t>(take<32>()); }
  CLARION_INLINE void field(std::uint64_t& value) { value = take<64>(); }
  CLARION_INLINE void field(std::int64_t& value) { value = static_cast<std::int64_t>(take<64>()); }
  CLARION_INLINE void field(Kind& value) { value = static_cast<Kind>(take<8>()); }
  CLARION_INLINE void field(PoolEvent::Kind& value) { value = static_cast<PoolEvent::Kind>(take<8>()); }
  CLARION_INLINE void next() { at_ = (at_ / WORD_BITS + 1) * WORD_BITS; }

 private:
  template <int N>
  CLARION_INLINE std::uint64_t take() {
    ap_uint<N> value = 0;
    field(value);
    return value.to_uint64();
  }

  const Token& words_;
  unsigned at_ = 0;
};

// The fields of each token; `v` is one of the two.
template <class V>
CLARION_INLINE void visit(V& v, std::int32_t& value) {
  v.field(value);
}

template <class V, int N>
CLARION_INLINE void visit(V& v, ap_uint<N>& value) {
  v.field(value);
}

template <class V>
CLARION_INLINE void visit(V& v, Beat& beat) {
  v.field(beat.data);
  v.field(beat.keep);
  v.field(beat.user);
  v.field(beat.last);
}

template <class V>
CLARION_INLINE void visit(V& v, StoredBeat& beat) {
  v.field(beat.data);
  v.field(beat.keep);
  v.field(beat.user);
  v.field(beat.last);
}

template <class V>
CLARION_INLINE void visit(V& v, Meta& meta) {
  v.field(meta.kind);
  v.field(meta.in_queue);
  v.field(meta.xcp);
  v.field(meta.offset);
  v.field(meta.bucket);
  v.field(meta.link_seq);
  v.field(meta.queue_seq);
  v.field(meta.corrupt);
  v.field(meta.congest);
  v.field(meta.flags);
  v.field(meta.rtt);
  v.field(meta.x);
  v.field(meta.delta_throughput);
}

// But for the window, which can be made of two beats but does not give them back.
template <class V>
CLARION_INLINE void visit(V& v, Arrival& arrival) {
  v.field(arrival.length);
  v.field(arrival.stored);
  v.field(arrival.whole);
  v.field(arrival.errored);
  v.field(arrival.untold);
  v.field(arrival.now);
}

template <class V>
CLARION_INLINE void visit(V& v, Packet& packet) {
  visit(v, packet.meta);
  v.field(packet.malformed);
  v.field(packet.length);
  v.field(packet.stored);
  v.field(packet.whole);
  v.field(packet.errored);
  v.field(packet.untold);
  v.field(packet.now);
}

template <class V>
CLARION_INLINE void visit(V& v, Release& release) {
  v.field(release.stored);
  v.field(release.send);
  v.field(release.length);
  v.field(release.patch.offset);
  v.field(release.patch.enable);
  v.field(release.patch.data);
}

template <class V>
CLARION_INLINE void visit(V& v, Departure& departure) {
  visit(v, departure.release);
  v.field(departure.granted);
}

// What there is, at the start of a step: a token to read, or room for one. With a beat comes all but its
// data, and the time.
struct IntakeStatus {
  bool wire = false;
  bool beats = false;
  bool arrivals = false;
  Keep keep = 0;
  User user = 0;
  bool last = false;
  Ticks now = 0;
};

template <class V>
CLARION_INLINE void visit(V& v, IntakeStatus& status) {
  v.field(status.wire);
  v.field(status.beats);
  v.field(status.arrivals);
  v.field(status.keep);
  v.field(status.user);
  v.field(status.last);
  v.field(status.now);
}

struct JoinStatus {
  bool departures = false;
  bool grants = false;
  bool releases = false;
};

template <class V>
CLARION_INLINE void visit(V& v, JoinStatus& status) {
  v.field(status.departures);
  v.field(status.grants);
  v.field(status.releases);
}

struct IngressStatus {
  bool packets = false;
  bool commands = false;
  bool releases = false;
  bool replies = false;
};

template <class V>
CLARION_INLINE void visit(V& v, IngressStatus& status) {
  v.field(status.packets);
  v.field(status.commands);
  v.field(status.releases);
  v.field(status.replies);
}

// Beside that: what the stage takes in every step anyway.
struct EgressStatus {
  bool packets = false;
  bool reports = false;
  bool commands = false;
  bool departures = false;
  bool pool = false;
  bool ends = false;
  bool replies = false;
  bool taken = false;
  ap_uint<16> sent = 0;  // 0: none
  ap_uint<40> queue_elsewhere = 0;
  Ticks now = 0;
};

template <class V>
CLARION_INLINE void visit(V& v, EgressStatus& status) {
  v.field(status.packets);
  v.field(status.reports);
  v.field(status.commands);
  v.field(status.departures);
  v.field(status.pool);
  v.field(status.ends);
  v.field(status.replies);
  v.field(status.taken);
  v.field(status.sent);
  v.field(status.queue_elsewhere);
  v.field(status.now);
}

template <class V>
CLARION_INLINE void visit(V& v, Shares& shares) {
  v.field(shares.pos);
  v.field(shares.neg);
  v.field(shares.cp.mantissa);
  v.field(shares.cp.shift);
  v.field(shares.cn.mantissa);
  v.field(shares.cn.shift);
}

template <class V>
CLARION_INLINE void visit(V& v, PoolEvent& event) {
  v.field(event.kind);
  v.field(event.x);
  v.field(event.delta_throughput);
  v.field(event.length);
  v.field(event.beat);
  visit(v, event.shares);
}

template <class V>
CLARION_INLINE void visit(V& v, Reply& reply) {
  v.field(reply.data);
  v.field(reply.index);
  v.field(reply.last);
  v.field(reply.status);
}

template <class V>
CLARION_INLINE void visit(V& v, IntervalSums& sums) {
  v.field(sums.input);
  v.field(sums.sum_x);
  v.field(sums.sum_x_rtt);
}

template <class V>
CLARION_INLINE void visit(V& v, IntervalEnd& end) {
  v.field(end.config.enabled);
  visit_fields(v, end.config);
  v.next();
  v.field(end.intervals);
  v.field(end.avg_rtt);
  visit(v, end.sums);
  v.field(end.queue_bytes);
  v.field(end.elapsed);
}

template <class V>
CLARION_INLINE void visit(V& v, IntervalReport& report) {
  v.field(report.intervals);
  v.field(report.avg_rtt);
  v.field(report.elapsed);
  visit(v, report.sums);
  v.next();
  v.field(report.queue_bytes);
  v.field(report.rate_q8);
  v.field(report.phi_q8);
  visit(v, report.shares);
}

template <class T>
CLARION_INLINE Token packed(T token) {
  Packer packer;
  visit(packer, token);
  return packer.words();
}

template <class T>
CLARION_INLINE T unpacked(const Token& words) {
  T token{};
  Unpacker unpacker(words);
  visit(unpacker, token);
  return token;
}

// A window in the second and third word.
CLARION_INLINE Arrival unpacked_arrival(const Token& words) {
  Arrival arrival = unpacked<Arrival>(words);
  arrival.window = Window(words.word[1], words.word[2]);
  return arrival;
}

CLARION_INLINE Token packed_arrival(const Arrival& arrival) {
  Token words = packed(arrival);
#pragma clang loop unroll(full)
  for (unsigned i = 0; i < BEAT_BYTES; ++i) {
    words.word[1] |= Word(arrival.window[i]) << (8 * i);
    words.word[2] |= Word(arrival.window[BEAT_BYTES + i]) << (8 * i);
  }
  return words;
}

}  // namespace clarion::synth

#endif  // CLARION_SYNTH_BAMBU_TOKENS_HPP
