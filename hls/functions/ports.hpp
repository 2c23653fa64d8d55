// SPDX-License-Identifier: Apache-2.0
// Made by `python -m clarion_contract.generate` from functions.yaml; do not edit.
// Arguments and results of the block's functions.
#pragma once

#include <cstdint>

#include "core/config.hpp"
#include "core/division.hpp"
#include "core/header.hpp"
#include "core/maxmin_interval.hpp"
#include "core/pools.hpp"
#include "core/queue_tracker.hpp"
#include "core/sequence_check.hpp"
#include "core/xcp_arrival.hpp"
#include "core/xcp_interval.hpp"

namespace clarion::block {

// `lanes`: which bytes of a beat count.
constexpr unsigned LANES_LATENCY = 2;  // clocks
struct LanesArguments {
  std::uint64_t keep = 0;
};
struct LanesResults {
  std::uint8_t bytes = 0;
  bool contiguous = false;
  bool full = false;
};

// `classify`: the Clarion header of a frame, if it has one.
constexpr unsigned CLASSIFY_LATENCY = 6;  // clocks
struct ClassifyArguments {
  std::uint64_t window[14] = {};
  std::uint16_t length = 0;
  std::uint8_t protocol = 0;
};
struct ClassifyResults {
  clarion::Meta meta = {};
  std::uint8_t field = 0;
  bool malformed = false;
};

// `judge`: a packet's number against what its bucket expects.
constexpr unsigned JUDGE_LATENCY = 1;  // clocks
struct JudgeArguments {
  clarion::SequenceSlot slot = {};
  std::uint16_t number = 0;
  bool counts = false;
};
struct JudgeResults {
  clarion::SequenceSlot slot = {};
  std::uint16_t lost = 0;
  bool late = false;
  bool rebased = false;
};

// `number`: the number after this one.
constexpr unsigned NUMBER_LATENCY = 1;  // clocks
struct NumberArguments {
  std::uint16_t number = 0;
};
struct NumberResults {
  std::uint16_t number = 0;
};

// `weight`: what a DATA packet adds to the sum of x * rtt.
constexpr unsigned WEIGHT_LATENCY = 4;  // clocks
struct WeightArguments {
  std::uint32_t x = 0;
  std::uint32_t rtt = 0;
  std::uint32_t max_interval = 0;
};
struct WeightResults {
  std::uint64_t x_rtt = 0;
};

// `sums`: a packet joins the sums of the interval, or begins those of the next.
constexpr unsigned SUMS_LATENCY = 1;  // clocks
struct SumsArguments {
  clarion::IntervalSums sums = {};
  bool begins = false;
  std::uint16_t length = 0;
  bool counts = false;
  std::uint32_t x = 0;
  std::uint64_t x_rtt = 0;
};
struct SumsResults {
  clarion::IntervalSums sums = {};
};

// `tracker`: the persistent queue, as a packet leaves and one joins, in this order.
constexpr unsigned TRACKER_LATENCY = 1;  // clocks
struct TrackerArguments {
  clarion::QueueWindow queue = {};
  bool leaves = false;
  std::uint64_t left_bytes = 0;
  bool joins = false;
  std::uint64_t waiting_bytes = 0;
  std::uint64_t now = 0;
  std::uint32_t window = 0;
};
struct TrackerResults {
  clarion::QueueWindow queue = {};
};

// `length`: how long an interval lasts.
constexpr unsigned LENGTH_LATENCY = 1;  // clocks
struct LengthArguments {
  std::uint32_t avg_rtt = 0;
  std::uint32_t min_interval = 0;
  std::uint32_t max_interval = 0;
};
struct LengthResults {
  std::uint32_t length = 0;
};

// `over`: does the packet that arrives end the interval.
constexpr unsigned OVER_LATENCY = 1;  // clocks
struct OverArguments {
  clarion::IntervalClock clock = {};
  std::uint64_t now = 0;
  std::uint32_t length = 0;
};
struct OverResults {
  bool ended = false;
  std::uint32_t elapsed = 0;
  clarion::IntervalClock clock = {};
};

// `offer`: what a departing DATA packet may have, as far as it does not depend on the pools.
constexpr unsigned OFFER_LATENCY = 9;  // clocks
struct OfferArguments {
  bool maxmin = false;
  clarion::Gain cp = {};
  clarion::Gain cn = {};
  clarion::MaxMinGains gains = {};
  std::uint32_t rtt = 0;
  std::uint32_t x = 0;
  std::int32_t delta_throughput = 0;
  std::uint16_t length = 0;
  std::uint8_t flags = 0;
  std::uint8_t field = 0;
};
struct OfferResults {
  clarion::Claim claim = {};
  bool pays = false;
  std::int32_t reply = 0;
  bool own = false;
  bool poor = false;
  bool limited = false;
};

// `own`: a packet leaves and joins the sums of departures.
constexpr unsigned OWN_LATENCY = 1;  // clocks
struct OwnArguments {
  clarion::OwnSums sums = {};
  std::uint16_t length = 0;
  std::uint32_t rtt = 0;
  std::uint32_t x = 0;
  std::int32_t delta_throughput = 0;
  bool own = false;
  bool poor = false;
  bool limited = false;
};
struct OwnResults {
  clarion::OwnSums sums = {};
};

// `grant`: what a departing DATA packet is paid from the pools.
constexpr unsigned GRANT_LATENCY = 2;  // clocks
struct GrantArguments {
  clarion::Pools pools = {};
  bool maxmin = false;
  std::int32_t requested = 0;
  clarion::Claim claim = {};
};
struct GrantResults {
  clarion::Pools pools = {};
  std::int32_t granted = 0;
};

// `patch`: the bytes of a header that change.
constexpr unsigned PATCH_LATENCY = 2;  // clocks
struct PatchArguments {
  std::uint8_t kind = 0;
  bool numbered = false;
  std::uint16_t link_seq = 0;
  std::uint16_t corrupt = 0;
  std::uint16_t congest = 0;
  bool regulated = false;
  bool maxmin = false;
  bool pays = false;
  std::uint32_t rtt = 0;
  std::int32_t requested = 0;
  std::int32_t granted = 0;
  std::uint8_t flags = 0;
  std::uint8_t field = 0;
};
struct PatchResults {
  std::uint32_t enable = 0;
  std::uint64_t data[4] = {};
};

// `control`: the end of an interval.
constexpr unsigned CONTROL_LATENCY = 160;  // clocks
struct ControlArguments {
  clarion::XcpConfig config = {};
  std::uint32_t avg_rtt = 0;
  std::int64_t phi = 0;
  std::uint8_t credit = 0;
  clarion::IntervalSums sums = {};
  clarion::OwnSums own = {};
  clarion::Pools pools = {};
  std::uint64_t queue_bytes = 0;
  std::uint32_t elapsed = 0;
};
struct ControlResults {
  std::uint32_t avg_rtt = 0;
  std::uint64_t rate = 0;
  std::int64_t phi = 0;
  clarion::Shares shares = {};
  clarion::MaxMinGains gains = {};
  std::uint8_t credit = 0;
};

}  // namespace clarion::block
