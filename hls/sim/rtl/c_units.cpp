// SPDX-License-Identifier: Apache-2.0
// The units of clarion_ingress.sv and clarion_egress.sv: the block in C simulation, clocked from a simulator
// of RTL.
#include <svdpi.h>

#include <cstring>
#include <optional>

#include "hls/block/egress.hpp"
#include "hls/block/ingress.hpp"

namespace {

using namespace clarion;

constexpr unsigned DATA_WORDS = 16;
constexpr unsigned BEAT_WORDS = 20;
constexpr unsigned REPLY_WORDS = 17;

template <int BITS>
void to_words(const ap_uint<BITS>& value, svBitVecVal* words) {
  for (int i = 0; 32 * i < BITS; ++i) {
    words[i] = value.range(32 * i + 31 < BITS ? 32 * i + 31 : BITS - 1, 32 * i).to_uint();
  }
}

template <int BITS>
ap_uint<BITS> from_words(const svBitVecVal* words) {
  ap_uint<BITS> value = 0;
  for (int i = 0; 32 * i < BITS; ++i) {
    value.range(32 * i + 31 < BITS ? 32 * i + 31 : BITS - 1, 32 * i) = words[i];
  }
  return value;
}

// An output stream of the unit, behind a register.
template <class T>
class Output {
 public:
  void taken(bool was_taken) {
    if (was_taken) offered_.reset();
  }

  const std::optional<T>& offer() {
    if (!offered_ && !stream.empty()) offered_ = stream.read();
    return offered_;
  }

  hls::stream<T> stream{"output", 1};

 private:
  std::optional<T> offered_;
};

// The streams that both kinds of units have.
struct Ends {
  block::Axis in{"in", 1};
  Output<block::Beat> out;
  hls::stream<block::Command> commands{"commands", 1};
  Output<block::Reply> replies;

  void take(unsigned taken, const svBitVecVal* beat_words, const svBitVecVal* command_words) {
    if (taken & 1) {
      const ap_uint<625> bits = from_words<625>(beat_words);
      block::Beat beat;
      beat.data = bits.range(511, 0);
      beat.keep = beat.strb = bits.range(575, 512);
      beat.user = bits.range(623, 576);
      beat.last = bits.range(624, 624);
      in.write(beat);
    }
    out.taken(taken >> 1 & 1);
    if (taken >> 2 & 1) commands.write(from_words<512>(command_words));
    replies.taken(taken >> 3 & 1);
  }

  unsigned offer(svBitVecVal* beat_words, svBitVecVal* reply_words) {
    if (const auto& beat = out.offer()) {
      ap_uint<625> bits = 0;
      bits.range(511, 0) = beat->data;
      bits.range(575, 512) = beat->keep;
      bits.range(623, 576) = beat->user;
      bits.range(624, 624) = beat->last;
      to_words<625>(bits, beat_words);
    }
    unsigned offers = (in.full() ? 0 : 1) | (out.offer() ? 2 : 0) | (commands.full() ? 0 : 4);
    return offers | (offer_reply(replies, reply_words) ? 8 : 0);
  }

  static bool offer_reply(Output<block::Reply>& from, svBitVecVal* words) {
    const auto& reply = from.offer();
    if (!reply) return false;
    ap_uint<528> bits = 0;
    bits.range(2, 0) = reply->index;
    bits.range(3, 3) = reply->last;
    bits.range(11, 4) = reply->status;
    bits.range(527, 16) = reply->data;
    to_words<528>(bits, words);
    return true;
  }
};

struct IngressUnit : Ends {
  block::Ingress<> unit;
};

struct EgressUnit : Ends {
  block::Egress<> unit;
  Output<block::Reply> grant_replies;
};

}  // namespace

extern "C" {

void* c_ingress_new() { return new IngressUnit; }
void c_ingress_delete(void* unit) { delete static_cast<IngressUnit*>(unit); }
void* c_egress_new() { return new EgressUnit; }
void c_egress_delete(void* unit) { delete static_cast<EgressUnit*>(unit); }

void c_ingress_clock(void* unit, const svBitVecVal* taken, const svBitVecVal* in_beat,
                     const svBitVecVal* command, const svBitVecVal* protocol, const svBitVecVal* now,
                     svBitVecVal* offers, svBitVecVal* out_beat, svBitVecVal* reply) {
  IngressUnit& my = *static_cast<IngressUnit*>(unit);
  my.take(*taken, in_beat, command);
  my.unit.step(my.in, my.out.stream, *protocol & 0xff, my.commands, my.replies.stream,
               Ticks{now[1]} << 32 | now[0]);
  *offers = my.offer(out_beat, reply);
}

void c_egress_clock(void* unit, const svBitVecVal* taken, const svBitVecVal* in_beat,
                    const svBitVecVal* command, const svBitVecVal* protocol, const svBitVecVal* elsewhere,
                    const svBitVecVal* now, svBitVecVal* offers, svBitVecVal* out_beat, svBitVecVal* reply,
                    svBitVecVal* grant_reply) {
  EgressUnit& my = *static_cast<EgressUnit*>(unit);
  my.take(*taken, in_beat, command);
  my.grant_replies.taken(*taken >> 4 & 1);
  my.unit.step(my.in, my.out.stream, *protocol & 0xff, std::uint64_t{elsewhere[1]} << 32 | elsewhere[0],
               my.commands, my.replies.stream, my.grant_replies.stream, Ticks{now[1]} << 32 | now[0]);
  *offers = my.offer(out_beat, reply);
  if (Ends::offer_reply(my.grant_replies, grant_reply)) *offers |= 16;
}
}
