// SPDX-License-Identifier: Apache-2.0
// A deterministic bottleneck for closed-loop tests: N flows of full packets, one queue, one lossy wire.
//
// Data: sender -> queue (rate, limit) -> wire (delay, loss) -> receiver; ACKs come back after the other half
// of the round trip and are never lost. A packet counts as lost when three later ones are acknowledged, and
// is sent again later, so `delivered` counts distinct packets that arrived. Totals and XCP
// grants are exact; the router is the float form of Katabi et al. 2002.
#ifndef CLARION_TESTS_CC_SIMULATION_HPP
#define CLARION_TESTS_CC_SIMULATION_HPP

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <queue>
#include <random>
#include <utility>
#include <vector>

#include "cc/boost.h"
#include "cc/fast.h"
#include "cc/xcp.h"
#include "testing.hpp"

namespace clarion::testing {

class Law {
 public:
  virtual ~Law() = default;
  virtual void init(const cc_params&, const cc_sample&, flow&) = 0;
  virtual void on_ack(const cc_params&, cc_sample&, flow&) = 0;
  virtual void on_enter_recovery(const cc_params&, const cc_sample&, flow&) = 0;
  virtual void on_exit_recovery() = 0;
  virtual void on_timeout(const cc_params&, const cc_sample&, flow&) = 0;
  virtual cc_control control(const cc_params&, const cc_sample&) = 0;
};

#define CLARION_TEST_LAW(Name, law)                                                                         \
  class Name : public Law {                                                                                 \
   public:                                                                                                  \
    struct law state{};                                                                                     \
    void init(const cc_params& p, const cc_sample& s, flow& f) override { law##_init(&state, &p, &s, &f); } \
    void on_ack(const cc_params& p, cc_sample& s, flow& f) override {                                       \
      window_begin_ack(&state.w, &p, &s);                                                                   \
      law##_on_ack(&state, &p, &s, &f);                                                                     \
      window_end_ack(&state.w, &s);                                                                         \
    }                                                                                                       \
    void on_enter_recovery(const cc_params& p, const cc_sample& s, flow& f) override {                      \
      law##_on_enter_recovery(&state, &p, &s, &f);                                                          \
    }                                                                                                       \
    void on_exit_recovery() override { law##_on_exit_recovery(&state); }                                    \
    void on_timeout(const cc_params& p, const cc_sample& s, flow& f) override {                             \
      law##_on_timeout(&state, &p, &s, &f);                                                                 \
    }                                                                                                       \
    cc_control control(const cc_params& p, const cc_sample& s) override {                                   \
      return law##_control(&state, &p, &s);                                                                 \
    }                                                                                                       \
  }
CLARION_TEST_LAW(XcpLaw, xcp);
CLARION_TEST_LAW(BoostLaw, boost);
CLARION_TEST_LAW(FastLaw, fast);
#undef CLARION_TEST_LAW

struct Path {
  double rate_bytes_per_s = 12.5e6;
  double rtt_s = 0.1;
  int queue_packets = 1000;
  double wire_loss = 0;
  bool has_xcp_router = false;
  // Behind a queue that it does not see, the router hands out this much; 0: the queue is its own.
  double router_bytes_per_s = 0;
  // Bursts of the wire (Gilbert-Elliott): chances per packet to go bad and good again; 0: none.
  double burst_begin = 0, burst_end = 1;
  // A wire that lies: what the queue drops counts as corrupted.
  bool is_lying = false;
  // A policer behind the queue, a token bucket; its drops count as corrupted, too. 0: none.
  double policer_bytes_per_s = 0, policer_burst_bytes = 30000;
  // From then on the base round trip is another one. 0: never.
  double step_at_s = 0, step_rtt_s = 0;
};

class Simulation {
 public:
  Simulation(Path path, cc_params params, std::uint32_t seed = 1)
      : path_(path), params_(params), random_(seed) {}

  // `is_aware`: header on both ends; `has_tags`: and loss causes wanted; `rtt_s`: 0 for that of the path.
  int add_flow(std::unique_ptr<Law> law, double start_s, bool is_aware, bool has_tags, double rtt_s = 0) {
    auto sender = std::make_unique<Sender>();
    sender->base_rtt_s = rtt_s > 0 ? rtt_s : path_.rtt_s;
    sender->law = std::move(law);
    sender->kernel.id.aware = is_aware;
    sender->kernel.id.tags = has_tags;
    senders_.push_back(std::move(sender));
    schedule(start_s, Kind::kStart, static_cast<int>(senders_.size()) - 1, 0);
    return static_cast<int>(senders_.size()) - 1;
  }

  void run_until(double end_s) {
    while (!events_.empty() && events_.top().at_s <= end_s) {
      Event event = events_.top();
      events_.pop();
      now_s_ = event.at_s;
      handle(event);
    }
    now_s_ = end_s;
  }

  std::uint32_t delivered(int i) const { return senders_[i]->delivered; }
  std::uint32_t lost(int i) const { return senders_[i]->lost; }
  const flow_stats& stats(int i) const { return senders_[i]->kernel.stats; }
  std::uint32_t cwnd_packets(int i) const { return senders_[i]->control.cwnd_packets; }
  std::uint64_t queue_drops() const { return queue_drops_; }
  int queue_max_packets() const { return queue_max_; }
  double queue_mean_packets() const {
    double since_change = static_cast<double>(queue_.size()) * (now_s_ - queue_changed_s_);
    return (queue_area_ + since_change) / (now_s_ - statistics_start_s_);
  }
  void restart_queue_statistics() {
    queue_max_ = 0;
    queue_area_ = 0;
    queue_changed_s_ = statistics_start_s_ = now_s_;
  }
  std::size_t queue_packets() const { return queue_.size(); }

 private:
  enum class Kind { kStart, kPace, kDeparture, kAck, kTimeout };
  struct Packet {
    int flow;
    std::uint64_t number;
    double sent_s;
    std::uint32_t prior_delivered;
    std::int64_t requested, granted;  // bytes/s
    double rtt_s, x;
    std::uint16_t corrupt, congest;
    std::uint16_t missing;  // dropped by a lying queue before it, as the check behind the queue finds
  };
  struct Event {
    double at_s;
    std::uint64_t order;
    Kind kind;
    int flow;
    std::uint64_t number;
    Packet packet;
    bool operator<(const Event& other) const {
      return at_s != other.at_s ? at_s > other.at_s : order > other.order;
    }
  };
  struct Sender {
    std::unique_ptr<Law> law;
    flow kernel{};
    cc_control control{};
    std::map<std::uint64_t, double> outstanding;  // number -> send time
    std::uint64_t next_number = 0, high = 0, highest_acked = 0, progress = 0;
    std::uint32_t delivered = 0, lost = 0;
    double base_rtt_s = 0, srtt_s = 0, min_rtt_s = 0, next_send_s = 0;
    bool is_recovering = false, is_pace_pending = false;
    std::uint16_t corrupt = 0, congest = 0, missing = 0;
    std::uint32_t granted = 0;
  };

  static constexpr int kFullLen = 1546, kMss = 1448;

  void schedule(double at_s, Kind kind, int flow, std::uint64_t number, Packet packet = {}) {
    events_.push({at_s, order_++, kind, flow, number, packet});
  }

  void handle(const Event& event) {
    Sender& sender = *senders_[event.flow];
    switch (event.kind) {
      case Kind::kStart: {
        cc_sample s = sample(sender);
        sender.law->init(params_, s, sender.kernel);
        sender.control = sender.law->control(params_, s);
        arm_timeout(event.flow);
        break;
      }
      case Kind::kPace:
        sender.is_pace_pending = false;
        break;
      case Kind::kDeparture:
        depart();
        return;
      case Kind::kAck:
        acknowledge(sender, event.packet);
        break;
      case Kind::kTimeout:
        check_timeout(event.flow, event.number);
        break;
    }
    send(event.flow);
  }

  cc_sample sample(const Sender& sender) const {
    cc_sample s{};
    s.now_us = static_cast<__u64>(now_s_ * 1e6);
    s.mss_bytes = kMss;
    s.full_len_bytes = kFullLen;
    s.srtt_us = static_cast<__u32>(sender.srtt_s * 1e6);
    s.min_rtt_us = static_cast<__u32>(sender.min_rtt_s * 1e6);
    s.delivered_packets = sender.delivered;
    s.lost_packets = sender.lost;
    s.in_flight_packets = static_cast<__u32>(sender.outstanding.size());
    s.outstanding_packets = s.in_flight_packets;
    s.in_recovery = sender.is_recovering;
    bool has_hole = !sender.outstanding.empty() && sender.outstanding.begin()->first < sender.highest_acked;
    s.is_open = !sender.is_recovering && !has_hole;
    s.has_feedback = sender.kernel.id.aware;
    s.has_tags = sender.kernel.id.aware && sender.kernel.id.tags && sender.kernel.echo.nr_echoes;
    return s;
  }

  void send(int i) {
    Sender& sender = *senders_[i];
    while (sender.outstanding.size() < sender.control.cwnd_packets) {
      if (sender.control.is_paced && now_s_ < sender.next_send_s) {
        if (!sender.is_pace_pending) schedule(sender.next_send_s, Kind::kPace, i, 0);
        sender.is_pace_pending = true;
        return;
      }
      sender.next_send_s =
          std::max(now_s_, sender.next_send_s) + kMss / static_cast<double>(sender.control.bytes_per_s);
      transmit(i);
    }
  }

  void transmit(int i) {
    Sender& sender = *senders_[i];
    const flow_request& request = sender.kernel.request;
    constexpr double kQ28 = 268435456.0;
    Packet packet{i, sender.next_number++, now_s_, sender.delivered, request.delta_throughput, 0, 0, 0, 0, 0,
                  0};
    if (sender.kernel.id.aware && request.wanted) {
      packet.rtt_s = request.rtt / kQ28;
      packet.x = request.x / kQ28;
    }
    sender.outstanding[packet.number] = now_s_;
    router_arrival(packet);
    if (static_cast<int>(queue_.size()) >= path_.queue_packets) {
      (path_.is_lying ? sender.missing : sender.congest)++;
      queue_drops_++;
      return;
    }
    packet.congest = sender.congest;
    packet.missing = std::exchange(sender.missing, 0);
    note_queue_change();
    queue_.push_back(packet);
    queue_max_ = std::max(queue_max_, static_cast<int>(queue_.size()));
    if (queue_.size() == 1) schedule(now_s_ + kFullLen / path_.rate_bytes_per_s, Kind::kDeparture, i, 0);
  }

  // Packet-seconds up to now, before the queue gets longer or shorter.
  void note_queue_change() {
    queue_area_ += static_cast<double>(queue_.size()) * (now_s_ - queue_changed_s_);
    queue_changed_s_ = now_s_;
  }

  void depart() {
    Packet packet = queue_.front();
    note_queue_change();
    queue_.pop_front();
    queue_low_ = std::min(queue_low_, queue_.size());
    if (!queue_.empty())
      schedule(now_s_ + kFullLen / path_.rate_bytes_per_s, Kind::kDeparture, queue_.front().flow, 0);
    Sender& sender = *senders_[packet.flow];
    router_departure(packet);
    sender.corrupt += packet.missing;
    if (is_corrupted() || is_policed()) {
      sender.corrupt++;
      return;
    }
    packet.corrupt = sender.corrupt;
    sender.granted += static_cast<std::uint32_t>(packet.granted);
    packet.granted = sender.granted;
    if (path_.step_at_s > 0 && now_s_ >= path_.step_at_s) sender.base_rtt_s = path_.step_rtt_s;
    schedule(now_s_ + sender.base_rtt_s, Kind::kAck, packet.flow, packet.number, packet);
  }

  bool chance(double share) { return std::uniform_real_distribution<>(0, 1)(random_) < share; }

  bool is_corrupted() {
    if (path_.burst_begin > 0) is_burst_ = chance(is_burst_ ? 1 - path_.burst_end : path_.burst_begin);
    return is_burst_ || chance(path_.wire_loss);
  }

  bool is_policed() {
    if (path_.policer_bytes_per_s <= 0) return false;
    tokens_ =
        std::min(path_.policer_burst_bytes, tokens_ + (now_s_ - tokens_at_s_) * path_.policer_bytes_per_s);
    tokens_at_s_ = now_s_;
    if (tokens_ < kFullLen) {
      policed_++;
      return true;
    }
    tokens_ -= kFullLen;
    return false;
  }

  void acknowledge(Sender& sender, const Packet& packet) {
    if (!sender.outstanding.erase(packet.number)) return;
    sender.delivered++;
    sender.progress++;
    sender.highest_acked = std::max(sender.highest_acked, packet.number);
    if (sender.kernel.id.aware) {
      sender.kernel.echo.nr_echoes++;
      sender.kernel.echo.reverse_feedback = static_cast<__u32>(packet.granted);
      sender.kernel.echo.rev_corrupt = packet.corrupt;
      sender.kernel.echo.rev_congest = packet.congest;
      sender.kernel.echo.regulated = path_.has_xcp_router;
    }
    double rtt_s = now_s_ - packet.sent_s;
    sender.srtt_s = sender.srtt_s ? sender.srtt_s + (rtt_s - sender.srtt_s) / 8 : rtt_s;
    sender.min_rtt_s = sender.min_rtt_s ? std::min(sender.min_rtt_s, rtt_s) : rtt_s;

    auto outstanding = static_cast<__u32>(sender.outstanding.size()) + 1;
    bool has_new_loss = mark_losses(sender);
    if (has_new_loss && !sender.is_recovering) {
      sender.high = sender.next_number;
      sender.law->on_enter_recovery(params_, sample(sender), sender.kernel);
      sender.is_recovering = true;
    } else if (sender.is_recovering && packet.number >= sender.high) {
      sender.law->on_exit_recovery();
      sender.is_recovering = false;
    }
    cc_sample s = sample(sender);
    s.acked_packets = 1;
    s.outstanding_packets = outstanding;
    s.has_delivery = 1;
    s.prior_delivered = packet.prior_delivered;
    s.rtt_us = static_cast<__u32>(rtt_s * 1e6);
    sender.law->on_ack(params_, s, sender.kernel);
    sender.control = sender.law->control(params_, s);
  }

  // Packets overtaken by three later ones are lost.
  static bool mark_losses(Sender& sender) {
    bool has_new = false;
    while (!sender.outstanding.empty() && sender.outstanding.begin()->first + 3 <= sender.highest_acked) {
      sender.outstanding.erase(sender.outstanding.begin());
      sender.lost++;
      has_new = true;
    }
    return has_new;
  }

  void arm_timeout(int i) {
    Sender& sender = *senders_[i];
    schedule(now_s_ + 3 * std::max(sender.srtt_s, sender.base_rtt_s), Kind::kTimeout, i, sender.progress);
  }

  void check_timeout(int i, std::uint64_t progress_then) {
    Sender& sender = *senders_[i];
    if (sender.progress == progress_then && !sender.outstanding.empty()) {
      sender.lost += static_cast<std::uint32_t>(sender.outstanding.size());
      sender.outstanding.clear();
      sender.is_recovering = false;
      cc_sample s = sample(sender);
      sender.law->on_timeout(params_, s, sender.kernel);
      sender.control = sender.law->control(params_, s);
    }
    arm_timeout(i);
  }

  // --- XCP router, float form ---

  void router_arrival(const Packet& packet) {
    if (!path_.has_xcp_router) return;
    input_ += kFullLen;
    if (packet.rtt_s > 0) {
      sum_x_ += packet.x;
      sum_x_rtt_ += packet.x * packet.rtt_s;
    }
    if (now_s_ >= interval_end_s_) end_interval();
  }

  void end_interval() {
    double interval = now_s_ - interval_start_s_;
    double avg_rtt = sum_x_ > 0 ? sum_x_rtt_ / sum_x_ : path_.rtt_s;
    double rate = interval > 0 ? (path_.router_bytes_per_s > 0 ? output_ : input_) / interval : 0;
    double persistent = static_cast<double>(std::min(queue_low_, queue_.size())) * kFullLen;
    double capacity = path_.rate_bytes_per_s;
    if (path_.router_bytes_per_s > 0) {
      capacity = path_.router_bytes_per_s;
      persistent = 0;
    }
    double phi = 0.4 * (capacity - rate) - 0.226 * persistent / avg_rtt;
    double shuffle = std::max(0.0, 0.1 * rate - std::abs(phi));
    positive_ = std::max(phi, 0.0) + shuffle;
    negative_ = std::max(-phi, 0.0) + shuffle;
    cp_ = sum_x_ > 0 ? positive_ / sum_x_ : 0;
    cn_ = input_ > 0 ? negative_ / input_ : 0;
    input_ = output_ = sum_x_ = sum_x_rtt_ = 0;
    queue_low_ = queue_.size();
    interval_start_s_ = now_s_;
    interval_end_s_ = now_s_ + std::clamp(avg_rtt, 0.001, 1.0);
  }

  void router_departure(Packet& packet) {
    packet.granted = packet.requested;
    output_ += kFullLen;
    if (!path_.has_xcp_router) return;
    double p = std::min(positive_, cp_ * packet.x), n = std::min(negative_, cn_ * kFullLen);
    if (static_cast<double>(packet.requested) < p - n) {
      n = std::min(negative_, n + (p - n) - static_cast<double>(packet.requested));
      p = static_cast<double>(packet.requested) + n;
    }
    packet.granted = static_cast<std::int64_t>(p - n);
    positive_ = std::max(0.0, positive_ - p);
    negative_ = std::max(0.0, negative_ - n);
  }

  Path path_;
  cc_params params_;
  std::mt19937 random_;
  bool is_burst_ = false;
  double tokens_ = 0, tokens_at_s_ = 0;
  std::uint64_t policed_ = 0;
  double now_s_ = 0;
  std::uint64_t order_ = 0, queue_drops_ = 0;
  std::priority_queue<Event> events_;
  std::vector<std::unique_ptr<Sender>> senders_;
  std::deque<Packet> queue_;
  int queue_max_ = 0;
  double queue_area_ = 0, queue_changed_s_ = 0, statistics_start_s_ = 0;
  std::size_t queue_low_ = 0;
  double input_ = 0, output_ = 0, sum_x_ = 0, sum_x_rtt_ = 0, positive_ = 0, negative_ = 0, cp_ = 0, cn_ = 0;
  double interval_start_s_ = 0, interval_end_s_ = 0;
};

}  // namespace clarion::testing

#endif  // CLARION_TESTS_CC_SIMULATION_HPP
