// SPDX-License-Identifier: Apache-2.0
// The whole data plane of a switch, stage by stage, in the order a packet meets them.
//
//   ingress   the frame comes in: parse, distrust of hosts, losses of the incoming wire
//   enqueue   it is about to join an egress queue, once per copy, before any decision to drop it
//   dequeue   it leaves that queue: feedback, drops of the queue, number for the outgoing wire
//
// One configuration treats a packet: what enqueue noted in its Meta decides at dequeue too.
// No call blocks, allocates or fails. Time must not go back per port. `len` counts Ethernet bytes without
// the checksum, `queue_bytes` what is waiting without this packet. Ports are below PORTS.
// An object is about 80 KB per port with the default number of buckets: keep it off the stack.
#pragma once

#include <cstdint>

#include "config.hpp"
#include "header.hpp"
#include "maxmin_departure.hpp"
#include "maxmin_interval.hpp"
#include "platform.hpp"
#include "queue_tracker.hpp"
#include "sequence_check.hpp"
#include "types.hpp"
#include "xcp_arrival.hpp"
#include "xcp_interval.hpp"

namespace clarion {

constexpr unsigned DEFAULT_BUCKETS = 4096;

template <unsigned PORTS, unsigned BUCKETS = DEFAULT_BUCKETS>
class DataPlane {
 public:
  // State of one port. Public to read: telemetry, tests.
  struct PortState {
    PortConfig config;
    bool xcp_begins = false;  // switched on; the next enqueue starts the controllers from nothing

    // Traffic that comes in by this port.
    std::uint64_t malformed = 0;  // frames, saturating
    SequenceCheck<BUCKETS> wire_check;

    // Traffic that leaves by this port.
    XcpArrival arrival;
    QueueTracker queue;
    XcpInterval interval;
    std::uint8_t credit = CREDIT_MAX;  // of generation 2
    MaxMinDeparture departure;
    SequenceStamp<BUCKETS> queue_stamp;
    SequenceCheck<BUCKETS> queue_check;
    SequenceStamp<BUCKETS> link_stamp;
  };

  void set_protocol(std::uint8_t protocol) { protocol_ = protocol; }

  // Takes effect with the next packet; values beyond their range become the nearest legal ones. Switching
  // XCP on starts it from nothing, switching `check` on takes new bases; every other change keeps the state.
  void configure(unsigned port, const PortConfig& config) {
    PortState& state = ports_[port];
    if (config.xcp.enabled && !state.config.xcp.enabled) state.xcp_begins = true;
    if (config.tag.check && !state.config.tag.check) state.wire_check.restart();
    adopt(port, config);
  }

  // The same, but starts nothing anew: for a caller that decides that itself, by epochs.
  void adopt(unsigned port, const PortConfig& config) {
    ports_[port].config = config;
    ports_[port].config.xcp = limited(config.xcp);
  }

  CLARION_INLINE Meta ingress(unsigned port, Ticks /*now*/, const std::uint8_t* frame, std::uint32_t len) {
    PortState& state = ports_[port];
    Meta meta;
    if (parse(frame, len, protocol_, meta) == ParseResult::malformed) {
      state.malformed = saturating_add(state.malformed, 1, UINT64_MAX);
    }
    if (!carries_tags(meta.kind)) return meta;
    if (state.config.tag.edge) meta.corrupt = meta.congest = 0;
    if (state.config.tag.check) {
      const std::uint16_t lost = state.config.tag.wire ? state.wire_check.step(meta.bucket, meta.link_seq)
                                                       : state.wire_check.follow(meta.bucket, meta.link_seq);
      meta.corrupt = static_cast<std::uint16_t>(meta.corrupt + lost);
    }
    return meta;
  }

  CLARION_INLINE void enqueue(unsigned port, Ticks now, std::uint64_t queue_bytes, std::uint32_t len,
                              Meta& meta) {
    PortState& state = ports_[port];
    const XcpConfig& xcp = state.config.xcp;
    meta.xcp = xcp.enabled;
    meta.maxmin = xcp.enabled && xcp.generation == 2;
    if (meta.xcp) {
      if (state.xcp_begins) restart_xcp(state);
      state.queue.arrival(now, queue_bytes, state.interval.length(xcp) >> 1);
      if (state.interval.ended(now, xcp)) end_interval(state, now);
      state.arrival.step(meta, len, xcp.max_interval);
    }
    meta.in_queue = carries_tags(meta.kind) && state.config.tag.stamp;
    meta.queue_seq = meta.in_queue ? state.queue_stamp.step(meta.bucket) : std::uint16_t{0};
  }

  CLARION_INLINE void dequeue(unsigned port, Ticks /*now*/, std::uint64_t queue_bytes, std::uint8_t* frame,
                              std::uint32_t len, Meta& meta) {
    PortState& state = ports_[port];
    if (meta.xcp) {
      state.queue.observe(queue_bytes);
      if (meta.kind == Kind::data) {
        write_grant(frame, meta, state.departure, len);
        write_hop(frame, meta);
      }
    }
    if (!carries_tags(meta.kind)) return;
    if (meta.in_queue) {
      const std::uint16_t dropped = state.queue_check.step(meta.bucket, meta.queue_seq);
      meta.congest = static_cast<std::uint16_t>(meta.congest + dropped);
      write_link_seq(frame, meta, state.link_stamp.step(meta.bucket));
    }
    write_totals(frame, meta);
  }

  const PortState& port(unsigned port) const { return ports_[port]; }
  PortState& state(unsigned port) { return ports_[port]; }  // for a caller that starts stages anew, by epochs

 private:
  CLARION_INLINE static void restart_xcp(PortState& state) {
    state.xcp_begins = false;
    state.arrival.take();
    state.queue.restart();
    state.interval.restart();
    state.credit = CREDIT_MAX;
    state.departure.restart();
  }

  CLARION_INLINE static void end_interval(PortState& state, Ticks now) {
    const XcpConfig& xcp = state.config.xcp;
    const IntervalSums sums = state.arrival.take();
    const OwnSums own = state.departure.take();
    const std::uint64_t queue_bytes = state.queue.persistent_bytes();
    const std::uint32_t elapsed = state.interval.next(now);
    const IntervalReport& last = state.interval.report();
    MaxMinReport report;
    if (xcp.generation == 2) {
      const std::int64_t handed_out_q8 = last.phi_q8 - state.departure.in_hand_q8();
      report = maxmin_step(last, state.credit, xcp, sums, own, handed_out_q8, queue_bytes, elapsed);
      state.credit = report.credit;
    } else {
      report.interval = control_step(last, xcp, sums, queue_bytes, elapsed);
    }
    state.interval.adopt(report.interval);
    state.departure.refill(report.interval.shares, report.gains);
  }

  CLARION_INLINE static void write_grant(std::uint8_t* frame, const Meta& meta, MaxMinDeparture& departure,
                                         std::uint32_t len) {
    if (!meta.maxmin) {
      write_delta_throughput(frame, meta, departure.step(meta, len));
      return;
    }
    const Grant grant = departure.step_maxmin(meta, read_field(frame, meta), len);
    write_delta_throughput(frame, meta, grant.delta_throughput);
    write_field(frame, meta, grant.field);
  }

  PortState ports_[PORTS];
  std::uint8_t protocol_ = DEFAULT_PROTOCOL;
};

}  // namespace clarion
