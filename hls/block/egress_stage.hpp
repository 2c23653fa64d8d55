// SPDX-License-Identifier: Apache-2.0
// The queue of a port: decisions as a packet leaves it, and as one joins. In each clock one packet may leave
// and one may join, in this order; or one command is carried out. The next packet and the next command are in
// registers already, so that no clock waits for the read of the clock before.
//
// While the divisions of a control step run (interval_stage.hpp), no packet joins or leaves: its clocks are
// few, the frames that come in meanwhile go to packet memory, and what would be decided from old shares never
// happens.
//
// Parts::Watch sees all decisions in their order, for tests; hardware has none.
#pragma once

#include "core/config.hpp"
#include "core/queue_tracker.hpp"
#include "core/sequence_check.hpp"
#include "core/xcp_arrival.hpp"
#include "core/xcp_interval.hpp"
#include "hls/block/classifier.hpp"
#include "hls/block/egress_config.hpp"
#include "hls/block/egress_reply.hpp"
#include "hls/block/grant_join.hpp"
#include "hls/block/grant_stage.hpp"
#include "hls/block/mailbox.hpp"
#include "hls/block/parts.hpp"
#include "hls/block/queue_counters.hpp"
#include "hls/block/sizes.hpp"
#include "hls/block/waiting_room.hpp"

namespace clarion::block {

template <class Parts = Hardware>
class EgressStage {
 public:
  template <class Packets, class Departures, class Credits, class Sent, class PoolEvents, class Ends,
            class Reports, class Commands, class Replies>
  CLARION_PROCESS void step(Packets& packets, Departures& departures, Credits& credits, Sent& sent,
                            PoolEvents& pool, Ends& ends, Reports& reports, Commands& commands,
                            Replies& replies, ap_uint<40> queue_elsewhere, Ticks now) {
#pragma HLS pipeline II = 1
    counters_.time_passes(now, queue_bytes_.to_uint64());
    waiting_.clock();
    elsewhere_ = queue_elsewhere.to_uint64();
    if (!credits.empty()) in_flight_ -= credits.read();
    if (!sent.empty()) queue_bytes_ -= sent.read();
    if (dividing_) {
      if (!reports.empty() && !pool.full()) refill(reports.read(), pool);
    } else if (answering_ != 0) {
      if (!replies.full() && !pool.full()) answer_on(replies, pool);
    } else if (command_valid_) {
      if (!replies.full() && !pool.full()) carry_out(replies, pool);
    } else {
      const bool joins = packet_valid_ && !ends.full() && !pool.full();
      const bool begins = joins && begins_;  // an event for the pools, which take one per clock
      if (waiting_.any() && !begins && in_flight_ != DEPARTURES && !pool.full()) leave(departures, pool);
      if (joins) join(ends, pool);
    }
    fetch(packets, commands);
  }

  typename Parts::Watch watch;

 private:
  // The packet and the command of the next clock.
  template <class Packets, class Commands>
  CLARION_INLINE void fetch(Packets& packets, Commands& commands) {
    if (!packet_valid_ && !packets.empty()) {
      packet_ = packets.read();
      packet_valid_ = true;
    }
    if (!command_valid_ && !commands.empty()) {
      command_ = commands.read();
      command_valid_ = true;
    }
  }

  // --- A packet joins ---------------------------------------------------------------------------------

  template <class Ends, class PoolEvents>
  CLARION_INLINE void join(Ends& ends, PoolEvents& pool) {
    const Packet packet = packet_;
    packet_valid_ = false;
    counters_.drop_untold(packet.untold.to_uint());
    if (packet.errored) {
      ++counters_.errored;
      return let_go(packet);
    }
    const std::uint32_t length = packet.length.to_uint();
    const bool fits = packet.whole && queue_bytes_ + packet.length <= limit_bytes_;
    watch.joins(packet.now, waiting_bytes(), !fits);
    Waiting waiting;
    waiting.meta = packet.meta;
    waiting.meta.xcp = config_.xcp.enabled;
    if (waiting.meta.xcp) {
      if (begins_) restart(pool);
      control(packet.now, ends);
      arrival_.step(packet.meta, length, config_.xcp.max_interval);
    }
    waiting.meta.in_queue = carries_tags(packet.meta.kind) && config_.stamp;
    if (waiting.meta.in_queue) waiting.meta.queue_seq = number(queue_stamp_, packet.meta.bucket);
    if (!fits) {
      counters_.drop(length, !packet.whole);
      return let_go(packet);
    }
    queue_bytes_ += packet.length;
    waiting.send = true;
    waiting.length = packet.length;
    waiting.stored = packet.stored;
    waiting_.push(waiting);
  }

