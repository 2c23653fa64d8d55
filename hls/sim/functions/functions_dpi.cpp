// SPDX-License-Identifier: Apache-2.0
// Made by `python -m clarion_contract.generate` from functions.yaml; do not edit.
// What clarion_functions_dpi.sv calls.
#include <svdpi.h>

#include "hls/functions/functions.hpp"
#include "hls/functions/packing.hpp"

namespace clarion::block {

extern "C" void clarion_lanes_dpi(const svBitVecVal* arguments, svBitVecVal* results) {
  LanesArguments given;
  unpack(arguments, given);
  pack(lanes(given), results);
}

extern "C" void clarion_classify_dpi(const svBitVecVal* arguments, svBitVecVal* results) {
  ClassifyArguments given;
  unpack(arguments, given);
  pack(classify(given), results);
}

extern "C" void clarion_judge_dpi(const svBitVecVal* arguments, svBitVecVal* results) {
  JudgeArguments given;
  unpack(arguments, given);
  pack(judge(given), results);
}

extern "C" void clarion_number_dpi(const svBitVecVal* arguments, svBitVecVal* results) {
  NumberArguments given;
  unpack(arguments, given);
  pack(number(given), results);
}

extern "C" void clarion_weight_dpi(const svBitVecVal* arguments, svBitVecVal* results) {
  WeightArguments given;
  unpack(arguments, given);
  pack(weight(given), results);
}

extern "C" void clarion_sums_dpi(const svBitVecVal* arguments, svBitVecVal* results) {
  SumsArguments given;
  unpack(arguments, given);
  pack(sums(given), results);
}

extern "C" void clarion_tracker_dpi(const svBitVecVal* arguments, svBitVecVal* results) {
  TrackerArguments given;
  unpack(arguments, given);
  pack(tracker(given), results);
}

extern "C" void clarion_length_dpi(const svBitVecVal* arguments, svBitVecVal* results) {
  LengthArguments given;
  unpack(arguments, given);
  pack(length(given), results);
}

extern "C" void clarion_over_dpi(const svBitVecVal* arguments, svBitVecVal* results) {
  OverArguments given;
  unpack(arguments, given);
  pack(over(given), results);
}

extern "C" void clarion_offer_dpi(const svBitVecVal* arguments, svBitVecVal* results) {
  OfferArguments given;
  unpack(arguments, given);
  pack(offer(given), results);
}

extern "C" void clarion_own_dpi(const svBitVecVal* arguments, svBitVecVal* results) {
  OwnArguments given;
  unpack(arguments, given);
  pack(own(given), results);
}

extern "C" void clarion_grant_dpi(const svBitVecVal* arguments, svBitVecVal* results) {
  GrantArguments given;
  unpack(arguments, given);
  pack(grant(given), results);
}

extern "C" void clarion_patch_dpi(const svBitVecVal* arguments, svBitVecVal* results) {
  PatchArguments given;
  unpack(arguments, given);
  pack(patch(given), results);
}

extern "C" void clarion_control_dpi(const svBitVecVal* arguments, svBitVecVal* results) {
  ControlArguments given;
  unpack(arguments, given);
  pack(control(given), results);
}

}  // namespace clarion::block
