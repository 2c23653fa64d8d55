// SPDX-License-Identifier: Apache-2.0
// XCP's efficiency and fairness controllers (Katabi, Handley and Rohrs 2002, section 3.5) in the terms of
// draft-falk-xcp-spec-03, in real numbers and without a frame: what the variants of XCP are written on. Not
// what a port of Clarion does for XCP: that is core/, in integers, by docs/datapath.md.
//
// Differs from the draft: nothing has a timer, so an interval ends with the first arrival after its time, and
// rates are over the time that has really passed; before anything is known a round trip counts as 100 ms.
// Both as in the core. What only variants use: own flows (iXCP) and the uptake (P-XCP).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "../clock.hpp"

namespace clarion::emu {

struct XcpGains {
  double alpha = 0.4;   // of the spare rate that is handed out per round trip
  double beta = 0.226;  // of the standing queue that is taken back
  double gamma = 0.1;   // of the traffic that changes hands
};

// What a packet says of its flow, in bytes and seconds.
struct XcpPacket {
  double bytes = 0;
  double rtt_s = 0;  // 0: not known
  double x_s = 0;    // bytes over the flow's rate
};

// Of the arrivals of an interval.
struct XcpSums {
  double input_bytes = 0;
  double x_s = 0;  // over the time of the interval: the number of flows
  double x_rtt_s2 = 0;

  void add(const XcpPacket& packet) {
    constexpr double MAX_RTT_S = 1;
    input_bytes += packet.bytes;
    if (packet.rtt_s <= 0) return;
    x_s += packet.x_s;
    x_rtt_s2 += packet.x_s * std::min(packet.rtt_s, MAX_RTT_S);
  }
};

// The least that has waited at any time of a window: what drains within that time is a burst.
class StandingQueue {
 public:
  // So much waits from `now` on.
  void change(Nanoseconds now, double bytes, Nanoseconds window_ns) {
    close(now, window_ns);
    bytes_ = bytes;
    least_bytes_ = std::min(least_bytes_, bytes);
  }

  void close(Nanoseconds now, Nanoseconds window_ns) {
    if (now - began_ < window_ns) return;
    standing_bytes_ = least_bytes_;
    least_bytes_ = bytes_;
    began_ = now;
  }

  double bytes() const { return bytes_; }
  double standing_bytes() const { return standing_bytes_; }  // in the last window that is over

 private:
  Nanoseconds began_ = 0;
  double bytes_ = 0;
  double least_bytes_ = 0;
  double standing_bytes_ = 0;
};

// What an interval hands out and takes back, bytes/s, and the part of a packet.
class XcpPools {
 public:
  void fill(double change, double shuffled, const XcpSums& over) {
    positive_ = std::max(change, 0.0) + shuffled;
    negative_ = std::max(-change, 0.0) + shuffled;
    per_x_ = over.x_s > 0 ? positive_ / over.x_s : 0;
    per_byte_ = over.input_bytes > 0 ? negative_ / over.input_bytes : 0;
    gives_ = takes_ = true;
  }

  // By the gains of the interval, whatever is left.
  double offer(const XcpPacket& packet) const { return per_x_ * packet.x_s - per_byte_ * packet.bytes; }

  // The feedback of a packet that asks for `wanted`: at most that. Who asks for less keeps it, and the pools
  // have the difference. A pool that is spent is closed until the next interval.
  double grant(const XcpPacket& packet, double wanted) {
    double given = gives_ ? std::min(positive_, per_x_ * packet.x_s) : 0;
    double taken = takes_ ? std::min(negative_, per_byte_ * packet.bytes) : 0;
    const double feedback = std::min(given - taken, wanted);
    taken = std::min(negative_, taken + (given - taken - feedback));
    given = feedback + taken;
    positive_ = std::max(0.0, positive_ - given);
    negative_ = std::max(0.0, negative_ - taken);
    gives_ = gives_ && positive_ > 0;
    takes_ = takes_ && negative_ > 0;
    return feedback;
  }

  double positive() const { return positive_; }
  double negative() const { return negative_; }

