// SPDX-License-Identifier: Apache-2.0
// Generation 2 of the control law beside what it cannot steer: traffic without a header, transfers that come
// and go, receivers that echo any hop. Each test holds it against generation 1.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "core/tests/closed_network.hpp"
#include "core/tests/network.hpp"

namespace clarion {
namespace {

constexpr double CAPACITY_BPS = 100 * MBIT;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Network one_link(unsigned generation, const std::vector<FlowConfig>& flows) {
  Network network;
  network.add_link({CAPACITY_BPS, generation});
  for (const FlowConfig& flow : flows) network.add_flow(flow);
  return network;
}

// --- Traffic without a header
// -------------------------------------------------------------------------------

struct Beside {
  double rtt_s;
  double on_off_s;
};

void PrintTo(const Beside& beside, std::ostream* out) {
  *out << "30 Mbit/s beside flows of " << beside.rtt_s * 1e3 << " ms, on and off each " << beside.on_off_s
       << " s";
}

struct Filled {
  double utilisation;
  double peak_queue_bdp;
};

Filled beside_plain(const Beside& beside, unsigned generation) {
  std::vector<FlowConfig> flows = alike(4, beside.rtt_s, 0, beside.rtt_s);
  FlowConfig plain{{0}, beside.rtt_s};
  plain.has_header = false;
  plain.wanted_bps = 30 * MBIT;
  plain.on_off_s = beside.on_off_s;
  flows.push_back(plain);
  Network network = one_link(generation, flows);
  network.run_for(60 * beside.rtt_s);
  const Measured measured = network.run_for(100 * beside.rtt_s);
  const Filled filled{measured.link_bps[0] / CAPACITY_BPS,
                      measured.peak_queue_bytes[0] / bdp_bytes(CAPACITY_BPS, beside.rtt_s)};
  const std::string prefix = "generation_" + std::to_string(generation) + '_';
  record(prefix + "utilisation", filled.utilisation);
  record(prefix + "peak_queue_bdp", filled.peak_queue_bdp);
  return filled;
}

class GenerationTwoBesidePlain : public testing::TestWithParam<Beside> {};

TEST_P(GenerationTwoBesidePlain, FillsTheLinkAsGenerationOne) {
  const Filled before = beside_plain(GetParam(), 1);
  const Filled filled = beside_plain(GetParam(), 2);
  EXPECT_GE(filled.utilisation, before.utilisation - 0.05);
  EXPECT_LE(filled.peak_queue_bdp, before.peak_queue_bdp + 0.05);
}

INSTANTIATE_TEST_SUITE_P(Times, GenerationTwoBesidePlain,
                         testing::Values(Beside{0.1, 0}, Beside{0.1, 1}, Beside{0.1, 0.3},
                                         Beside{GEO_RTT_S, 0}, Beside{GEO_RTT_S, 5}, Beside{GEO_RTT_S, 1}));

// --- Transfers that come and go
// -----------------------------------------------------------------------------

struct Transfers {
  double rtt_s;
  double load;  // of the link, by transfers alone
  unsigned count = 500;
};

void PrintTo(const Transfers& transfers, std::ostream* out) {
  *out << transfers.count << " transfers of 1 MB, load " << transfers.load << ", " << transfers.rtt_s * 1e3
       << " ms";
}

struct Carried {
  double utilisation;
  double completion_s;  // median
  double peak_queue_bdp;
};

// Beside three long flows. From 30 round trips on, until the last transfer comes.
Carried carry(const Transfers& transfers, unsigned generation, unsigned seed) {
  constexpr unsigned LONG_FLOWS = 3;
  constexpr double TRANSFER_BYTES = 1e6;
  const double begin_s = 30 * transfers.rtt_s;
  const double mean_gap_s = TRANSFER_BYTES * 8 / (transfers.load * CAPACITY_BPS);
  std::vector<FlowConfig> flows = alike(LONG_FLOWS, transfers.rtt_s, 0, transfers.rtt_s);
  std::mt19937_64 random(seed);
  double start_s = begin_s;
  for (unsigned transfer = 0; transfer < transfers.count; ++transfer) {
    start_s -= mean_gap_s * std::log((static_cast<double>(random() >> 11) + 1) * 0x1p-53);
    FlowConfig flow{{0}, transfers.rtt_s, start_s};
    flow.packets = static_cast<unsigned>(TRANSFER_BYTES / FULL_PACKET_BYTES);
    flows.push_back(flow);
  }
  Network network = one_link(generation, flows);
  network.run_for(begin_s);
  const Measured measured = network.run_for(start_s - begin_s);
  network.run_for(200 * transfers.rtt_s);
  std::vector<double> completions_s;
  for (unsigned flow = LONG_FLOWS; flow < flows.size(); ++flow) {
    const std::optional<double> ended_s = network.ended_s(flow);
    if (ended_s) completions_s.push_back(*ended_s - flows[flow].start_s);
  }
  EXPECT_EQ(completions_s.size(), transfers.count);
  const Carried carried{measured.link_bps[0] / CAPACITY_BPS, median(completions_s),
                        measured.peak_queue_bytes[0] / bdp_bytes(CAPACITY_BPS, transfers.rtt_s)};
  const std::string prefix = "generation_" + std::to_string(generation) + '_';
  record(prefix + "utilisation", carried.utilisation);
  record(prefix + "completion_s", carried.completion_s);
  record(prefix + "peak_queue_bdp", carried.peak_queue_bdp);
  return carried;
}

class GenerationTwoTransfers : public testing::TestWithParam<Transfers> {};

// --gtest_random_seed=2 is another seed than 1, which it is without: random_seed() would be the time of day.
TEST_P(GenerationTwoTransfers, EndAsSoonOnALinkNearlyAsFull) {
  const auto seed = static_cast<unsigned>(std::max(1, GTEST_FLAG_GET(random_seed)));
  const Carried before = carry(GetParam(), 1, seed);
  const Carried carried = carry(GetParam(), 2, seed);
  EXPECT_GE(carried.utilisation, before.utilisation - 0.04);
  EXPECT_LE(carried.completion_s, before.completion_s * 1.04);
  EXPECT_LE(carried.peak_queue_bdp, before.peak_queue_bdp + 0.05);
}

INSTANTIATE_TEST_SUITE_P(Loads, GenerationTwoTransfers,
                         testing::Values(Transfers{0.1, 0.5}, Transfers{0.1, 0.8}, Transfers{GEO_RTT_S, 0.5},
                                         Transfers{GEO_RTT_S, 0.8}));

// --- Echoes that name any hop
// -------------------------------------------------------------------------------

struct Wrong {
  double share;    // of the echoes
  unsigned flows;  // of five, beginning with the one that crosses all links
};

void PrintTo(const Wrong& wrong, std::ostream* out) {
  *out << wrong.share * 100 << " % of the echoes of " << wrong.flows << " flows";
}

// Parking lot 100/50/100 Mbit/s; the least any link carries of its capacity.
double least_load(const Wrong& wrong, unsigned generation) {
  Network network;
  const std::vector<double> capacity_bps{100 * MBIT, 50 * MBIT, 100 * MBIT};
  for (const double each : capacity_bps) network.add_link({each, generation});
  const std::vector<std::vector<unsigned>> paths{{0, 1, 2}, {0}, {1}, {2}};
  for (unsigned flow = 0; flow < paths.size(); ++flow) {
    FlowConfig config{paths[flow], 0.1};
    if (flow < wrong.flows) config.wrong_echo = wrong.share;
    network.add_flow(config);
  }
  network.run_for(20);
  const Measured measured = network.run_for(10);
  double least = 1;
  for (std::size_t link = 0; link < capacity_bps.size(); ++link) {
    least = std::min(least, measured.link_bps[link] / capacity_bps[link]);
  }
  record("generation_" + std::to_string(generation) + "_least_load", least);
  return least;
}

class GenerationTwoWrongEchoes : public testing::TestWithParam<Wrong> {};

TEST_P(GenerationTwoWrongEchoes, EmptyNoLinkMoreThanGenerationOneDoes) {
  const double before = least_load(GetParam(), 1);
  EXPECT_GE(least_load(GetParam(), 2), before - 0.01);
}

INSTANTIATE_TEST_SUITE_P(Shares, GenerationTwoWrongEchoes,
                         testing::Values(Wrong{0.01, 4}, Wrong{0.3, 1}, Wrong{0.3, 4}, Wrong{1, 1},
                                         Wrong{1, 4}));

}  // namespace
}  // namespace clarion
