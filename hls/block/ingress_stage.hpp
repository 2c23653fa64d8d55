// SPDX-License-Identifier: Apache-2.0
// Processing of a packet received from the wire: the edge rule for untrusted hosts, losses of the wire,
// totals into the header. One packet or one command per clock.
#pragma once

#include "core/sequence_check.hpp"
#include "hls/block/classifier.hpp"
#include "hls/block/frame_release.hpp"
#include "hls/block/mailbox.hpp"
#include "hls/block/parts.hpp"
#include "hls/block/sizes.hpp"

namespace clarion::block {

// A slot with the epoch of the check that wrote it; under another epoch it has no base. A reset toggles the
// generation, and slots of the other generation count as of epoch 0.
struct WireSlot {
  std::uint16_t expected = 0;
  std::uint16_t total = 0;
  std::uint8_t far = 0;
  std::uint8_t epoch = 0;
  bool generation = false;
};

template <class Parts = Hardware>
class IngressStage {
 public:
  template <class Packets, class Releases, class Commands, class Replies>
  CLARION_PROCESS void step(Packets& packets, Releases& releases, Commands& commands, Replies& replies) {
#pragma HLS pipeline II = 1
    if (answering_) {
      if (!replies.full()) replies.write(configuration());
    } else if (command_valid_ && !replies.full() && !has_to_wait()) {
      carry_out(replies);
    } else if (!packets.empty() && !releases.full()) {
      const Release release = release_of(packets.read());
      if (release.stored != 0) releases.write(release);
    } else if (renewing_) {
      renew_next();
    }
    if (!command_valid_ && !commands.empty()) {  // for the next clock
      command_ = commands.read();
      command_valid_ = true;
    }
  }

 private:
  struct Config {
    bool check = false;
    bool edge = false;
    bool wire = false;
    std::uint8_t epoch = 0;
  };

  CLARION_INLINE Release release_of(const Packet& packet) {
    overflow_ += packet.untold;
    Release release;
    release.stored = packet.stored;
    release.send = packet.whole && !packet.errored;
    if (packet.errored) {
      ++errored_;
      return release;
    }
    ++rx_packets_;
    rx_bytes_ += packet.length;
    if (packet.malformed) malformed_ = saturating_add(malformed_, 1, UINT64_MAX);
    if (!packet.whole) ++overflow_;
    if (!carries_tags(packet.meta.kind)) return release;
    Meta meta = packet.meta;
    if (config_.edge) meta.corrupt = meta.congest = 0;
    if (config_.check) meta.corrupt = static_cast<std::uint16_t>(meta.corrupt + check(meta));
    release.patch.offset = meta.offset;
    write_totals(PatchWriter(release.patch), meta);
    return release;
  }

  // Losses of the wire in the packet's bucket so far.
  CLARION_INLINE std::uint16_t check(const Meta& meta) {
    const WireSlot before = read_slot(meta.bucket);
    SequenceSlot slot{before.expected, before.total, before.epoch == config_.epoch, before.far};
    if (config_.wire) {
      check_number(slot, counters_, meta.link_seq);
    } else {
      follow_number(slot, meta.link_seq);
    }
    memory_.write(meta.bucket, WireSlot{slot.expected, slot.total, slot.far, config_.epoch, generation_});
    return slot.total;
  }

  CLARION_INLINE WireSlot read_slot(std::uint16_t bucket) const {
    WireSlot slot = memory_.read(bucket);
    if (slot.generation != generation_) slot.epoch = 0;
    return slot;
  }

  // After a reset every slot is moved to the new generation, one in each idle clock.
  CLARION_INLINE void renew_next() {
    const auto bucket = static_cast<std::uint16_t>(renewed_.to_uint());
    WireSlot slot = read_slot(bucket);
    slot.generation = generation_;
    memory_.write(bucket, slot);
    renewing_ = renewed_ != BUCKETS - 1;
    ++renewed_;
  }

  // A reset waits for the end of the one before; packets do not.
  CLARION_INLINE bool has_to_wait() const { return renewing_ && word_of(command_, 0) == registers::OP_RESET; }

