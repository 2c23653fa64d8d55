// SPDX-License-Identifier: Apache-2.0
// The core in a loop with ideal senders: paced flows that add every grant to their rate one RTT later.
// Newcomers must fill the link, share it evenly and leave next to no queue, from slow and near to fast and
// far. Flows that start together on equal paths stay equal under any feedback, so the fairness controller is
// judged by flows that join a full link one after another, and by near and far ones together. A wrong sign,
// unit, scale or a bias in rounding shows here even if every part does what it says.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <ostream>
#include <queue>
#include <vector>

#include "core/data_plane.hpp"
#include "core/tests/data_frame.hpp"
#include "core/xcp_settings.hpp"

namespace clarion {
namespace {

constexpr std::uint32_t LENGTH = 1546;

struct Flow {
  double rtt_s;
  double start_s;
};

struct Path {
  double capacity_bps;
  std::vector<Flow> flows;
  double duration_s;
  std::uint64_t min_interval_us = 1000;
  double least_utilisation = 0.98;

  double longest_rtt_s() const {
    double longest = 0;
    for (const Flow& flow : flows) longest = std::max(longest, flow.rtt_s);
    return longest;
  }
  double last_start_s() const {
    double last = 0;
    for (const Flow& flow : flows) last = std::max(last, flow.start_s);
    return last;
  }
};

// Spread over the first round trip.
Path together(double capacity_bps, double rtt_s, unsigned flows, double rounds,
              std::uint64_t min_interval_us = 1000, double least_utilisation = 0.98) {
  Path path{capacity_bps, {}, rtt_s * rounds, min_interval_us, least_utilisation};
  for (unsigned flow = 0; flow < flows; ++flow) path.flows.push_back({rtt_s, rtt_s * flow / flows});
  return path;
}

enum class Step { send, leave, hear };

struct Event {
  double time_s;
  Step step;
  unsigned flow;
  std::int32_t granted;  // hear
  double waited_s;       // hear
};

void PrintTo(const Path& path, std::ostream* out) {
  *out << path.capacity_bps / 1e6 << " Mbit/s, " << path.flows.size() << " flows of at most "
       << path.longest_rtt_s() * 1e3 << " ms";
}

struct Later {
  bool operator()(const Event& a, const Event& b) const { return a.time_s > b.time_s; }
};

struct Outcome {
  double utilisation;
  double jain;
  double mean_queue_packets;
  double settled_s;  // from then on every flow stays within UNEVENNESS of its share
};

constexpr double UNEVENNESS = 0.3;

class Loop {
 public:
  explicit Loop(const Path& path)
      : path_(path), rate_(path.flows.size()), rtt_(path.flows.size()), sent_(path.flows.size()) {
    PortConfig config;
    config.xcp = xcp_config(static_cast<std::uint64_t>(path.capacity_bps), 0.4, 0.226, 0.1,
                            path.min_interval_us, 1'000'000);
    plane_->configure(0, config);
    for (unsigned flow = 0; flow < path.flows.size(); ++flow) {
      rate_[flow] = least_rate(flow);
      rtt_[flow] = path.flows[flow].rtt_s;
      events_.push({path.flows[flow].start_s, Step::send, flow, 0, 0});
    }
  }

  // Measures over the last third.
  Outcome run() {
    const double end = path_.duration_s;
    const double start = end * 2 / 3;
    double queued = 0;
    std::uint64_t samples = 0;
    while (events_.top().time_s < end) {
      const Event event = events_.top();
      events_.pop();
      if (event.step == Step::send) {
        if (event.time_s >= start) {
          queued += static_cast<double>(waiting_.size());
          ++samples;
        }
        send(event, event.time_s >= start);
      } else if (event.step == Step::leave) {
        leave(event);
      } else {
        rate_[event.flow] = std::max(least_rate(event.flow), rate_[event.flow] + event.granted);
        rtt_[event.flow] = path_.flows[event.flow].rtt_s + event.waited_s;
        if (std::abs(rate_[event.flow] / fair_rate() - 1) > UNEVENNESS) settled_s_ = event.time_s;
      }
    }
    double sum = 0;
    double squares = 0;
    for (const double bytes : sent_) {
      sum += bytes;
      squares += bytes * bytes;
    }
    return {sum * 8 / (end - start) / path_.capacity_bps, sum * sum / (path_.flows.size() * squares),
            queued / static_cast<double>(samples), settled_s_};
  }

 private:
  struct Packet {
    Frame frame;
    Meta meta;
    unsigned flow;
    double arrived_s;
  };

  static Ticks ticks(double time_s) { return static_cast<Ticks>(time_s * TICKS_PER_SECOND); }

  // One packet in ten RTTs or in 0.1 s.
  double least_rate(unsigned flow) const { return LENGTH / std::max(10 * path_.flows[flow].rtt_s, 0.1); }

