// SPDX-License-Identifier: Apache-2.0
// The receiving half of a TCP connection: reassembly, SACK (RFC 2018, 2883) and the timing of
// acknowledgements as net/ipv4/tcp_input.c has it. Its application reads at once.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "accurate_ecn.hpp"
#include "switch/clock.hpp"
#include "types.hpp"

namespace clarion::sim {

using emu::Nanoseconds;
using emu::NEVER;

// A segment that has come in.
struct IncomingSegment {
  SegmentNumber number = 0;
  std::uint32_t stamp_ms = 0;  // RFC 7323
  bool has_ect = false;        // RFC 3168
  bool has_ce = false;
  bool has_cwr = false;
  bool is_pushed = false;  // PSH: its sender has nothing more at present
};

// An acknowledgement that goes out.
struct OutgoingAck {
  static constexpr std::size_t MAX_BLOCKS = 3;  // beside time stamps

  SegmentNumber ack = 0;
  std::uint64_t window = 0;
  std::uint32_t echo_ms = 0;
  std::uint8_t blocks = 0;
  std::array<SegmentRange, MAX_BLOCKS> sacks;
  bool has_ece = false;
  std::uint8_t ace = 0;  // RFC 9768
};

struct ReceiverSettings {
  std::uint64_t first_window = 1 << 18;  // segments that it offers to take
  std::uint64_t largest_window = 1 << 18;
  bool sack = true;

  // Of a buffer of so many bytes of memory: what Linux 6.18 offers at first and at most, measured with
  // packets of one MSS (tcp_select_initial_window, tcp_grow_window).
  static ReceiverSettings with_buffer(std::uint64_t buffer_bytes, std::uint32_t mss_bytes, bool sack) {
    const std::uint64_t segments = std::max<std::uint64_t>(buffer_bytes / mss_bytes, 4);
    return {segments / 4, segments * 80 / 256, sack};
  }
};

class Receiver {
 public:
  class Output {
   public:
    virtual ~Output() = default;
    virtual void acknowledge(const OutgoingAck& ack, Nanoseconds now) = 0;
  };

  Receiver(const ReceiverSettings& settings, Output& output)
      : settings_(settings), output_(output), window_(settings.first_window) {}

  void on_segment(Nanoseconds now, const IncomingSegment& segment);

  Nanoseconds next_timer() const { return std::min(delayed_at_, compressed_at_); }
  void on_timer(Nanoseconds now);

  // `rtt_us` of the connection as this end knows it, for the compression of SACKs.
  void set_rtt(std::uint32_t rtt_us) { rtt_us_ = rtt_us; }

  // The connection has accurate ECN (RFC 9768): marks are counted, not echoed until the sender has answered.
  void use_accurate_ecn() { has_accurate_ecn_ = true; }
  std::uint32_t ce_count() const { return ce_count_; }  // from FIRST_CE_COUNT on

  SegmentNumber next() const { return next_; }
  std::uint64_t window() const { return window_; }      // segments
  std::uint64_t received() const { return received_; }  // segments, each once, in order or not

 private:
  static constexpr std::size_t KNOWN_BLOCKS = 4;

  bool take(Nanoseconds now, const IncomingSegment& segment);
  void tell_before_blocks_are_lost(Nanoseconds now, SegmentNumber number);
  void take_in_order();
  void take_out_of_order(SegmentNumber number);
  void remember(const SegmentRange& range);
  void forget_acknowledged();
  Nanoseconds rto_ns() const;
  void note_arrival(Nanoseconds now);
  void note_marks(const IncomingSegment& segment);
  void count_mark(bool has_ce);
  void grow_window();
  void quicken(std::uint32_t at_most);
  void decide(Nanoseconds now, bool is_pushed);
  void delay(Nanoseconds now);
  void compress(Nanoseconds now);
  void send(Nanoseconds now);

  ReceiverSettings settings_;
  Output& output_;
  std::uint64_t window_;            // segments that it takes from next_ on (rcv_ssthresh)
  SegmentNumber next_ = 0;          // rcv_nxt
  SegmentNumber acknowledged_ = 0;  // rcv_wup: next_ when the last ACK was sent
  std::uint64_t received_ = 0;
  std::vector<SegmentRange> early_;                  // out-of-order queue, in order of numbers
  std::array<SegmentRange, KNOWN_BLOCKS> blocks_{};  // the latest first
  std::size_t known_ = 0;
  SegmentRange twice_;          // to be reported as D-SACK
  std::uint32_t stamp_ms_ = 0;  // ts_recent
  std::uint32_t rtt_us_ = 0;
  bool wants_cwr_ = false;  // echo congestion marks until the sender has answered
  bool saw_ect_ = false;
  bool has_accurate_ecn_ = false;
  bool was_marked_ = false;  // the packet before
  std::uint32_t ce_count_ = FIRST_CE_COUNT;
  std::uint32_t untold_marks_ = 0;  // since the last acknowledgement

  std::uint32_t quick_ = 0;  // acknowledgements to send at once
  bool ack_now_ = false;
  Nanoseconds delay_ns_ = 0;  // icsk_ack.ato; 0: nothing has come in yet
  Nanoseconds arrived_ = 0;
  Nanoseconds delayed_at_ = NEVER;
  Nanoseconds compressed_at_ = NEVER;
  std::uint32_t compressed_ = 0;
  std::uint32_t duplicates_ = 0;
  SegmentNumber duplicates_of_ = 0;
};

}  // namespace clarion::sim
