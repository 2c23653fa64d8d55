// SPDX-License-Identifier: Apache-2.0
// A sender alone, against a trace of packets written by hand: what is acknowledged when, and what has to come
// out. Round trip 100 ms, packets of 1000 bytes, a law that keeps its window.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "sim/tcp/sender.hpp"

namespace clarion::sim {

constexpr Nanoseconds MS = 1'000'000;
constexpr Nanoseconds START = 1000 * MS;  // of the connection
constexpr std::uint32_t RTT_US = 100'000;

// Says what it was asked, and halves at a loss. The window is set by the test.
class TestLaw final : public CongestionControl {
 public:
  explicit TestLaw(bool owns) : owns_(owns) {}
  void start(Sender& /*sender*/) override {}
  bool owns_window() const override { return owns_; }
  void on_ack(Sender& /*sender*/, const RateSample& sample) override { last = sample; }
  void grow(Sender& /*sender*/, std::uint32_t acked) override { grown += acked; }
  void on_acked(Sender& /*sender*/, std::uint32_t /*packets*/, std::int64_t rtt_us) override {
    last_rtt_us = rtt_us;
  }
  std::uint32_t ssthresh(Sender& sender) override {
    before = sender.cwnd();
    return std::max(sender.cwnd() / 2, 2U);
  }
  std::uint32_t undo_cwnd(Sender& sender) override { return std::max(sender.cwnd(), before); }
  void set_state(Sender& /*sender*/, CaState next) override { states.push_back(next); }
  void on_event(Sender& /*sender*/, CaEvent event) override { events.push_back(event); }
  void on_lost(Sender& sender, const Segment& segment) override {
    lost.push_back({sender.lost(), segment.stamp.in_flight, segment.stamp.lost});
  }

  RateSample last;
  std::uint32_t grown = 0;
  std::int64_t last_rtt_us = 0;
  std::uint32_t before = 0;
  std::vector<CaState> states;
  std::vector<CaEvent> events;

  // A segment marked lost: how many there were so far, with it; what its stamp says.
  struct Lost {
    std::uint32_t so_far, in_flight, before;

    bool operator==(const Lost& other) const {
      return so_far == other.so_far && in_flight == other.in_flight && before == other.before;
    }
  };
  std::vector<Lost> lost;

 private:
  bool owns_;
};

// A segment that came out: when, in ms since the start, and whether it was sent before.
struct Sent {
  double at_ms;
  SegmentNumber number;
  bool is_resent;

  bool operator==(const Sent& other) const {
    return at_ms == other.at_ms && number == other.number && is_resent == other.is_resent;
  }
};
inline std::ostream& operator<<(std::ostream& out, const Sent& sent) {
  return out << sent.number << (sent.is_resent ? " again" : "") << " at " << sent.at_ms << " ms";
}

class SenderTrace : public ::testing::Test, public Sender::Output {
 protected:
  // Connects with a window of `cwnd`; the application has `segments`.
  void open(std::uint32_t cwnd, std::uint64_t segments, bool owns_window = false, bool ecn = false) {
    SenderSettings settings;
    settings.ecn = ecn;
    settings.accurate_ecn = accurate_ecn_;
    settings.sack = sack_;
    settings.max_burst = max_burst_;
    settings.mss_bytes = 1000;
    settings.initial_cwnd = cwnd;
    auto law = std::make_unique<TestLaw>(owns_window);
    law_ = law.get();
    sender_ = std::make_unique<Sender>(settings, std::move(law), *this);
    sender_->open_window(1'000'000);
    sender_->write_up_to(START, segments * 1000);
    sender_->establish(START, RTT_US);
  }

  // Everything that timers do up to `at_ms`.
  void run_until(double at_ms) {
    const Nanoseconds until = START + static_cast<Nanoseconds>(at_ms * 1e6);
    while (sender_->next_timer() <= until) sender_->on_timer(sender_->next_timer());
  }

  // An ACK arrives; its time stamp echo is that of the segment sent `echo_ms` after the start.
  void ack(double at_ms, SegmentNumber number, const std::vector<SegmentRange>& sacks = {},
           double echo_ms = 0) {
    run_until(at_ms);
    Acknowledgement ack;
    ack.ack = number;
    ack.window = 1'000'000;
    ack.echo_ms = static_cast<std::uint32_t>(START / MS) + static_cast<std::uint32_t>(echo_ms);
    for (const SegmentRange& range : sacks) ack.sacks[ack.blocks++] = range;
    sender_->on_acknowledgement(START + static_cast<Nanoseconds>(at_ms * 1e6), ack);
  }

  // The same with an echo of a congestion mark.
  void ack_marked(double at_ms, SegmentNumber number) {
    run_until(at_ms);
    Acknowledgement ack;
    ack.ack = number;
    ack.window = 1'000'000;
    ack.echo_ms = static_cast<std::uint32_t>(START / MS);
    ack.has_ece = true;
    sender_->on_acknowledgement(START + static_cast<Nanoseconds>(at_ms * 1e6), ack);
  }
  std::size_t cwr_marks() const { return cwr_marks_; }

  // What has come out since this was asked last.
  std::vector<Sent> sent() { return std::exchange(sent_, {}); }
  std::vector<SegmentNumber> numbers() {
    std::vector<SegmentNumber> found;
    for (const Sent& each : sent()) found.push_back(each.number);
    return found;
  }

  Sender& sender() { return *sender_; }
  TestLaw& law() { return *law_; }

  bool sack_ = true;
  bool accurate_ecn_ = false;
  std::uint32_t max_burst_ = 1;
  bool is_device_full_ = false;
  std::uint64_t waiting_bytes_ = 0;

 private:
  bool transmit(const OutgoingSegment& segment, Nanoseconds now) override {
    if (is_device_full_) return false;
    cwr_marks_ += segment.has_cwr ? 1 : 0;
    sent_.push_back({static_cast<double>(now - START) / 1e6, segment.number, segment.is_resent});
    return true;
  }
  void note_timeout() override {}
  std::uint64_t waiting_bytes() const override { return waiting_bytes_; }

  std::unique_ptr<Sender> sender_;
  TestLaw* law_ = nullptr;
  std::vector<Sent> sent_;
  std::size_t cwr_marks_ = 0;
};

}  // namespace clarion::sim