  // Its beats are discarded in their turn.
  CLARION_INLINE void let_go(const Packet& packet) {
    Waiting waiting;
    waiting.stored = packet.stored;
    if (packet.stored != 0) waiting_.push(waiting);
  }

  // Starts the controllers from their initial state.
  template <class PoolEvents>
  CLARION_INLINE void restart(PoolEvents& pool) {
    begins_ = false;
    running_epoch_ = config_.epoch;
    arrival_.take();
    tracker_.restart();
    interval_.restart();
    PoolEvent event;
    event.kind = PoolEvent::Kind::restart;
    pool.write(event);
  }

  // Ends the tracker's window and the control interval when their time is over.
  template <class Ends>
  CLARION_INLINE void control(Ticks now, Ends& ends) {
    const XcpConfig& xcp = config_.xcp;
    tracker_.arrival(now, waiting_bytes(), interval_.length(xcp) >> 1);
    if (!interval_.ended(now, xcp)) return;
    const IntervalReport& last = interval_.report();
    ends.write(IntervalEnd{xcp, last.intervals, last.avg_rtt, arrival_.take(), tracker_.persistent_bytes(),
                           interval_.next(now)});
    dividing_ = true;
  }

  template <class PoolEvents>
  CLARION_INLINE void refill(const IntervalReport& report, PoolEvents& pool) {
    interval_.adopt(report);
    PoolEvent event;
    event.kind = PoolEvent::Kind::refill;
    event.shares = report.shares;
    pool.write(event);
    dividing_ = false;
  }

  // --- A packet leaves --------------------------------------------------------------------------------

  template <class Departures, class PoolEvents>
  CLARION_INLINE void leave(Departures& departures, PoolEvents& pool) {
    const Waiting waiting = waiting_.pop();
    Departure departure;
    departure.release.stored = waiting.stored;
    departure.release.send = waiting.send;
    if (waiting.send) {
      const std::uint32_t length = waiting.length.to_uint();
      const std::uint64_t others = waiting_bytes() - length;
      counters_.send(length);
      watch.leaves(others);
      if (waiting.meta.xcp) tracker_.observe(others);
      departure.release.length = waiting.length;
      departure.granted = waiting.meta.xcp && waiting.meta.kind == Kind::data;
      departure.release.patch.offset = waiting.meta.offset;
      if (departure.granted) {
        ask(waiting, pool);
        write_hop(PatchWriter(departure.release.patch), waiting.meta);
      }
      if (carries_tags(waiting.meta.kind)) tag(waiting.meta, departure.release.patch);
    }
    departures.write(departure);
    ++in_flight_;
  }

  template <class PoolEvents>
  CLARION_INLINE void ask(const Waiting& waiting, PoolEvents& pool) {
    PoolEvent event;
    event.x = waiting.meta.x;
    event.delta_throughput = waiting.meta.delta_throughput;
    event.length = waiting.length;
    pool.write(event);
  }

  CLARION_INLINE void tag(Meta meta, HeaderPatch& patch) {
    const PatchWriter frame(patch);
    if (meta.in_queue) {
      SequenceSlot slot = queue_check_.read(meta.bucket);
      check_number(slot, queue_counters_, meta.queue_seq);
      queue_check_.write(meta.bucket, slot);
      meta.congest = static_cast<std::uint16_t>(meta.congest + slot.total);
      write_link_seq(frame, meta, number(link_stamp_, meta.bucket));
    }
    write_totals(frame, meta);
  }

  template <class Of>
  using Numbers = typename Parts::template Memory<std::uint16_t, Of>;

  template <class Memory>
  CLARION_INLINE static std::uint16_t number(Memory& numbers, std::uint16_t bucket) {
    const std::uint16_t number = numbers.read(bucket);
    numbers.write(bucket, static_cast<std::uint16_t>(number + 1));
    return number;
  }

  // --- Commands ---------------------------------------------------------------------------------------

  template <class Replies, class PoolEvents>
  CLARION_INLINE void carry_out(Replies& replies, PoolEvents& pool) {
    using namespace registers;
    command_valid_ = false;
    const std::uint32_t operation = word_of(command_, 0);
    if (operation == OP_CONFIGURE) {
      EgressConfig config;
      const bool in_range = read_config(command_, config);
      if (in_range) adopt(config);
      replies.write(answer(in_range ? STATUS_OK : STATUS_OUT_OF_RANGE));
    } else if (operation == OP_READ) {
      answering_ = 1;
      replies.write(counters_.reply(queue_bytes_.to_uint64()));
    } else if (operation == OP_READ_BUCKET) {
      replies.write(bucket(word_of(command_, EGRESS_READ_BUCKET_BUCKET)));
    } else if (operation == OP_RESET) {
      reset(pool);
      replies.write(answer(STATUS_OK));
    } else {
      replies.write(answer(STATUS_UNKNOWN_OPERATION));
    }
  }

