// SPDX-License-Identifier: Apache-2.0
// A network in a loop, packet by packet: links with a queue behind the real data plane, and senders with a
// window as hosts have them. Deterministic. The whole propagation delay of a path is between its last link
// and its sender, where it also stands for the way forth; acknowledgements meet no queue.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <queue>
#include <random>
#include <utility>
#include <vector>

#include "core/data_plane.hpp"
#include "core/tests/data_frame.hpp"
#include "core/xcp_settings.hpp"

namespace clarion {

constexpr std::uint32_t FULL_PACKET_BYTES = 1546;
constexpr double UNLIMITED_BPS = 16e9;

struct LinkConfig {
  double capacity_bps;
  unsigned generation = 2;
};

struct FlowConfig {
  std::vector<unsigned> path;  // links in the order in which packets meet them
  double rtt_s;                // without queues
  double start_s = 0;
  std::uint32_t packet_bytes = FULL_PACKET_BYTES;
  double wanted_bps = UNLIMITED_BPS;
  double stated_x = 1;  // times the true one: other than 1 is a lie
  double packet_loss = 0;
  double echo_loss = 0;
  double wrong_echo = 0;   // share of the echoes that name any hop
  unsigned packets = 0;    // of a transfer, none of which may be lost; 0: it does not end
  double silence_s = 0;    // after a small first packet, before the others; 0: there is no such packet
  bool has_header = true;  // without one it sends `wanted_bps`, whatever comes
  double on_off_s = 0;     // without a header: sends for that long, rests for that long; 0: always
};

struct Packet {
  Frame frame;
  Meta meta;  // of the link where it waits
  std::uint32_t bytes;
  double sent_s;
  unsigned flow;
  unsigned hops;  // links behind it
};

// What a receiver answers to a packet: the total survives the loss of other echoes.
struct Echo {
  double sent_s;  // of the packet
  std::uint32_t feedback_total;
  std::uint8_t field;
};

// A port and its wire. The first packet of the queue is in transmission, and counts until it has left.
class Link {
 public:
  explicit Link(const LinkConfig& config) : generation_(config.generation) {
    set_capacity_bps(config.capacity_bps);
  }

  void set_capacity_bps(double capacity_bps) {
    capacity_bps_ = capacity_bps;
    PortConfig config;
    config.xcp =
        xcp_config(static_cast<std::uint64_t>(capacity_bps), 0.4, 0.226, 0.1, 1000, 1'000'000, generation_);
    plane_.configure(0, config);
  }

  void enqueue(double now_s, Packet packet) {
    const Ticks now = ticks(now_s);
    packet.meta = plane_.ingress(0, now, packet.frame.data(), sizeof(packet.frame));
    plane_.enqueue(0, now, queue_bytes_, packet.bytes, packet.meta);
    queue_bytes_ += packet.bytes;
    peak_queue_bytes_ = std::max(peak_queue_bytes_, queue_bytes_);
    queue_.push(std::move(packet));
  }

  Packet dequeue(double now_s) {
    Packet packet = std::move(queue_.front());
    queue_.pop();
    queue_bytes_ -= packet.bytes;
    carried_bytes_ += packet.bytes;
    plane_.dequeue(0, ticks(now_s), queue_bytes_, packet.frame.data(), packet.bytes, packet.meta);
    return packet;
  }

  std::size_t waiting() const { return queue_.size(); }
  double transmission_s() const { return queue_.front().bytes * 8 / capacity_bps_; }

  void forget_measured() {
    carried_bytes_ = 0;
    peak_queue_bytes_ = queue_bytes_;
  }
  double carried_bytes() const { return static_cast<double>(carried_bytes_); }
  double peak_queue_bytes() const { return static_cast<double>(peak_queue_bytes_); }

 private:
  static Ticks ticks(double time_s) { return static_cast<Ticks>(time_s * TICKS_PER_SECOND); }

  unsigned generation_;
  double capacity_bps_ = 0;
  DataPlane<1, 16> plane_;
  std::queue<Packet> queue_;
  std::uint64_t queue_bytes_ = 0;
  std::uint64_t carried_bytes_ = 0;
  std::uint64_t peak_queue_bytes_ = 0;
};

// Feedback changes its window; it paces a little faster than that, so that the window is what limits it.
// Without a header there is no window, and the pace is the wanted one.
class Sender {
 public:
  // The handshake has measured the RTT of who then greets.
  explicit Sender(const FlowConfig& config) : config_(config) {
    if (config.silence_s > 0) srtt_s_ = config.rtt_s;
  }

