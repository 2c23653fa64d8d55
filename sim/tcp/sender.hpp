// SPDX-License-Identifier: Apache-2.0
// The sending half of a TCP connection as Linux 6.x has it, for laws that were written for Linux.
//
// A state machine: it takes acknowledgements and times, and gives segments to its Output. It has no clock and
// no queue of its own. Functions that follow one of the kernel's name it; the files are net/ipv4/tcp_input.c
// (sender_ack.cpp, sender_recovery.cpp), tcp_output.c and tcp_timer.c (sender_output.cpp).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "accurate_ecn.hpp"
#include "congestion_control.hpp"
#include "delivery_rate.hpp"
#include "prr.hpp"
#include "rack.hpp"
#include "rtt_estimator.hpp"
#include "scoreboard.hpp"
#include "sim/prefetch.hpp"
#include "switch/clock.hpp"
#include "types.hpp"

namespace clarion::sim {

using emu::Nanoseconds;
using emu::NEVER;

// A segment that goes out.
struct OutgoingSegment {
  SegmentNumber number = 0;
  std::uint32_t payload_bytes = 0;
  bool is_resent = false;
  bool is_pushed = false;  // PSH: the last that the application has written
  bool has_cwr = false;    // ECN: the window has been reduced
};

// An acknowledgement that has come in.
struct Acknowledgement {
  static constexpr std::size_t MAX_BLOCKS = 4;

  SegmentNumber ack = 0;      // the next that is expected
  std::uint64_t window = 0;   // segments that the receiver takes from `ack` on
  std::uint32_t echo_ms = 0;  // the time stamp that it echoes (RFC 7323); 0: none
  std::uint8_t blocks = 0;
  std::array<SegmentRange, MAX_BLOCKS> sacks;
  bool has_ece = false;
  std::uint8_t ace = 0;         // RFC 9768
  std::uint32_t stamp_ms = 0;   // its own time stamp, which tells later ones from those that they overtook
  std::uint8_t load_code = 0;   // of VCP's routers; 0: none
  std::uint16_t told_link = 0;  // that routers of JetMax or MaxNet propose; 0: none has said anything
  std::uint32_t told_word = 0;  // with it
};

struct SenderSettings {
  std::uint32_t mss_bytes = 1448;
  std::uint32_t initial_cwnd = 10;
  std::uint32_t cwnd_clamp = 0xffffffff;
  std::uint32_t max_burst = 44;  // segments that go down in one piece: 64 KiB (gso_max_size)
  std::uint64_t max_pacing_bytes_per_s = ~std::uint64_t{0};
  std::uint32_t pacing_start_percent = 200;  // net.ipv4.tcp_pacing_ss_ratio
  std::uint32_t pacing_percent = 120;        // net.ipv4.tcp_pacing_ca_ratio
  bool sack = true;
  bool ecn = false;           // RFC 3168
  bool accurate_ecn = false;  // RFC 9768, in its place
  bool ect1 = false;          // with that: packets carry the identifier of scalable senders (RFC 9331)
  bool load_codes = false;    // VCP has the bits of ECN
  std::uint64_t quick_start_bps = 0;  // asked of routers (RFC 4782); 0: nothing
  std::uint32_t quick_start_seed = 0;
  bool xcp_ttl = false;                     // data has the option of XCP-i
  std::optional<std::uint32_t> first_word;  // of the option for routers of JetMax and MaxNet, on data
  bool restarts_after_idle = false;         // net.ipv4.tcp_slow_start_after_idle
};

// What Linux adds to timeouts that it derives from round trips (TCP_TIMEOUT_MIN).
constexpr Microseconds TIMEOUT_MIN_US = 2'000;

// Memory that a packet takes (skb->truesize), of its payload.
constexpr std::uint64_t TRUESIZE_PERCENT = 160;

class Sender {
 public:
  static constexpr std::uint64_t NO_RATE = ~std::uint64_t{0};

  class Output {
   public:
    virtual ~Output() = default;
    // False: the host's own device has dropped it, and it has not been sent.
    virtual bool transmit(const OutgoingSegment& segment, Nanoseconds now) = 0;
    // The retransmission timer has fired.
    virtual void note_timeout() = 0;
    // The window has been made smaller, in packets; `reason` is an enum flow_reason of hosts/bpf/flow.h.
    virtual void note_reduction(std::uint8_t /*reason*/, std::uint32_t /*before*/, std::uint32_t /*after*/) {}
    // Bytes of this connection that wait in its own host (sk_wmem_alloc).
    virtual std::uint64_t waiting_bytes() const = 0;
  };