  template <class Replies>
  CLARION_INLINE void carry_out(Replies& replies) {
    using namespace registers;
    const std::uint32_t operation = word_of(command_, 0);
    command_valid_ = false;
    if (operation == OP_CONFIGURE) {
      replies.write(answer(configure() ? STATUS_OK : STATUS_OUT_OF_RANGE));
    } else if (operation == OP_READ) {
      replies.write(counters());
      answering_ = true;
    } else if (operation == OP_READ_BUCKET) {
      replies.write(bucket(word_of(command_, INGRESS_READ_BUCKET_BUCKET)));
    } else if (operation == OP_RESET) {
      reset();
      replies.write(answer(STATUS_OK));
    } else {
      replies.write(answer(STATUS_UNKNOWN_OPERATION));
    }
  }

  CLARION_INLINE bool configure() {
    using namespace registers;
    const std::uint32_t check = word_of(command_, INGRESS_CONFIGURE_CHECK);
    const std::uint32_t edge = word_of(command_, INGRESS_CONFIGURE_EDGE);
    const std::uint32_t epoch = word_of(command_, INGRESS_CONFIGURE_EPOCH);
    const std::uint32_t wire = word_of(command_, INGRESS_CONFIGURE_WIRE);
    if (check > 1 || edge > 1 || wire > 1 || epoch > INGRESS_CONFIGURE_EPOCH_LIMIT ||
        (check == 1 && epoch == 0)) {
      return false;
    }
    config_ = Config{check == 1, edge == 1, wire == 1, static_cast<std::uint8_t>(epoch)};
    return true;
  }

  CLARION_INLINE Reply counters() const {
    using namespace registers;
    Reply reply;
    put_words(reply.data, INGRESS_READ_RX_PACKETS, rx_packets_);
    put_words(reply.data, INGRESS_READ_RX_BYTES, rx_bytes_);
    put_words(reply.data, INGRESS_READ_MALFORMED, malformed_);
    put_words(reply.data, INGRESS_READ_ERRORED, errored_);
    put_words(reply.data, INGRESS_READ_OVERFLOW, overflow_);
    put_words(reply.data, INGRESS_READ_LOST, counters_.lost);
    put_words(reply.data, INGRESS_READ_LATE, counters_.late);
    put_words(reply.data, INGRESS_READ_REBASED, counters_.rebased);
    return reply;
  }

  // The second and last beat of the answer to `read`.
  CLARION_INLINE Reply configuration() {
    using namespace registers;
    answering_ = false;
    Reply reply = answer(STATUS_OK);
    reply.index = INGRESS_READ_BEATS - 1;
    put_word(reply.data, INGRESS_READ_CHECK, config_.check);
    put_word(reply.data, INGRESS_READ_EDGE, config_.edge);
    put_word(reply.data, INGRESS_READ_WIRE, config_.wire);
    put_word(reply.data, INGRESS_READ_EPOCH, config_.epoch);
    return reply;
  }

  CLARION_INLINE Reply bucket(std::uint32_t bucket) const {
    using namespace registers;
    if (bucket >= BUCKETS) return answer(STATUS_OUT_OF_RANGE);
    const WireSlot slot = read_slot(static_cast<std::uint16_t>(bucket));
    Reply reply = answer(STATUS_OK);
    put_word(reply.data, INGRESS_READ_BUCKET_EXPECTED, slot.expected);
    put_word(reply.data, INGRESS_READ_BUCKET_TOTAL, slot.total);
    put_word(reply.data, INGRESS_READ_BUCKET_EPOCH, slot.epoch);
    put_word(reply.data, INGRESS_READ_BUCKET_FAR, slot.far);
    return reply;
  }

  // As after power-on, except the buckets' numbers and totals: neighbours would mistake a jump in them for
  // losses.
  CLARION_INLINE void reset() {
    config_ = Config{};
    counters_ = SequenceCounters{};
    rx_packets_ = rx_bytes_ = malformed_ = errored_ = overflow_ = 0;
    generation_ = !generation_;
    renewing_ = true;
    renewed_ = 0;
  }

  Config config_;
  typename Parts::template Memory<WireSlot> memory_;
  bool generation_ = false;
  bool renewing_ = false;
  ap_uint<17> renewed_ = 0;

  SequenceCounters counters_;
  std::uint64_t rx_packets_ = 0;
  std::uint64_t rx_bytes_ = 0;
  std::uint64_t malformed_ = 0;
  std::uint64_t errored_ = 0;
  std::uint64_t overflow_ = 0;

  Command command_ = 0;
  bool command_valid_ = false;
  bool answering_ = false;
};

}  // namespace clarion::block