 private:
  double positive_ = 0;
  double negative_ = 0;
  double per_x_ = 0;     // of the positive one
  double per_byte_ = 0;  // of the negative one
  bool gives_ = false;   // the positive one is not spent
  bool takes_ = false;
};

// One link's. A flow may be among those that feedback is meant for, or not: XCP itself means it for all.
class XcpControl {
 public:
  XcpControl(const XcpGains& gains, double capacity_bytes_per_s)
      : gains_(gains), capacity_bytes_per_s_(capacity_bytes_per_s) {}

  void set_capacity(double bytes_per_s) { capacity_bytes_per_s_ = bytes_per_s; }

  // The part of the flows that takes what is handed out; so much more is, from the next interval on.
  void set_uptake(double part) { uptake_ = part; }

  // A packet comes; `own`: the feedback of the next interval is meant for its flow.
  void arrive(Nanoseconds now, const XcpPacket& packet, bool own = true) {
    queue_.close(now, queue_window_ns());
    if (!has_begun_) {
      has_begun_ = true;
      began_ = now;
    } else if (is_due(now)) {
      step(seconds(now - began_));
      began_ = now;
    }
    all_.add(packet);
    if (own) own_.add(packet);
  }

  // Whether an arrival at `now` ends the interval.
  bool is_due(Nanoseconds now) const { return has_begun_ && now - began_ >= interval_ns(); }

  void queue_is(Nanoseconds now, double bytes) { queue_.change(now, bytes, queue_window_ns()); }

  double offer(const XcpPacket& packet) const { return pools_.offer(packet); }
  double grant(const XcpPacket& packet, double wanted) { return pools_.grant(packet, wanted); }

  // As of the last interval.
  double flows() const { return flows_; }
  double own_flows() const { return own_flows_; }
  double change() const { return change_; }  // of all traffic that is wanted, bytes/s
  double avg_rtt_s() const { return avg_rtt_s_; }
  double standing_bytes() const { return queue_.standing_bytes(); }
  const XcpPools& pools() const { return pools_; }

  Nanoseconds interval_ns() const {
    return nanoseconds(std::clamp(avg_rtt_s_, MIN_INTERVAL_S, MAX_INTERVAL_S));
  }

 private:
  static constexpr double MIN_INTERVAL_S = 0.001;
  static constexpr double MAX_INTERVAL_S = 1;
  static constexpr double MIN_QUEUE_WINDOW_S = 0.002;
  static constexpr double FIRST_RTT_S = 0.1;

  static double seconds(Nanoseconds ns) { return static_cast<double>(ns) / static_cast<double>(SECOND_NS); }
  static Nanoseconds nanoseconds(double s) {
    return static_cast<Nanoseconds>(std::llround(s * static_cast<double>(SECOND_NS)));
  }

  Nanoseconds queue_window_ns() const {
    const double drains_s = queue_.bytes() / capacity_bytes_per_s_;
    return nanoseconds(std::max(MIN_QUEUE_WINDOW_S, (avg_rtt_s_ - drains_s) / 2));
  }

  // Less than half of one flow is one that only looks like that now and then; to hand out all for it would
  // give it far too much.
  const XcpSums& meant(double elapsed_s) const { return own_.x_s < elapsed_s / 2 ? all_ : own_; }

  void step(double elapsed_s) {
    if (all_.x_s > 0) avg_rtt_s_ = all_.x_rtt_s2 / all_.x_s;
    const double spare = capacity_bytes_per_s_ - all_.input_bytes / elapsed_s;
    change_ = gains_.alpha * spare - gains_.beta * queue_.standing_bytes() / avg_rtt_s_;
    if (change_ > 0) change_ /= uptake_;
    const XcpSums& over = meant(elapsed_s);
    const double shuffled = std::max(0.0, gains_.gamma * over.input_bytes / elapsed_s - std::abs(change_));
    pools_.fill(change_, shuffled, over);
    flows_ = all_.x_s / elapsed_s;
    own_flows_ = own_.x_s / elapsed_s;
    all_ = own_ = {};
  }

  XcpGains gains_;
  double capacity_bytes_per_s_;
  double uptake_ = 1;
  bool has_begun_ = false;
  Nanoseconds began_ = 0;  // the interval
  XcpSums all_;
  XcpSums own_;
  StandingQueue queue_;
  XcpPools pools_;
  double avg_rtt_s_ = FIRST_RTT_S;
  double change_ = 0;
  double flows_ = 0;
  double own_flows_ = 0;
};

}  // namespace clarion::emu