  Sender(const SenderSettings& settings, std::unique_ptr<CongestionControl> law, Output& output);

  // The receiver's window at the handshake, in segments.
  void open_window(std::uint64_t segments) { window_end_ = board_.una() + segments; }

  // What the handshake has made of a wish for accurate ECN.
  void agree_on_ecn(bool marks, bool accurate) {
    settings_.ecn = marks;
    settings_.accurate_ecn = accurate;
  }

  // The handshake is over; `rtt_us` is its round trip. `was_lost`: more than one SYN was, so that the window
  // begins at one packet (RFC 6298, 5.7; tcp_init_transfer).
  void establish(Nanoseconds now, std::uint32_t rtt_us, bool was_lost = false);

  // What Quick-Start has been granted, in bytes of IP packets; before establish().
  void allow_quick_start(std::uint64_t bytes_per_s) { quick_start_bytes_per_s_ = bytes_per_s; }

  // The application has written up to `bytes` since the beginning; ~0 for data without end.
  void write_up_to(Nanoseconds now, std::uint64_t bytes);

  void on_acknowledgement(Nanoseconds now, const Acknowledgement& ack);

  // Fetches what on_acknowledgement() will look at beside this object.
  void prefetch() const {
    sim::prefetch(law_.get(), LAW_BYTES);
    sim::prefetch(&board_[board_.una()], 2 * sizeof(Segment));  // it acknowledges every second
  }

  // When on_timer() has something to do.
  Nanoseconds next_timer() const { return std::min(timer_at_, pacing_at_); }
  void on_timer(Nanoseconds now);

  // A segment has left the host (tcp_tsq_handler).
  void on_room(Nanoseconds now);

  // For laws (struct tcp_sock).
  const SenderSettings& settings() const { return settings_; }
  const Scoreboard& board() const { return board_; }
  const RttEstimator& rtt() const { return rtt_; }
  const DeliveryRate& rate() const { return rate_; }
  const Rack& rack() const { return rack_; }
  const CeCount& ce_count() const { return ce_count_; }
  Microseconds now_us() const { return now_us_; }
  CaState state() const { return state_; }
  std::uint32_t cwnd() const { return cwnd_; }
  std::uint32_t ssthresh() const { return ssthresh_; }
  std::uint32_t lost() const { return lost_; }
  std::uint32_t resent() const { return resent_; }
  bool is_slow_start() const { return cwnd_ < ssthresh_; }
  bool is_cwnd_limited() const;
  bool probe_was_app_limited() const { return probe_was_app_limited_; }
  bool is_window_marked_limited() const { return is_cwnd_limited_; }
  std::uint64_t receiver_room() const;  // segments that its window still takes
  std::uint64_t unsent() const;         // segments written and not sent
  std::uint64_t pacing_bytes_per_s() const { return pacing_bytes_per_s_; }
  std::uint8_t load_code() const { return load_code_; }  // of the ACK at hand
  std::uint16_t told_link() const { return told_link_; }
  std::uint32_t told_word() const { return told_word_; }
  std::uint16_t controlling_link = 0;  // as routers of JetMax are told; 0: none yet
  std::uint32_t cwnd_count = 0;        // snd_cwnd_cnt: acknowledged towards the next packet of growth

  void set_cwnd(std::uint32_t packets);
  void note_reduction(std::uint8_t reason, std::uint32_t before, std::uint32_t after) {
    output_.note_reduction(reason, before, after);
  }
  void set_ssthresh(std::uint32_t packets) { ssthresh_ = packets; }
  void mark_app_limited() { rate_.mark_app_limited(board_.in_flight()); }
  Microseconds idle_us() const { return now_us_ - last_sent_us_; }  // since anything was sent
  Microseconds paced_ahead_us() const { return may_send_at_ > now_ ? (may_send_at_ - now_) / 1000 : 0; }
  void pace(bool by_timer, std::uint64_t bytes_per_s);

  std::uint64_t written_bytes() const { return written_bytes_; }
  std::uint64_t acked_bytes() const { return bytes_before(board_.una()); }
  bool is_done() const { return written_ == board_.una(); }
  Microseconds window_limited_us() const { return rwnd_limited_us_; }

