// SPDX-License-Identifier: Apache-2.0
// The core in a loop with ideal senders: paced flows that add every grant to their rate one RTT later.
// Ten newcomers must fill the link, share it evenly and leave next to no queue, from slow and near to fast
// and far. A wrong sign, unit, scale or a bias in rounding shows here even if every part does what it says.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <ostream>
#include <queue>
#include <vector>

#include "core/data_plane.hpp"
#include "core/host_config.hpp"

namespace clarion {
namespace {

constexpr std::uint32_t LENGTH = 1546;
constexpr unsigned HEADER_AT = ETHERNET_BYTES + IPV4_MIN_BYTES;

struct Path {
  double capacity_bps;
  double rtt_s;
  unsigned flows;
  double rounds;  // simulated time in RTTs
  std::uint64_t min_interval_us = 1000;
  double least_utilisation = 0.98;
};

enum class Step { send, leave, hear };

struct Event {
  double time_s;
  Step step;
  unsigned flow;
  std::int32_t granted;  // hear
  double waited_s;       // hear
};

void PrintTo(const Path& path, std::ostream* out) {
  *out << path.capacity_bps / 1e6 << " Mbit/s x " << path.rtt_s * 1e3 << " ms, " << path.flows << " flows";
}

struct Later {
  bool operator()(const Event& a, const Event& b) const { return a.time_s > b.time_s; }
};

struct Outcome {
  double utilisation;
  double jain;
  double mean_queue_packets;
};

class Loop {
 public:
  explicit Loop(const Path& path)
      : path_(path), rate_(path.flows), rtt_(path.flows, path.rtt_s), sent_(path.flows) {
    PortConfig config;
    config.xcp = xcp_config(static_cast<std::uint64_t>(path.capacity_bps), 0.4, 0.226, 0.1,
                            path.min_interval_us, 1'000'000);
    plane_->configure(0, config);
    for (unsigned flow = 0; flow < path.flows; ++flow) {
      rate_[flow] = least_rate();
      events_.push({path.rtt_s * flow / path.flows, Step::send, flow, 0, 0});
    }
  }

  // Measures over the last third.
  Outcome run() {
    const double end = path_.rtt_s * path_.rounds;
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
        rate_[event.flow] = std::max(least_rate(), rate_[event.flow] + event.granted);
        rtt_[event.flow] = path_.rtt_s + event.waited_s;
      }
    }
    double sum = 0;
    double squares = 0;
    for (const double bytes : sent_) {
      sum += bytes;
      squares += bytes * bytes;
    }
    return {sum * 8 / (end - start) / path_.capacity_bps, sum * sum / (path_.flows * squares),
            queued / static_cast<double>(samples)};
  }

 private:
  struct Packet {
    std::vector<std::uint8_t> frame;
    Meta meta;
    unsigned flow;
    double arrived_s;
  };

  static Ticks ticks(double time_s) { return static_cast<Ticks>(time_s * TICKS_PER_SECOND); }

  // One packet in ten RTTs or in 0.1 s.
  double least_rate() const { return LENGTH / std::max(10 * path_.rtt_s, 0.1); }

  std::vector<std::uint8_t> frame_of(unsigned flow) const {
    std::vector<std::uint8_t> frame(HEADER_AT + DATA_BYTES, 0);
    std::uint8_t* ip = frame.data() + ETHERNET_BYTES;
    store_be16(ip - 2, ETHERTYPE_IPV4);
    ip[0] = 0x45;
    store_be16(ip + 2, static_cast<std::uint16_t>(LENGTH - ETHERNET_BYTES));
    ip[9] = DEFAULT_PROTOCOL;
    std::uint8_t* header = frame.data() + HEADER_AT;
    header[OFFSET_LENGTH] = DATA_BYTES;
    header[OFFSET_VERSION_FORMAT] = HEADER_VERSION << 4 | 1;
    store_be32(header + OFFSET_RTT, static_cast<std::uint32_t>(rtt_[flow] * TICKS_PER_SECOND));
    const double x = std::min(LENGTH / rate_[flow] * TICKS_PER_SECOND, 4294967295.0);
    store_be32(header + OFFSET_X, static_cast<std::uint32_t>(x));
    store_be32(header + OFFSET_DELTA_THROUGHPUT, INT32_MAX);
    return frame;
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
    const auto granted =
        static_cast<std::int32_t>(load_be32(packet.frame.data() + HEADER_AT + OFFSET_DELTA_THROUGHPUT));
    events_.push(
        {event.time_s + path_.rtt_s, Step::hear, packet.flow, granted, event.time_s - packet.arrived_s});
  }

  Path path_;
  std::vector<double> rate_;  // bytes/s
  std::vector<double> rtt_;   // s
  std::vector<double> sent_;  // bytes
  std::unique_ptr<DataPlane<1, 16>> plane_ = std::make_unique<DataPlane<1, 16>>();
  std::priority_queue<Event, std::vector<Event>, Later> events_;
  std::queue<Packet> waiting_;
  double free_at_ = 0;
};

class ClosedLoop : public testing::TestWithParam<Path> {};

TEST_P(ClosedLoop, FillsTheLinkEvenlyWithoutAQueue) {
  const Path path = GetParam();
  const Outcome outcome = Loop(path).run();
  const double bdp_packets = path.capacity_bps * path.rtt_s / 8 / LENGTH;
  RecordProperty("utilisation", std::to_string(outcome.utilisation));
  RecordProperty("jain", std::to_string(outcome.jain));
  RecordProperty("mean_queue_packets", std::to_string(outcome.mean_queue_packets));
  EXPECT_GT(outcome.utilisation, path.least_utilisation);
  EXPECT_LT(outcome.utilisation, 1.001);
  EXPECT_GT(outcome.jain, 0.99);
  EXPECT_LT(outcome.mean_queue_packets, std::max(0.05 * bdp_packets, 2.0 * path.flows));
}

// Where a round trip holds less than a packet per flow, an interval must be some packets long:
// docs/datapath.md.
INSTANTIATE_TEST_SUITE_P(Paths, ClosedLoop,
                         testing::Values(Path{1e6, 0.001, 2, 60'000, 250'000, 0.94},
                                         Path{1e6, 0.1, 2, 600, 250'000}, Path{1e6, 1.0, 4, 200},
                                         Path{1e8, 0.57, 10, 90}, Path{1e9, 0.05, 10, 90},
                                         Path{1e10, 0.02, 10, 120}));

}  // namespace
}  // namespace clarion