  // As after power-on, except the buckets' numbers and totals: neighbours would mistake a jump in them for
  // losses. Waiting frames are still sent.
  template <class PoolEvents>
  CLARION_INLINE void reset(PoolEvents& pool) {
    adopt(EgressConfig{});
    counters_.restart();
    queue_counters_ = SequenceCounters{};
    restart(pool);
  }

  CLARION_INLINE void adopt(const EgressConfig& config) {
    config_ = config;
    begins_ = config.xcp.enabled && config.epoch != running_epoch_;
    limit_bytes_ = min_u64(config.queue_limit_bytes, QueueBytes(~QueueBytes(0)).to_uint64());
  }

  // The further beats of the answer to `read`; the last ones come from the pools.
  template <class Replies, class PoolEvents>
  CLARION_INLINE void answer_on(Replies& replies, PoolEvents& pool) {
    if (answering_ >= registers::EGRESS_READ_POS / registers::BEAT_WORDS) {
      PoolEvent event;
      event.kind = PoolEvent::Kind::report;
      event.beat = answering_;
      pool.write(event);
      ++answering_;
      if (answering_ == registers::EGRESS_READ_BEATS) answering_ = 0;
      return;
    }
    Reply reply;
    if (answering_ == 1) put_running(reply.data, queue_counters_, arrival_.sums(), tracker_);
    if (answering_ == 2) put_rates(reply.data, interval_, tracker_);
    if (answering_ == 3) put_shares(reply.data, interval_, tracker_);
    if (answering_ == 4) put_config(reply.data, config_, running_epoch_);
    reply.index = answering_;
    replies.write(reply);
    ++answering_;
  }

  CLARION_INLINE Reply bucket(std::uint32_t bucket) const {
    using namespace registers;
    if (bucket >= BUCKETS) return answer(STATUS_OUT_OF_RANGE);
    const auto number = static_cast<std::uint16_t>(bucket);
    const SequenceSlot slot = queue_check_.read(number);
    Reply reply = answer(STATUS_OK);
    put_word(reply.data, EGRESS_READ_BUCKET_QUEUE_NEXT, queue_stamp_.read(number));
    put_word(reply.data, EGRESS_READ_BUCKET_QUEUE_EXPECTED, slot.expected);
    put_word(reply.data, EGRESS_READ_BUCKET_QUEUE_TOTAL, slot.total);
    put_word(reply.data, EGRESS_READ_BUCKET_QUEUE_EPOCH, slot.based);
    put_word(reply.data, EGRESS_READ_BUCKET_LINK_NEXT, link_stamp_.read(number));
    put_word(reply.data, EGRESS_READ_BUCKET_QUEUE_FAR, slot.far);
    return reply;
  }

  // Packet memory bounds it, and narrow sums are fast.
  using QueueBytes = ap_uint<24>;
  static_assert(std::uint64_t{QUEUE_BEATS} * BEAT_BYTES + FRAME_MAX_BYTES < (1u << 24),
                "more may wait than can be counted");

  // A frame counts until its last beat is out, however far ahead of the wire it was decided on.
  CLARION_INLINE std::uint64_t waiting_bytes() const { return queue_bytes_.to_uint64() + elsewhere_; }

  EgressConfig config_;
  QueueBytes limit_bytes_ = ~QueueBytes(0);  // the configured one, within the range
  bool begins_ = false;                      // the controllers start with the next packet
  std::uint8_t running_epoch_ = 0;           // of the controllers' last start

  XcpArrival arrival_;
  QueueTracker tracker_;
  XcpInterval interval_;
  bool dividing_ = false;

  Numbers<struct OfQueue> queue_stamp_;
  typename Parts::template Memory<SequenceSlot> queue_check_;
  SequenceCounters queue_counters_;
  Numbers<struct OfLink> link_stamp_;

  WaitingRoom waiting_;
  ap_uint<8> in_flight_ = 0;  // departures without a credit back from GrantJoin
  QueueBytes queue_bytes_ = 0;
  std::uint64_t elsewhere_ = 0;
  QueueCounters counters_;

  Packet packet_{};
  bool packet_valid_ = false;
  Command command_ = 0;
  bool command_valid_ = false;
  ap_uint<3> answering_ = 0;  // next beat, 0: none
};

}  // namespace clarion::block