 private:
  // What is learnt of an ACK on the way (FLAG_* and struct tcp_sacktag_state).
  struct AckState {
    RateSample sample;
    Microseconds first_sent_us = 0;  // of segments acknowledged in order that were sent once
    Microseconds last_sent_us = 0;
    Microseconds first_sacked_us = 0;  // of those SACKed
    Microseconds last_sacked_us = 0;
    SegmentNumber prior_una = 0;
    SegmentNumber reorder = 0;  // lowest that came late
    std::uint32_t acked = 0;
    bool advanced = false;        // FLAG_SND_UNA_ADVANCED
    bool data_acked = false;      // FLAG_DATA_ACKED
    bool data_sacked = false;     // FLAG_DATA_SACKED
    bool retrans_acked = false;   // FLAG_RETRANS_DATA_ACKED
    bool original_acked = false;  // FLAG_ORIG_SACK_ACKED
    bool dsacking = false;        // FLAG_DSACKING_ACK
    bool dsack_of_probe = false;  // FLAG_DSACK_TLP
    bool has_ece = false;         // FLAG_ECE
    bool window_update = false;   // FLAG_WIN_UPDATE
    bool is_dupack = false;       // num_dupack
    bool set_timer = false;       // FLAG_SET_XMIT_TIMER
    bool retrans_lost = false;    // FLAG_LOST_RETRANS

    bool is_not_dup() const { return window_update || data_acked; }
  };
  enum class Resend : std::uint8_t { none, lost, new_data };
  enum class Timer : std::uint8_t { none, retransmission, reordering, probe };

  static constexpr std::size_t LAW_BYTES = 320;  // about as much as laws keep

  void tick(Nanoseconds now);

  // sender_ack.cpp
  void tag_sacks(const Acknowledgement& ack, AckState& state);
  bool check_dsack(const Acknowledgement& ack, AckState& state);
  void tag_range(const SegmentRange& range, AckState& state);
  void sack(SegmentNumber number, AckState& state);
  void clean(const Acknowledgement& ack, AckState& state, SegmentNumber prior_fack);
  void count_marks(const Acknowledgement& ack, AckState& state, std::uint32_t newly);
  void take_rtt(AckState& state);
  bool sample_rtt(const AckState& state, std::int64_t in_order_us, std::int64_t sacked_us,
                  std::int64_t law_us);
  void check_reordering(SegmentNumber low, SegmentNumber fack);
  void control(const AckState& state);
  bool may_grow(const AckState& state) const;
  void update_pacing_rate();

  // sender_recovery.cpp
  bool is_dubious(const AckState& state) const;
  Resend alert(AckState& state);
  bool leave_finished_state();
  Resend in_recovery(AckState& state);
  Resend in_loss(AckState& state);
  Resend in_order(AckState& state);
  bool needs_recovery() const { return board_.lost_out() > 0; }  // tcp_time_to_recover
  void identify_losses(AckState& state);
  void mark_lost(SegmentNumber number);
  void note_lost(SegmentNumber number);
  void enter_recovery(bool with_echo);
  void enter_cwr();
  void enter_loss();
  void restart();
  void mark_timed_out();
  void begin_reduction();
  void end_reduction();
  bool in_reduction() const { return state_ == CaState::cwr || state_ == CaState::recovery; }
  std::uint32_t current_ssthresh() const;
  void begin_undo();
  bool may_undo() const;
  bool was_delayed() const;
  void undo(bool forgets_losses);
  bool try_undo_recovery();
  bool try_undo_partial(const AckState& state);
  bool try_undo_dsack();
  bool try_undo_loss(bool by_frto);
  void try_to_open(const AckState& state);
  void keep_open();
  bool any_resent() const;
  void process_probe_ack(const Acknowledgement& ack, AckState& state);
  void explain_reduction(CaState next);
  void change_state(CaState next);

  // sender_newreno.cpp
  void guess_arrival(const AckState& state);
  void limit_guess();
  void settle_guess(const AckState& state);
  void mark_head_lost(const AckState& state);

  // sender_quick_start.cpp
  void begin_quick_start(std::uint32_t rtt_us);
  void end_quick_start(std::uint32_t packets_out);
  void revert_quick_start();
  void go_on_after_quick_start();