  bool may_send() const {
    const bool has_more = config_.packets == 0 || sent_ < config_.packets;
    return has_more && (!config_.has_header || in_flight_ + 1 <= cwnd_);
  }
  double next_send_s() const { return next_send_s_; }
  std::uint32_t next_bytes() const { return greets() ? GREETING_BYTES : config_.packet_bytes; }
  bool has_ended() const { return config_.packets > 0 && heard_ == config_.packets; }

  Frame send(double now_s) {
    const std::uint32_t bytes = next_bytes();
    const double silence_s = greets() ? config_.silence_s : 0;
    ++sent_;
    ++in_flight_;
    if (!config_.has_header) {
      next_send_s_ = while_on(now_s + bytes / (config_.wanted_bps / 8));
      return plain_frame(bytes);
    }
    if (srtt_s_ == 0) return data_frame(bytes, {});
    const double pace = std::min(PACING * rate(), config_.wanted_bps / 8);
    next_send_s_ = now_s + silence_s + bytes / pace;
    const double part = static_cast<double>(bytes) / config_.packet_bytes;
    const double wanted = std::max(0.0, config_.wanted_bps / 8 - rate()) / cwnd_;
    return data_frame(bytes, {srtt_s_, srtt_s_ / cwnd_ * config_.stated_x * part,
                              static_cast<std::int32_t>(wanted * part), limiting_hop_});
  }

  // A round trip after a packet has left. A loss, of it or of its echo, is noticed by what follows.
  void hear(double now_s, const std::optional<Echo>& echo) {
    --in_flight_;
    ++heard_;
    if (!echo || !config_.has_header) return;
    const double rtt_s = now_s - echo->sent_s;
    srtt_s_ += srtt_s_ == 0 ? rtt_s : (rtt_s - srtt_s_) / 8;
    limiting_hop_ = echo->field;
    const auto feedback = static_cast<std::int32_t>(echo->feedback_total - feedback_total_);
    feedback_total_ = echo->feedback_total;
    cwnd_ = std::max(1.0, cwnd_ + feedback * srtt_s_ / config_.packet_bytes);
  }

 private:
  static constexpr double PACING = 1.2;
  static constexpr double INITIAL_WINDOW = 10;
  static constexpr std::uint32_t GREETING_BYTES = 135;

  bool greets() const { return sent_ == 0 && config_.silence_s > 0; }

  double rate() const { return cwnd_ * config_.packet_bytes / srtt_s_; }  // bytes/s

  double while_on(double time_s) const {
    const double period_s = 2 * config_.on_off_s;
    if (period_s == 0 || std::fmod(time_s, period_s) < config_.on_off_s) return time_s;
    return (std::floor(time_s / period_s) + 1) * period_s;
  }

  FlowConfig config_;
  double cwnd_ = INITIAL_WINDOW;  // packets
  double srtt_s_ = 0;             // 0: not measured yet
  unsigned in_flight_ = 0;        // packets
  unsigned sent_ = 0;             // packets
  unsigned heard_ = 0;            // packets, lost ones too
  double next_send_s_ = 0;
  std::uint32_t feedback_total_ = 0;  // bytes/s, modulo 2^32
  std::uint8_t limiting_hop_ = 0;
};

class Receiver {
 public:
  Echo receive(const Packet& packet) {
    delivered_bytes_ += packet.bytes;
    feedback_total_ += static_cast<std::uint32_t>(granted_bytes_per_s(packet.frame));
    return {packet.sent_s, feedback_total_, field_of(packet.frame)};
  }

  void forget_measured() { delivered_bytes_ = 0; }
  double delivered_bytes() const { return static_cast<double>(delivered_bytes_); }

 private:
  std::uint64_t delivered_bytes_ = 0;
  std::uint32_t feedback_total_ = 0;
};

// Over some time; by the numbers of links and flows.
struct Measured {
  std::vector<double> link_bps;
  std::vector<double> peak_queue_bytes;
  std::vector<double> flow_bps;
};

class Network {
 public:
  unsigned add_link(const LinkConfig& config) {
    links_.emplace_back(config);
    return static_cast<unsigned>(links_.size() - 1);
  }

  unsigned add_flow(const FlowConfig& config) {
    const auto flow = static_cast<unsigned>(flows_.size());
    flows_.push_back({config, Sender(config), {}, {}, true, {}});
    schedule(config.start_s, What::pace, flow);
    return flow;
  }