  double fair_rate() const { return path_.capacity_bps / 8 / path_.flows.size(); }

  Frame frame_of(unsigned flow) const {
    return data_frame(LENGTH, {rtt_[flow], LENGTH / rate_[flow], INT32_MAX});
  }

  void send(const Event& event, bool measured) {
    Packet packet{frame_of(event.flow), {}, event.flow, event.time_s};
    const auto size = static_cast<std::uint32_t>(packet.frame.size());
    packet.meta = plane_->ingress(0, ticks(event.time_s), packet.frame.data(), size);
    plane_->enqueue(0, ticks(event.time_s), waiting_.size() * LENGTH, LENGTH, packet.meta);
    free_at_ = std::max(free_at_, event.time_s) + LENGTH * 8 / path_.capacity_bps;
    waiting_.push(std::move(packet));
    if (measured) sent_[event.flow] += LENGTH;
    events_.push({free_at_, Step::leave, event.flow, 0, 0});
    events_.push({event.time_s + LENGTH / rate_[event.flow], Step::send, event.flow, 0, 0});
  }

  void leave(const Event& event) {
    Packet packet = std::move(waiting_.front());
    waiting_.pop();
    plane_->dequeue(0, ticks(event.time_s), waiting_.size() * LENGTH, packet.frame.data(), LENGTH,
                    packet.meta);
    events_.push({event.time_s + path_.flows[packet.flow].rtt_s, Step::hear, packet.flow,
                  granted_bytes_per_s(packet.frame), event.time_s - packet.arrived_s});
  }

  Path path_;
  std::vector<double> rate_;  // bytes/s
  std::vector<double> rtt_;   // s
  std::vector<double> sent_;  // bytes
  std::unique_ptr<DataPlane<1, 16>> plane_ = std::make_unique<DataPlane<1, 16>>();
  std::priority_queue<Event, std::vector<Event>, Later> events_;
  std::queue<Packet> waiting_;
  double free_at_ = 0;
  double settled_s_ = 0;
};

// Measures and judges a loop.
Outcome expect_full_and_even(const Path& path) {
  const Outcome outcome = Loop(path).run();
  const double bdp_packets = path.capacity_bps * path.longest_rtt_s() / 8 / LENGTH;
  testing::Test::RecordProperty("utilisation", std::to_string(outcome.utilisation));
  testing::Test::RecordProperty("jain", std::to_string(outcome.jain));
  testing::Test::RecordProperty("mean_queue_packets", std::to_string(outcome.mean_queue_packets));
  testing::Test::RecordProperty("settled_s", std::to_string(outcome.settled_s));
  EXPECT_GT(outcome.utilisation, path.least_utilisation);
  EXPECT_LT(outcome.utilisation, 1.001);
  EXPECT_GT(outcome.jain, 0.99);
  EXPECT_LT(outcome.mean_queue_packets,
            std::max(0.05 * bdp_packets, 2.0 * static_cast<double>(path.flows.size())));
  return outcome;
}

class ClosedLoop : public testing::TestWithParam<Path> {};

TEST_P(ClosedLoop, FillsTheLinkEvenlyWithoutAQueue) { expect_full_and_even(GetParam()); }

// Where a round trip holds less than a packet per flow, an interval must be some packets long:
// docs/datapath.md.
INSTANTIATE_TEST_SUITE_P(Paths, ClosedLoop,
                         testing::Values(together(1e6, 0.001, 2, 60'000, 250'000, 0.94),
                                         together(1e6, 0.1, 2, 600, 250'000), together(1e6, 1.0, 4, 200),
                                         together(1e8, 0.57, 10, 90), together(1e9, 0.05, 10, 90),
                                         together(1e10, 0.02, 10, 120)));

class Newcomers : public testing::TestWithParam<Path> {};

// gamma = 0.1 moves a tenth of the traffic per round trip; measured: 22 and 15 round trips.
TEST_P(Newcomers, HaveTheirShareOfAFullLinkSoon) {
  const Path path = GetParam();
  const Outcome outcome = expect_full_and_even(path);
  EXPECT_GT(outcome.settled_s, path.last_start_s());
  EXPECT_LT(outcome.settled_s, path.last_start_s() + 30 * path.longest_rtt_s());
}

// The link is full when the second and every later flow comes.
INSTANTIATE_TEST_SUITE_P(Paths, Newcomers,
                         testing::Values(Path{1e8, {{0.1, 0}, {0.1, 3}, {0.1, 6}, {0.1, 9}}, 45},
                                         Path{1e8, {{0.02, 0}, {0.05, 0.5}, {0.1, 1}, {0.2, 1.5}}, 60}));

}  // namespace
}  // namespace clarion