  // sender_output.cpp
  enum class Push : std::uint8_t { all, probe };
  void send_new(Push push = Push::all);
  std::uint32_t send_burst(std::uint32_t segments);
  std::uint32_t burst_segments() const;
  void resend_lost();
  void send_after(Resend resend);
  bool must_wait_for_pacing();
  bool gathers(bool& is_cwnd_limited) const;
  std::uint32_t piece_segments() const;
  bool is_local_queue_full(std::uint32_t segments, unsigned shift) const;
  bool transmit(SegmentNumber number, bool is_resent);
  void pace_after(std::uint64_t payload_bytes, Nanoseconds allowed_before);
  void validate_window(bool is_limited);
  void note_receiver_limit(bool is_limited);
  void send_probe();
  bool schedule_probe(bool advancing);
  void on_retransmission_timeout();
  void on_reordering_timeout();
  void rearm();
  void set_timer(Timer timer, Microseconds in_us);
  std::int64_t until_timeout_us() const;

  std::uint64_t bytes_before(SegmentNumber number) const;
  std::uint32_t payload_of(SegmentNumber number) const;
  std::uint32_t stamp_ms() const { return static_cast<std::uint32_t>(now_us_ / 1000); }

  SenderSettings settings_;
  std::unique_ptr<CongestionControl> law_;
  Output& output_;

  Scoreboard board_;
  RttEstimator rtt_;
  DeliveryRate rate_;
  Rack rack_;
  Prr prr_;
  CeCount ce_count_;

  Nanoseconds now_ = 0;
  Microseconds now_us_ = 1;
  bool is_established_ = false;

  // What there is to send.
  std::uint64_t written_bytes_ = 0;
  SegmentNumber written_ = 0;     // segments
  SegmentNumber window_end_ = 0;  // first that the receiver's window does not take
  Microseconds rwnd_limited_since_us_ = 0;
  Microseconds rwnd_limited_us_ = 0;

  // The window.
  std::uint32_t cwnd_;
  std::uint32_t ssthresh_ = INFINITE_SSTHRESH;
  bool is_cwnd_limited_ = false;
  std::uint32_t max_packets_out_ = 0;
  SegmentNumber cwnd_usage_end_ = 0;
  std::uint32_t cwnd_used_ = 0;
  Microseconds cwnd_stamp_us_ = 0;

  // Recovery.
  CaState state_ = CaState::open;
  SegmentNumber high_ = 0;  // high_seq: what was sent when the state was entered
  bool has_undo_ = false;   // undo_marker is set, at
  SegmentNumber undo_marker_ = 0;
  std::int64_t undo_retrans_ = -1;      // retransmissions that have not proved needless; -1: none was sent
  std::uint32_t retrans_stamp_ms_ = 0;  // of the first retransmission; 0: none
  std::uint32_t prior_ssthresh_ = 0;    // 0: the reduction is not to be undone
  std::uint32_t echo_ms_ = 0;           // of the ACK at hand (rcv_tsecr)
  std::uint32_t latest_stamp_ms_ = 0;   // of all ACKs
  std::uint32_t dsacked_ = 0;           // segments in D-SACKs so far (dsack_dups)
  std::uint32_t lost_ = 0;              // marked lost so far
  std::uint32_t resent_ = 0;
  std::uint32_t retransmits_ = 0;  // timeouts in a row (icsk_retransmits)
  bool frto_ = false;
  bool cwr_queued_ = false;  // ECN: tell the receiver with the next new segment
  bool has_probe_ = false;   // tlp_high_seq is set, at
  SegmentNumber probe_high_ = 0;
  bool probe_was_resent_ = false;                                         // tlp_retrans
  bool probe_was_app_limited_ = false;                                    // what it sent once more
  std::array<SegmentRange, Acknowledgement::MAX_BLOCKS> sacks_before_{};  // of the ACK before

  // Timers.
  Timer timer_ = Timer::none;
  Nanoseconds timer_at_ = NEVER;
  bool paces_by_timer_ = false;
  std::uint64_t pacing_bytes_per_s_ = NO_RATE;
  Nanoseconds pacing_at_ = NEVER;
  Nanoseconds may_send_at_ = 0;  // tcp_wstamp_ns
  std::uint64_t segments_sent_ = 0;
  Microseconds last_sent_us_ = 0;
  std::uint8_t load_code_ = 0;
  std::uint16_t told_link_ = 0;
  std::uint32_t told_word_ = 0;

  // Quick-Start.
  std::uint64_t quick_start_bytes_per_s_ = 0;
  bool is_quick_starting_ = false;          // nothing of what it lets go is acknowledged yet
  SegmentNumber quick_start_end_ = 0;       // of what it has let go: a loss before it is special; 0: none
  std::uint32_t quick_start_ssthresh_ = 0;  // after such a loss; 0: there was none
};

}  // namespace clarion::sim
