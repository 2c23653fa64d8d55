// SPDX-License-Identifier: Apache-2.0
// Made by `python -m clarion_contract.generate` from functions.yaml; do not edit.
// Arguments and results as the bits that the shell has, in words with the lowest first. Bits
// of the last word above these are 0 when packed, and may be anything when unpacked.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/platform.hpp"
#include "hls/functions/ports.hpp"

namespace clarion::block {

namespace packed {

constexpr std::uint64_t mask(unsigned bits) { return ~std::uint64_t{0} >> (64 - bits); }

// BITS bits of `value` go to bit AT of words that are 0 there.
template <unsigned AT, unsigned BITS, class T>
CLARION_INLINE void put(std::uint32_t* words, T value) {
  constexpr unsigned SHIFT = AT % 32;
  const std::uint64_t bits = static_cast<std::uint64_t>(value) & mask(BITS);
  words[AT / 32] |= static_cast<std::uint32_t>(bits << SHIFT);
  if constexpr (SHIFT + BITS > 32) words[AT / 32 + 1] |= static_cast<std::uint32_t>(bits >> (32 - SHIFT));
  if constexpr (SHIFT + BITS > 64) words[AT / 32 + 2] |= static_cast<std::uint32_t>(bits >> (64 - SHIFT));
}

template <unsigned AT, unsigned BITS>
CLARION_INLINE std::uint64_t bits_at(const std::uint32_t* words) {
  constexpr unsigned SHIFT = AT % 32;
  std::uint64_t bits = words[AT / 32] >> SHIFT;
  if constexpr (SHIFT + BITS > 32) bits |= std::uint64_t{words[AT / 32 + 1]} << (32 - SHIFT);
  if constexpr (SHIFT + BITS > 64) bits |= std::uint64_t{words[AT / 32 + 2]} << (64 - SHIFT);
  return bits & mask(BITS);
}

template <unsigned AT, unsigned BITS, class T>
CLARION_INLINE void take(const std::uint32_t* words, T& value) {
  static_assert(std::is_same_v<T, bool> ? BITS == 1 : BITS <= 8 * sizeof(T), "all bits have room");
  static_assert(!std::is_signed_v<T>, "the number has no sign");
  value = static_cast<T>(bits_at<AT, BITS>(words));
}

template <unsigned AT, unsigned BITS, class T>
CLARION_INLINE void take_signed(const std::uint32_t* words, T& value) {
  static_assert(BITS <= 8 * sizeof(T), "all bits have room");
  static_assert(std::is_signed_v<T>, "the number has a sign");
  value = static_cast<T>(static_cast<std::int64_t>(bits_at<AT, BITS>(words) << (64 - BITS)) >> (64 - BITS));
}

}  // namespace packed

constexpr unsigned LANES_ARGUMENT_BITS = 64;
constexpr unsigned LANES_RESULT_BITS = 9;

inline void unpack(const std::uint32_t* words, LanesArguments& to) {
  to = LanesArguments{};
  packed::take<0, 64>(words, to.keep);
}

inline void pack(const LanesArguments& from, std::uint32_t* words) {
  std::uint32_t made[2] = {};
  packed::put<0, 64>(made, from.keep);
  words[0] = made[0];
  words[1] = made[1];
}

inline void unpack(const std::uint32_t* words, LanesResults& to) {
  to = LanesResults{};
  packed::take<0, 7>(words, to.bytes);
  packed::take<7, 1>(words, to.contiguous);
  packed::take<8, 1>(words, to.full);
}

inline void pack(const LanesResults& from, std::uint32_t* words) {
  std::uint32_t made[1] = {};
  packed::put<0, 7>(made, from.bytes);
  packed::put<7, 1>(made, from.contiguous);
  packed::put<8, 1>(made, from.full);
  words[0] = made[0];
}

constexpr unsigned CLASSIFY_ARGUMENT_BITS = 920;
constexpr unsigned CLASSIFY_RESULT_BITS = 181;

inline void unpack(const std::uint32_t* words, ClassifyArguments& to) {
  to = ClassifyArguments{};
  packed::take<0, 64>(words, to.window[0]);
  packed::take<64, 64>(words, to.window[1]);
  packed::take<128, 64>(words, to.window[2]);
  packed::take<192, 64>(words, to.window[3]);
  packed::take<256, 64>(words, to.window[4]);
  packed::take<320, 64>(words, to.window[5]);
  packed::take<384, 64>(words, to.window[6]);
  packed::take<448, 64>(words, to.window[7]);
  packed::take<512, 64>(words, to.window[8]);
  packed::take<576, 64>(words, to.window[9]);
  packed::take<640, 64>(words, to.window[10]);
  packed::take<704, 64>(words, to.window[11]);
  packed::take<768, 64>(words, to.window[12]);
  packed::take<832, 64>(words, to.window[13]);
  packed::take<896, 16>(words, to.length);
  packed::take<912, 8>(words, to.protocol);
}

inline void pack(const ClassifyArguments& from, std::uint32_t* words) {
  std::uint32_t made[29] = {};
  packed::put<0, 64>(made, from.window[0]);
  packed::put<64, 64>(made, from.window[1]);
  packed::put<128, 64>(made, from.window[2]);
  packed::put<192, 64>(made, from.window[3]);
  packed::put<256, 64>(made, from.window[4]);
  packed::put<320, 64>(made, from.window[5]);
  packed::put<384, 64>(made, from.window[6]);
  packed::put<448, 64>(made, from.window[7]);
  packed::put<512, 64>(made, from.window[8]);
  packed::put<576, 64>(made, from.window[9]);
  packed::put<640, 64>(made, from.window[10]);
  packed::put<704, 64>(made, from.window[11]);
  packed::put<768, 64>(made, from.window[12]);
  packed::put<832, 64>(made, from.window[13]);
  packed::put<896, 16>(made, from.length);
  packed::put<912, 8>(made, from.protocol);
  words[0] = made[0];
  words[1] = made[1];
  words[2] = made[2];
  words[3] = made[3];
  words[4] = made[4];
  words[5] = made[5];
  words[6] = made[6];
  words[7] = made[7];
  words[8] = made[8];
  words[9] = made[9];
  words[10] = made[10];
  words[11] = made[11];
  words[12] = made[12];
  words[13] = made[13];
  words[14] = made[14];
  words[15] = made[15];
  words[16] = made[16];
  words[17] = made[17];
  words[18] = made[18];
  words[19] = made[19];
  words[20] = made[20];
  words[21] = made[21];
  words[22] = made[22];
  words[23] = made[23];
  words[24] = made[24];
  words[25] = made[25];
  words[26] = made[26];
  words[27] = made[27];
  words[28] = made[28];
}

inline void unpack(const std::uint32_t* words, ClassifyResults& to) {
  to = ClassifyResults{};
  packed::take<0, 2>(words, to.meta.kind);
  packed::take<2, 7>(words, to.meta.offset);
  packed::take<9, 16>(words, to.meta.bucket);
  packed::take<25, 16>(words, to.meta.link_seq);
  packed::take<41, 16>(words, to.meta.corrupt);
  packed::take<57, 16>(words, to.meta.congest);
  packed::take<73, 8>(words, to.meta.flags);
  packed::take<81, 32>(words, to.meta.rtt);
  packed::take<113, 32>(words, to.meta.x);
  packed::take_signed<145, 32>(words, to.meta.delta_throughput);
  packed::take<177, 3>(words, to.field);
  packed::take<180, 1>(words, to.malformed);
}

inline void pack(const ClassifyResults& from, std::uint32_t* words) {
  std::uint32_t made[6] = {};
  packed::put<0, 2>(made, from.meta.kind);
  packed::put<2, 7>(made, from.meta.offset);
  packed::put<9, 16>(made, from.meta.bucket);
  packed::put<25, 16>(made, from.meta.link_seq);
  packed::put<41, 16>(made, from.meta.corrupt);
  packed::put<57, 16>(made, from.meta.congest);
  packed::put<73, 8>(made, from.meta.flags);
  packed::put<81, 32>(made, from.meta.rtt);
  packed::put<113, 32>(made, from.meta.x);
  packed::put<145, 32>(made, from.meta.delta_throughput);
  packed::put<177, 3>(made, from.field);
  packed::put<180, 1>(made, from.malformed);
  words[0] = made[0];
  words[1] = made[1];
  words[2] = made[2];
  words[3] = made[3];
  words[4] = made[4];
  words[5] = made[5];
}

constexpr unsigned JUDGE_ARGUMENT_BITS = 58;
constexpr unsigned JUDGE_RESULT_BITS = 57;

inline void unpack(const std::uint32_t* words, JudgeArguments& to) {
  to = JudgeArguments{};
  packed::take<0, 16>(words, to.slot.expected);
  packed::take<16, 16>(words, to.slot.total);
  packed::take<32, 1>(words, to.slot.based);
  packed::take<33, 8>(words, to.slot.far);
  packed::take<41, 16>(words, to.number);
  packed::take<57, 1>(words, to.counts);
}

inline void pack(const JudgeArguments& from, std::uint32_t* words) {
  std::uint32_t made[2] = {};
  packed::put<0, 16>(made, from.slot.expected);
  packed::put<16, 16>(made, from.slot.total);
  packed::put<32, 1>(made, from.slot.based);
  packed::put<33, 8>(made, from.slot.far);
  packed::put<41, 16>(made, from.number);
  packed::put<57, 1>(made, from.counts);
  words[0] = made[0];
  words[1] = made[1];
}

inline void unpack(const std::uint32_t* words, JudgeResults& to) {
  to = JudgeResults{};
  packed::take<0, 16>(words, to.slot.expected);
  packed::take<16, 16>(words, to.slot.total);
  packed::take<32, 1>(words, to.slot.based);
  packed::take<33, 8>(words, to.slot.far);
  packed::take<41, 14>(words, to.lost);
  packed::take<55, 1>(words, to.late);
  packed::take<56, 1>(words, to.rebased);
}

inline void pack(const JudgeResults& from, std::uint32_t* words) {
  std::uint32_t made[2] = {};
  packed::put<0, 16>(made, from.slot.expected);
  packed::put<16, 16>(made, from.slot.total);
  packed::put<32, 1>(made, from.slot.based);
  packed::put<33, 8>(made, from.slot.far);
  packed::put<41, 14>(made, from.lost);
  packed::put<55, 1>(made, from.late);
  packed::put<56, 1>(made, from.rebased);
  words[0] = made[0];
  words[1] = made[1];
}

constexpr unsigned NUMBER_ARGUMENT_BITS = 16;
constexpr unsigned NUMBER_RESULT_BITS = 16;

inline void unpack(const std::uint32_t* words, NumberArguments& to) {
  to = NumberArguments{};
  packed::take<0, 16>(words, to.number);
}

inline void pack(const NumberArguments& from, std::uint32_t* words) {
  std::uint32_t made[1] = {};
  packed::put<0, 16>(made, from.number);
  words[0] = made[0];
}

inline void unpack(const std::uint32_t* words, NumberResults& to) {
  to = NumberResults{};
  packed::take<0, 16>(words, to.number);
}

inline void pack(const NumberResults& from, std::uint32_t* words) {
  std::uint32_t made[1] = {};
  packed::put<0, 16>(made, from.number);
  words[0] = made[0];
}

constexpr unsigned WEIGHT_ARGUMENT_BITS = 96;
constexpr unsigned WEIGHT_RESULT_BITS = 56;

inline void unpack(const std::uint32_t* words, WeightArguments& to) {
  to = WeightArguments{};
  packed::take<0, 32>(words, to.x);
  packed::take<32, 32>(words, to.rtt);
  packed::take<64, 32>(words, to.max_interval);
}

inline void pack(const WeightArguments& from, std::uint32_t* words) {
  std::uint32_t made[3] = {};
  packed::put<0, 32>(made, from.x);
  packed::put<32, 32>(made, from.rtt);
  packed::put<64, 32>(made, from.max_interval);
  words[0] = made[0];
  words[1] = made[1];
  words[2] = made[2];
}

inline void unpack(const std::uint32_t* words, WeightResults& to) {
  to = WeightResults{};
  packed::take<0, 56>(words, to.x_rtt);
}

inline void pack(const WeightResults& from, std::uint32_t* words) {
  std::uint32_t made[2] = {};
  packed::put<0, 56>(made, from.x_rtt);
  words[0] = made[0];
  words[1] = made[1];
}

constexpr unsigned SUMS_ARGUMENT_BITS = 266;
constexpr unsigned SUMS_RESULT_BITS = 160;

inline void unpack(const std::uint32_t* words, SumsArguments& to) {
  to = SumsArguments{};
  packed::take<0, 48>(words, to.sums.input);
  packed::take<48, 48>(words, to.sums.sum_x);
  packed::take<96, 64>(words, to.sums.sum_x_rtt);
  packed::take<160, 1>(words, to.begins);
  packed::take<161, 16>(words, to.length);
  packed::take<177, 1>(words, to.counts);
  packed::take<178, 32>(words, to.x);
  packed::take<210, 56>(words, to.x_rtt);
}

inline void pack(const SumsArguments& from, std::uint32_t* words) {
  std::uint32_t made[9] = {};
  packed::put<0, 48>(made, from.sums.input);
  packed::put<48, 48>(made, from.sums.sum_x);
  packed::put<96, 64>(made, from.sums.sum_x_rtt);
  packed::put<160, 1>(made, from.begins);
  packed::put<161, 16>(made, from.length);
  packed::put<177, 1>(made, from.counts);
  packed::put<178, 32>(made, from.x);
  packed::put<210, 56>(made, from.x_rtt);
  words[0] = made[0];
  words[1] = made[1];
  words[2] = made[2];
  words[3] = made[3];
  words[4] = made[4];
  words[5] = made[5];
  words[6] = made[6];
  words[7] = made[7];
  words[8] = made[8];
}

inline void unpack(const std::uint32_t* words, SumsResults& to) {
  to = SumsResults{};
  packed::take<0, 48>(words, to.sums.input);
  packed::take<48, 48>(words, to.sums.sum_x);
  packed::take<96, 64>(words, to.sums.sum_x_rtt);
}

inline void pack(const SumsResults& from, std::uint32_t* words) {
  std::uint32_t made[5] = {};
  packed::put<0, 48>(made, from.sums.input);
  packed::put<48, 48>(made, from.sums.sum_x);
  packed::put<96, 64>(made, from.sums.sum_x_rtt);
  words[0] = made[0];
  words[1] = made[1];
  words[2] = made[2];
  words[3] = made[3];
  words[4] = made[4];
}

constexpr unsigned TRACKER_ARGUMENT_BITS = 325;
constexpr unsigned TRACKER_RESULT_BITS = 145;

inline void unpack(const std::uint32_t* words, TrackerArguments& to) {
  to = TrackerArguments{};
  packed::take<0, 40>(words, to.queue.persistent);
  packed::take<40, 40>(words, to.queue.minimum);
  packed::take<80, 64>(words, to.queue.start);
  packed::take<144, 1>(words, to.queue.started);
  packed::take<145, 1>(words, to.leaves);
  packed::take<146, 41>(words, to.left_bytes);
  packed::take<187, 1>(words, to.joins);
  packed::take<188, 41>(words, to.waiting_bytes);
  packed::take<229, 64>(words, to.now);
  packed::take<293, 32>(words, to.window);
}

inline void pack(const TrackerArguments& from, std::uint32_t* words) {
  std::uint32_t made[11] = {};
  packed::put<0, 40>(made, from.queue.persistent);
  packed::put<40, 40>(made, from.queue.minimum);
  packed::put<80, 64>(made, from.queue.start);
  packed::put<144, 1>(made, from.queue.started);
  packed::put<145, 1>(made, from.leaves);
  packed::put<146, 41>(made, from.left_bytes);
  packed::put<187, 1>(made, from.joins);
  packed::put<188, 41>(made, from.waiting_bytes);
  packed::put<229, 64>(made, from.now);
  packed::put<293, 32>(made, from.window);
  words[0] = made[0];
  words[1] = made[1];
  words[2] = made[2];
  words[3] = made[3];
  words[4] = made[4];
  words[5] = made[5];
  words[6] = made[6];
  words[7] = made[7];
  words[8] = made[8];
  words[9] = made[9];
  words[10] = made[10];
}

inline void unpack(const std::uint32_t* words, TrackerResults& to) {
  to = TrackerResults{};
  packed::take<0, 40>(words, to.queue.persistent);
  packed::take<40, 40>(words, to.queue.minimum);
  packed::take<80, 64>(words, to.queue.start);
  packed::take<144, 1>(words, to.queue.started);
}

inline void pack(const TrackerResults& from, std::uint32_t* words) {
  std::uint32_t made[5] = {};
  packed::put<0, 40>(made, from.queue.persistent);
  packed::put<40, 40>(made, from.queue.minimum);
  packed::put<80, 64>(made, from.queue.start);
  packed::put<144, 1>(made, from.queue.started);
  words[0] = made[0];
  words[1] = made[1];
  words[2] = made[2];
  words[3] = made[3];
  words[4] = made[4];
}

constexpr unsigned LENGTH_ARGUMENT_BITS = 96;
constexpr unsigned LENGTH_RESULT_BITS = 32;

inline void unpack(const std::uint32_t* words, LengthArguments& to) {
  to = LengthArguments{};
  packed::take<0, 32>(words, to.avg_rtt);
  packed::take<32, 32>(words, to.min_interval);
  packed::take<64, 32>(words, to.max_interval);
}

inline void pack(const LengthArguments& from, std::uint32_t* words) {
  std::uint32_t made[3] = {};
  packed::put<0, 32>(made, from.avg_rtt);
  packed::put<32, 32>(made, from.min_interval);
  packed::put<64, 32>(made, from.max_interval);
  words[0] = made[0];
  words[1] = made[1];
  words[2] = made[2];
}

inline void unpack(const std::uint32_t* words, LengthResults& to) {
  to = LengthResults{};
  packed::take<0, 32>(words, to.length);
}

inline void pack(const LengthResults& from, std::uint32_t* words) {
  std::uint32_t made[1] = {};
  packed::put<0, 32>(made, from.length);
  words[0] = made[0];
}

constexpr unsigned OVER_ARGUMENT_BITS = 161;
constexpr unsigned OVER_RESULT_BITS = 98;

inline void unpack(const std::uint32_t* words, OverArguments& to) {
  to = OverArguments{};
  packed::take<0, 64>(words, to.clock.start);
  packed::take<64, 1>(words, to.clock.started);
  packed::take<65, 64>(words, to.now);
  packed::take<129, 32>(words, to.length);
}

inline void pack(const OverArguments& from, std::uint32_t* words) {
  std::uint32_t made[6] = {};
  packed::put<0, 64>(made, from.clock.start);
  packed::put<64, 1>(made, from.clock.started);
  packed::put<65, 64>(made, from.now);
  packed::put<129, 32>(made, from.length);
  words[0] = made[0];
  words[1] = made[1];
  words[2] = made[2];
  words[3] = made[3];
  words[4] = made[4];
  words[5] = made[5];
}

inline void unpack(const std::uint32_t* words, OverResults& to) {
  to = OverResults{};
  packed::take<0, 1>(words, to.ended);
  packed::take<1, 32>(words, to.elapsed);
  packed::take<33, 64>(words, to.clock.start);
  packed::take<97, 1>(words, to.clock.started);
}

inline void pack(const OverResults& from, std::uint32_t* words) {
  std::uint32_t made[4] = {};
  packed::put<0, 1>(made, from.ended);
  packed::put<1, 32>(made, from.elapsed);
  packed::put<33, 64>(made, from.clock.start);
  packed::put<97, 1>(made, from.clock.started);
  words[0] = made[0];
  words[1] = made[1];
  words[2] = made[2];
  words[3] = made[3];
}

constexpr unsigned OFFER_ARGUMENT_BITS = 314;
constexpr unsigned OFFER_RESULT_BITS = 154;

inline void unpack(const std::uint32_t* words, OfferArguments& to) {
  to = OfferArguments{};
  packed::take<0, 1>(words, to.maxmin);
  packed::take<1, 32>(words, to.cp.mantissa);
  packed::take<33, 6>(words, to.cp.shift);
  packed::take<39, 32>(words, to.cn.mantissa);
  packed::take<71, 6>(words, to.cn.shift);
  packed::take<77, 32>(words, to.gains.fair.mantissa);
  packed::take<109, 6>(words, to.gains.fair.shift);
  packed::take<115, 32>(words, to.gains.lift.mantissa);
  packed::take<147, 6>(words, to.gains.lift.shift);
  packed::take<153, 32>(words, to.gains.growth.mantissa);
  packed::take<185, 6>(words, to.gains.growth.shift);
  packed::take<191, 32>(words, to.rtt);
  packed::take<223, 32>(words, to.x);
  packed::take_signed<255, 32>(words, to.delta_throughput);
  packed::take<287, 16>(words, to.length);
  packed::take<303, 8>(words, to.flags);
  packed::take<311, 3>(words, to.field);
}

inline void pack(const OfferArguments& from, std::uint32_t* words) {
  std::uint32_t made[10] = {};
  packed::put<0, 1>(made, from.maxmin);
  packed::put<1, 32>(made, from.cp.mantissa);
  packed::put<33, 6>(made, from.cp.shift);
  packed::put<39, 32>(made, from.cn.mantissa);
  packed::put<71, 6>(made, from.cn.shift);
  packed::put<77, 32>(made, from.gains.fair.mantissa);
  packed::put<109, 6>(made, from.gains.fair.shift);
  packed::put<115, 32>(made, from.gains.lift.mantissa);
  packed::put<147, 6>(made, from.gains.lift.shift);
  packed::put<153, 32>(made, from.gains.growth.mantissa);
  packed::put<185, 6>(made, from.gains.growth.shift);
  packed::put<191, 32>(made, from.rtt);
  packed::put<223, 32>(made, from.x);
  packed::put<255, 32>(made, from.delta_throughput);
  packed::put<287, 16>(made, from.length);
  packed::put<303, 8>(made, from.flags);
  packed::put<311, 3>(made, from.field);
  words[0] = made[0];
  words[1] = made[1];
  words[2] = made[2];
  words[3] = made[3];
  words[4] = made[4];
  words[5] = made[5];
  words[6] = made[6];
  words[7] = made[7];
  words[8] = made[8];
  words[9] = made[9];
}

inline void unpack(const std::uint32_t* words, OfferResults& to) {
  to = OfferResults{};
  packed::take<0, 39>(words, to.claim.p);
  packed::take<39, 39>(words, to.claim.n);
  packed::take<78, 39>(words, to.claim.lift);
  packed::take<117, 1>(words, to.claim.lacks);
  packed::take<118, 1>(words, to.pays);
  packed::take_signed<119, 32>(words, to.reply);
  packed::take<151, 1>(words, to.own);
  packed::take<152, 1>(words, to.poor);
  packed::take<153, 1>(words, to.limited);
}

inline void pack(const OfferResults& from, std::uint32_t* words) {
  std::uint32_t made[5] = {};
  packed::put<0, 39>(made, from.claim.p);
  packed::put<39, 39>(made, from.claim.n);
  packed::put<78, 39>(made, from.claim.lift);
  packed::put<117, 1>(made, from.claim.lacks);
  packed::put<118, 1>(made, from.pays);
  packed::put<119, 32>(made, from.reply);
  packed::put<151, 1>(made, from.own);
  packed::put<152, 1>(made, from.poor);
  packed::put<153, 1>(made, from.limited);
  words[0] = made[0];
  words[1] = made[1];
  words[2] = made[2];
  words[3] = made[3];
  words[4] = made[4];
}

constexpr unsigned OWN_ARGUMENT_BITS = 330;
constexpr unsigned OWN_RESULT_BITS = 215;

inline void unpack(const std::uint32_t* words, OwnArguments& to) {
  to = OwnArguments{};
  packed::take<0, 48>(words, to.sums.input);
  packed::take<48, 48>(words, to.sums.sum_x);
  packed::take<96, 48>(words, to.sums.sum_x_poor);
  packed::take_signed<144, 39>(words, to.sums.limited);
  packed::take<183, 32>(words, to.sums.max_rtt);
  packed::take<215, 16>(words, to.length);
  packed::take<231, 32>(words, to.rtt);
  packed::take<263, 32>(words, to.x);
  packed::take_signed<295, 32>(words, to.delta_throughput);
  packed::take<327, 1>(words, to.own);
  packed::take<328, 1>(words, to.poor);
  packed::take<329, 1>(words, to.limited);
}

inline void pack(const OwnArguments& from, std::uint32_t* words) {
  std::uint32_t made[11] = {};
  packed::put<0, 48>(made, from.sums.input);
  packed::put<48, 48>(made, from.sums.sum_x);
  packed::put<96, 48>(made, from.sums.sum_x_poor);
  packed::put<144, 39>(made, from.sums.limited);
  packed::put<183, 32>(made, from.sums.max_rtt);
  packed::put<215, 16>(made, from.length);
  packed::put<231, 32>(made, from.rtt);
  packed::put<263, 32>(made, from.x);
  packed::put<295, 32>(made, from.delta_throughput);
  packed::put<327, 1>(made, from.own);
  packed::put<328, 1>(made, from.poor);
  packed::put<329, 1>(made, from.limited);
  words[0] = made[0];
  words[1] = made[1];
  words[2] = made[2];
  words[3] = made[3];
  words[4] = made[4];
  words[5] = made[5];
  words[6] = made[6];
  words[7] = made[7];
  words[8] = made[8];
  words[9] = made[9];
  words[10] = made[10];
}

inline void unpack(const std::uint32_t* words, OwnResults& to) {
  to = OwnResults{};
  packed::take<0, 48>(words, to.sums.input);
  packed::take<48, 48>(words, to.sums.sum_x);
  packed::take<96, 48>(words, to.sums.sum_x_poor);
  packed::take_signed<144, 39>(words, to.sums.limited);
  packed::take<183, 32>(words, to.sums.max_rtt);
}

inline void pack(const OwnResults& from, std::uint32_t* words) {
  std::uint32_t made[7] = {};
  packed::put<0, 48>(made, from.sums.input);
  packed::put<48, 48>(made, from.sums.sum_x);
  packed::put<96, 48>(made, from.sums.sum_x_poor);
  packed::put<144, 39>(made, from.sums.limited);
  packed::put<183, 32>(made, from.sums.max_rtt);
  words[0] = made[0];
  words[1] = made[1];
  words[2] = made[2];
  words[3] = made[3];
  words[4] = made[4];
  words[5] = made[5];
  words[6] = made[6];
}

constexpr unsigned GRANT_ARGUMENT_BITS = 305;
constexpr unsigned GRANT_RESULT_BITS = 186;

inline void unpack(const std::uint32_t* words, GrantArguments& to) {
  to = GrantArguments{};
  packed::take<0, 48>(words, to.pools.pos);
  packed::take<48, 48>(words, to.pools.neg);
  packed::take<96, 48>(words, to.pools.bank);
  packed::take<144, 8>(words, to.pools.carry);
  packed::take<152, 1>(words, to.pools.pos_spent);
  packed::take<153, 1>(words, to.pools.neg_spent);
  packed::take<154, 1>(words, to.maxmin);
  packed::take_signed<155, 32>(words, to.requested);
  packed::take<187, 39>(words, to.claim.p);
  packed::take<226, 39>(words, to.claim.n);
  packed::take<265, 39>(words, to.claim.lift);
  packed::take<304, 1>(words, to.claim.lacks);
}

inline void pack(const GrantArguments& from, std::uint32_t* words) {
  std::uint32_t made[10] = {};
  packed::put<0, 48>(made, from.pools.pos);
  packed::put<48, 48>(made, from.pools.neg);
  packed::put<96, 48>(made, from.pools.bank);
  packed::put<144, 8>(made, from.pools.carry);
  packed::put<152, 1>(made, from.pools.pos_spent);
  packed::put<153, 1>(made, from.pools.neg_spent);
  packed::put<154, 1>(made, from.maxmin);
  packed::put<155, 32>(made, from.requested);
  packed::put<187, 39>(made, from.claim.p);
  packed::put<226, 39>(made, from.claim.n);
  packed::put<265, 39>(made, from.claim.lift);
  packed::put<304, 1>(made, from.claim.lacks);
  words[0] = made[0];
  words[1] = made[1];
  words[2] = made[2];
  words[3] = made[3];
  words[4] = made[4];
  words[5] = made[5];
  words[6] = made[6];
  words[7] = made[7];
  words[8] = made[8];
  words[9] = made[9];
}

inline void unpack(const std::uint32_t* words, GrantResults& to) {
  to = GrantResults{};
  packed::take<0, 48>(words, to.pools.pos);
  packed::take<48, 48>(words, to.pools.neg);
  packed::take<96, 48>(words, to.pools.bank);
  packed::take<144, 8>(words, to.pools.carry);
  packed::take<152, 1>(words, to.pools.pos_spent);
  packed::take<153, 1>(words, to.pools.neg_spent);
  packed::take_signed<154, 32>(words, to.granted);
}

inline void pack(const GrantResults& from, std::uint32_t* words) {
  std::uint32_t made[6] = {};
  packed::put<0, 48>(made, from.pools.pos);
  packed::put<48, 48>(made, from.pools.neg);
  packed::put<96, 48>(made, from.pools.bank);
  packed::put<144, 8>(made, from.pools.carry);
  packed::put<152, 1>(made, from.pools.pos_spent);
  packed::put<153, 1>(made, from.pools.neg_spent);
  packed::put<154, 32>(made, from.granted);
  words[0] = made[0];
  words[1] = made[1];
  words[2] = made[2];
  words[3] = made[3];
  words[4] = made[4];
  words[5] = made[5];
}

constexpr unsigned PATCH_ARGUMENT_BITS = 161;
constexpr unsigned PATCH_RESULT_BITS = 288;

inline void unpack(const std::uint32_t* words, PatchArguments& to) {
  to = PatchArguments{};
  packed::take<0, 2>(words, to.kind);
  packed::take<2, 1>(words, to.numbered);
  packed::take<3, 16>(words, to.link_seq);
  packed::take<19, 16>(words, to.corrupt);
  packed::take<35, 16>(words, to.congest);
  packed::take<51, 1>(words, to.regulated);
  packed::take<52, 1>(words, to.maxmin);
  packed::take<53, 1>(words, to.pays);
  packed::take<54, 32>(words, to.rtt);
  packed::take_signed<86, 32>(words, to.requested);
  packed::take_signed<118, 32>(words, to.granted);
  packed::take<150, 8>(words, to.flags);
  packed::take<158, 3>(words, to.field);
}

inline void pack(const PatchArguments& from, std::uint32_t* words) {
  std::uint32_t made[6] = {};
  packed::put<0, 2>(made, from.kind);
  packed::put<2, 1>(made, from.numbered);
  packed::put<3, 16>(made, from.link_seq);
  packed::put<19, 16>(made, from.corrupt);
  packed::put<35, 16>(made, from.congest);
  packed::put<51, 1>(made, from.regulated);
  packed::put<52, 1>(made, from.maxmin);
  packed::put<53, 1>(made, from.pays);
  packed::put<54, 32>(made, from.rtt);
  packed::put<86, 32>(made, from.requested);
  packed::put<118, 32>(made, from.granted);
  packed::put<150, 8>(made, from.flags);
  packed::put<158, 3>(made, from.field);
  words[0] = made[0];
  words[1] = made[1];
  words[2] = made[2];
  words[3] = made[3];
  words[4] = made[4];
  words[5] = made[5];
}

inline void unpack(const std::uint32_t* words, PatchResults& to) {
  to = PatchResults{};
  packed::take<0, 32>(words, to.enable);
  packed::take<32, 64>(words, to.data[0]);
  packed::take<96, 64>(words, to.data[1]);
  packed::take<160, 64>(words, to.data[2]);
  packed::take<224, 64>(words, to.data[3]);
}

inline void pack(const PatchResults& from, std::uint32_t* words) {
  std::uint32_t made[9] = {};
  packed::put<0, 32>(made, from.enable);
  packed::put<32, 64>(made, from.data[0]);
  packed::put<96, 64>(made, from.data[1]);
  packed::put<160, 64>(made, from.data[2]);
  packed::put<224, 64>(made, from.data[3]);
  words[0] = made[0];
  words[1] = made[1];
  words[2] = made[2];
  words[3] = made[3];
  words[4] = made[4];
  words[5] = made[5];
  words[6] = made[6];
  words[7] = made[7];
  words[8] = made[8];
}

constexpr unsigned CONTROL_ARGUMENT_BITS = 848;
constexpr unsigned CONTROL_RESULT_BITS = 421;

inline void unpack(const std::uint32_t* words, ControlArguments& to) {
  to = ControlArguments{};
  packed::take<0, 38>(words, to.config.capacity_bytes_per_s);
  packed::take<38, 18>(words, to.config.alpha_q16);
  packed::take<56, 18>(words, to.config.beta_q16);
  packed::take<74, 18>(words, to.config.gamma_q16);
  packed::take<92, 32>(words, to.config.min_interval);
  packed::take<124, 32>(words, to.config.max_interval);
  packed::take<156, 2>(words, to.config.generation);
  packed::take<158, 32>(words, to.avg_rtt);
  packed::take_signed<190, 52>(words, to.phi);
  packed::take<242, 5>(words, to.credit);
  packed::take<247, 48>(words, to.sums.input);
  packed::take<295, 48>(words, to.sums.sum_x);
  packed::take<343, 64>(words, to.sums.sum_x_rtt);
  packed::take<407, 48>(words, to.own.input);
  packed::take<455, 48>(words, to.own.sum_x);
  packed::take<503, 48>(words, to.own.sum_x_poor);
  packed::take_signed<551, 39>(words, to.own.limited);
  packed::take<590, 32>(words, to.own.max_rtt);
  packed::take<622, 48>(words, to.pools.pos);
  packed::take<670, 48>(words, to.pools.neg);
  packed::take<718, 48>(words, to.pools.bank);
  packed::take<766, 8>(words, to.pools.carry);
  packed::take<774, 1>(words, to.pools.pos_spent);
  packed::take<775, 1>(words, to.pools.neg_spent);
  packed::take<776, 40>(words, to.queue_bytes);
  packed::take<816, 32>(words, to.elapsed);
}

inline void pack(const ControlArguments& from, std::uint32_t* words) {
  std::uint32_t made[27] = {};
  packed::put<0, 38>(made, from.config.capacity_bytes_per_s);
  packed::put<38, 18>(made, from.config.alpha_q16);
  packed::put<56, 18>(made, from.config.beta_q16);
  packed::put<74, 18>(made, from.config.gamma_q16);
  packed::put<92, 32>(made, from.config.min_interval);
  packed::put<124, 32>(made, from.config.max_interval);
  packed::put<156, 2>(made, from.config.generation);
  packed::put<158, 32>(made, from.avg_rtt);
  packed::put<190, 52>(made, from.phi);
  packed::put<242, 5>(made, from.credit);
  packed::put<247, 48>(made, from.sums.input);
  packed::put<295, 48>(made, from.sums.sum_x);
  packed::put<343, 64>(made, from.sums.sum_x_rtt);
  packed::put<407, 48>(made, from.own.input);
  packed::put<455, 48>(made, from.own.sum_x);
  packed::put<503, 48>(made, from.own.sum_x_poor);
  packed::put<551, 39>(made, from.own.limited);
  packed::put<590, 32>(made, from.own.max_rtt);
  packed::put<622, 48>(made, from.pools.pos);
  packed::put<670, 48>(made, from.pools.neg);
  packed::put<718, 48>(made, from.pools.bank);
  packed::put<766, 8>(made, from.pools.carry);
  packed::put<774, 1>(made, from.pools.pos_spent);
  packed::put<775, 1>(made, from.pools.neg_spent);
  packed::put<776, 40>(made, from.queue_bytes);
  packed::put<816, 32>(made, from.elapsed);
  words[0] = made[0];
  words[1] = made[1];
  words[2] = made[2];
  words[3] = made[3];
  words[4] = made[4];
  words[5] = made[5];
  words[6] = made[6];
  words[7] = made[7];
  words[8] = made[8];
  words[9] = made[9];
  words[10] = made[10];
  words[11] = made[11];
  words[12] = made[12];
  words[13] = made[13];
  words[14] = made[14];
  words[15] = made[15];
  words[16] = made[16];
  words[17] = made[17];
  words[18] = made[18];
  words[19] = made[19];
  words[20] = made[20];
  words[21] = made[21];
  words[22] = made[22];
  words[23] = made[23];
  words[24] = made[24];
  words[25] = made[25];
  words[26] = made[26];
}

inline void unpack(const std::uint32_t* words, ControlResults& to) {
  to = ControlResults{};
  packed::take<0, 32>(words, to.avg_rtt);
  packed::take<32, 46>(words, to.rate);
  packed::take_signed<78, 52>(words, to.phi);
  packed::take<130, 48>(words, to.shares.pos);
  packed::take<178, 48>(words, to.shares.neg);
  packed::take<226, 32>(words, to.shares.cp.mantissa);
  packed::take<258, 6>(words, to.shares.cp.shift);
  packed::take<264, 32>(words, to.shares.cn.mantissa);
  packed::take<296, 6>(words, to.shares.cn.shift);
  packed::take<302, 32>(words, to.gains.fair.mantissa);
  packed::take<334, 6>(words, to.gains.fair.shift);
  packed::take<340, 32>(words, to.gains.lift.mantissa);
  packed::take<372, 6>(words, to.gains.lift.shift);
  packed::take<378, 32>(words, to.gains.growth.mantissa);
  packed::take<410, 6>(words, to.gains.growth.shift);
  packed::take<416, 5>(words, to.credit);
}

inline void pack(const ControlResults& from, std::uint32_t* words) {
  std::uint32_t made[14] = {};
  packed::put<0, 32>(made, from.avg_rtt);
  packed::put<32, 46>(made, from.rate);
  packed::put<78, 52>(made, from.phi);
  packed::put<130, 48>(made, from.shares.pos);
  packed::put<178, 48>(made, from.shares.neg);
  packed::put<226, 32>(made, from.shares.cp.mantissa);
  packed::put<258, 6>(made, from.shares.cp.shift);
  packed::put<264, 32>(made, from.shares.cn.mantissa);
  packed::put<296, 6>(made, from.shares.cn.shift);
  packed::put<302, 32>(made, from.gains.fair.mantissa);
  packed::put<334, 6>(made, from.gains.fair.shift);
  packed::put<340, 32>(made, from.gains.lift.mantissa);
  packed::put<372, 6>(made, from.gains.lift.shift);
  packed::put<378, 32>(made, from.gains.growth.mantissa);
  packed::put<410, 6>(made, from.gains.growth.shift);
  packed::put<416, 5>(made, from.credit);
  words[0] = made[0];
  words[1] = made[1];
  words[2] = made[2];
  words[3] = made[3];
  words[4] = made[4];
  words[5] = made[5];
  words[6] = made[6];
  words[7] = made[7];
  words[8] = made[8];
  words[9] = made[9];
  words[10] = made[10];
  words[11] = made[11];
  words[12] = made[12];
  words[13] = made[13];
}

}  // namespace clarion::block