  Link& link(unsigned number) { return links_[number]; }
  double now_s() const { return now_s_; }
  std::optional<double> ended_s(unsigned flow) const { return flows_[flow].ended_s; }
  std::size_t flows() const { return flows_.size(); }

  Measured run_for(double duration_s) {
    for (Link& link : links_) link.forget_measured();
    for (Flow& flow : flows_) flow.receiver.forget_measured();
    const double end_s = now_s_ + duration_s;
    while (!events_.empty() && events_.top().time_s <= end_s) {
      const Event event = events_.top();
      events_.pop();
      now_s_ = event.time_s;
      handle(event);
    }
    now_s_ = end_s;
    return measured_over(duration_s);
  }

 private:
  struct Flow {
    FlowConfig config;
    Sender sender;
    Receiver receiver;
    std::queue<std::optional<Echo>> echoes;  // on their way; empty: lost
    bool timer_runs;
    std::optional<double> ended_s;
  };

  enum class What { pace, transmitted, heard };

  struct Event {
    double time_s;
    std::uint64_t number;  // of two at the same time the one that was scheduled first comes first
    What what;
    unsigned of;                                // a link if transmitted, else a flow
    bool operator<(const Event& other) const {  // the queue's top is the greatest
      return time_s != other.time_s ? time_s > other.time_s : number > other.number;
    }
  };

  void schedule(double time_s, What what, unsigned of) { events_.push({time_s, scheduled_++, what, of}); }

  void handle(const Event& event) {
    if (event.what == What::transmitted) {
      transmitted(event.of);
      return;
    }
    Flow& flow = flows_[event.of];
    if (event.what == What::pace) {
      flow.timer_runs = false;
    } else {
      flow.sender.hear(now_s_, flow.echoes.front());
      flow.echoes.pop();
      if (flow.sender.has_ended()) flow.ended_s = now_s_;
    }
    send_what_may_be_sent(event.of);
  }

  void send_what_may_be_sent(unsigned number) {
    Flow& flow = flows_[number];
    while (flow.sender.may_send() && flow.sender.next_send_s() <= now_s_) {
      const std::uint32_t bytes = flow.sender.next_bytes();
      forward({flow.sender.send(now_s_), {}, bytes, now_s_, number, 0});
    }
    if (!flow.sender.may_send() || flow.timer_runs) return;
    flow.timer_runs = true;
    schedule(flow.sender.next_send_s(), What::pace, number);
  }

  void forward(Packet packet) {
    const std::vector<unsigned>& path = flows_[packet.flow].config.path;
    if (packet.hops == path.size()) {
      arrive(packet);
      return;
    }
    const unsigned number = path[packet.hops];
    Link& link = links_[number];
    link.enqueue(now_s_, std::move(packet));
    if (link.waiting() == 1) schedule(now_s_ + link.transmission_s(), What::transmitted, number);
  }

  void transmitted(unsigned number) {
    Link& link = links_[number];
    Packet packet = link.dequeue(now_s_);
    if (link.waiting() > 0) schedule(now_s_ + link.transmission_s(), What::transmitted, number);
    ++packet.hops;
    forward(std::move(packet));
  }

  void arrive(const Packet& packet) {
    Flow& flow = flows_[packet.flow];
    std::optional<Echo> echo;
    if (!happens(flow.config.packet_loss)) echo = flow.receiver.receive(packet);
    if (echo && happens(flow.config.wrong_echo))
      echo->field = static_cast<std::uint8_t>(random_() & FIELD_MASK);
    if (happens(flow.config.echo_loss)) echo.reset();
    flow.echoes.push(echo);
    schedule(now_s_ + flow.config.rtt_s, What::heard, packet.flow);
  }

  // Not the distributions of the standard library: theirs differ from one library to the next.
  bool happens(double probability) {
    return probability > 0 && static_cast<double>(random_() >> 11) * 0x1p-53 < probability;
  }

  Measured measured_over(double duration_s) const {
    Measured measured;
    for (const Link& link : links_) {
      measured.link_bps.push_back(link.carried_bytes() * 8 / duration_s);
      measured.peak_queue_bytes.push_back(link.peak_queue_bytes());
    }
    for (const Flow& flow : flows_) {
      measured.flow_bps.push_back(flow.receiver.delivered_bytes() * 8 / duration_s);
    }
    return measured;
  }

  std::vector<Link> links_;
  std::vector<Flow> flows_;
  std::priority_queue<Event> events_;
  std::uint64_t scheduled_ = 0;
  std::mt19937_64 random_{1};
  double now_s_ = 0;
};

}  // namespace clarion
