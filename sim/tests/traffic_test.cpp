// SPDX-License-Identifier: Apache-2.0
// What applications do, through the whole simulation: two host pairs (h1 with r1, h2 with r2) over a link of
// 10 Mbit/s and 10 ms with room for 100 packets.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/options.hpp"
#include "sim/recorder.hpp"
#include "sim/simulation.hpp"

namespace clarion::sim {
namespace {

using nlohmann::json;

json port(const std::string& name, json more) {
  more["name"] = name;
  return more;
}

json link_to(const std::string& peer) {
  return {{"peer", peer}, {"rate_bps", 10'000'000}, {"queue_bytes", 151'400}, {"delay_us", 10'000}};
}

json host(const std::string& name, const std::string& at, int side, int number) {
  const std::string last = std::to_string(number);
  return {{"name", name},
          {"port", at + ":" + at + "-" + name},
          {"address", "10." + std::to_string(side) + ".0." + last},
          {"mac", "02:00:00:0" + std::to_string(side) + ":00:0" + last}};
}

json flow_between(const std::string& from, const std::string& to, int start_ms, int stop_ms) {
  return {{"sender", from},
          {"receiver", to},
          {"sport", 40001},
          {"dport", 5201},
          {"start_us", start_ms * 1000},
          {"stop_us", stop_ms * 1000}};
}

class Traffic : public ::testing::Test {
 protected:
  Simulation& simulate(const json& flows, int until_ms) {
    json left = json::array({port("s1-right", link_to("s2:s2-left"))});
    json right = json::array({port("s2-left", link_to("s1:s1-right"))});
    json hosts = json::array();
    for (int n = 1; n <= 2; ++n) {
      const std::string number = std::to_string(n);
      left.push_back(port("s1-h" + number, {{"netdev", "s1-h" + number}}));
      right.push_back(port("s2-r" + number, {{"netdev", "s2-r" + number}}));
      hosts.push_back(host("h" + number, "s1", 1, n));
      hosts.push_back(host("r" + number, "s2", 2, n));
    }
    const json network = {
        {"lldp", false},
        {"switches", {{{"name", "s1"}, {"ports", left}}, {{"name", "s2"}, {"ports", right}}}}};
    // Tests run side by side, in processes of their own.
    const std::string path = ::testing::TempDir() + "traffic-" + std::to_string(getpid()) + ".json";
    std::ofstream(path) << json{
        {"network", network},        {"hosts", hosts},      {"flows", flows}, {"lead_us", 60'000},
        {"duration_us", 10'000'000}, {"sample_us", 100'000}};
    simulation_ = std::make_unique<Simulation>(read_simulation_file(path));
    std::remove(path.c_str());
    run_until(until_ms);
    return *simulation_;
  }

  void run_until(int ms) { simulation_->advance(static_cast<Nanoseconds>(ms) * 1'000'000); }
  std::uint64_t received(std::size_t flow) const { return simulation_->flows()[flow]->received_bytes(); }
  std::uint64_t sent_through(const std::string& name) const {
    return simulation_->fabric().find(name)->counters.tx_bytes;
  }

 private:
  std::unique_ptr<Simulation> simulation_;
};

json datagrams(json flow, int rate_bps, int packet_bytes) {
  flow["udp"] = {{"rate_bps", rate_bps}, {"packet_bytes", packet_bytes}};
  return flow;
}

TEST_F(Traffic, DatagramsLeaveAtEvenDistances) {
  // Packets of 500 bytes at 400 kbit/s: one each 10 ms; from 1 s to before 2 s they are 100.
  simulate(json::array({datagrams(flow_between("h1", "r1", 1000, 2000), 400'000, 500)}), 1005);
  EXPECT_EQ(received(0), 0U);  // 10 ms and 514 bytes at 10 Mbit/s: 10.41 ms
  run_until(1011);
  EXPECT_EQ(received(0), 472U);
  run_until(1020);
  EXPECT_EQ(received(0), 472U);
  run_until(1021);
  EXPECT_EQ(received(0), 2 * 472U);
  run_until(5000);
  EXPECT_EQ(received(0), 100 * 472U);
}

TEST_F(Traffic, DatagramsReachNobodyElse) {
  // Both pairs use the same ports; the greeting has taught the switches where r1 is before data comes.
  simulate({datagrams(flow_between("h1", "r1", 1000, 2000), 400'000, 500),
            datagrams(flow_between("h2", "r2", 1000, 1500), 400'000, 500)},
           995);
  const std::uint64_t before = sent_through("s2:s2-r2");
  run_until(5000);
  EXPECT_EQ(received(0), 100 * 472U);
  EXPECT_EQ(received(1), 50 * 472U);
  EXPECT_EQ(sent_through("s2:s2-r2") - before, 50 * 514U);
}

TEST_F(Traffic, AnAddressIsNotForgottenWhileDatagramsComeToIt) {
  // Switches forget after 300 s. The sink has then answered in the minutes before.
  simulate(json::array({datagrams(flow_between("h1", "r1", 1000, 400'000), 400'000, 500)}), 995);
  const std::uint64_t before = sent_through("s2:s2-r2");
  run_until(390'000);
  EXPECT_EQ(sent_through("s2:s2-r2"), before);
  EXPECT_LE(sent_through("s2:s2-left"), 9 * 42U);
}

TEST_F(Traffic, ABurstEndsAndTheNextGoesOn) {
  json flow = flow_between("h1", "r1", 0, 9000);
  flow["law"] = "reno";
  flow["bursts"] = {{{"begin_us", 0}, {"end_us", 1'000'000}},
                    {{"begin_us", 3'000'000}, {"end_us", 4'000'000}}};
  simulate(json::array({flow}), 2000);
  const std::uint64_t first = received(0);
  EXPECT_GT(first, 1'000'000U);  // 1 s of 10 Mbit/s are 1.2 MB of payload
  EXPECT_LT(first, 1'350'000U);  // and what waited in the queue at the end of the burst: 145 kB
  run_until(2990);
  EXPECT_EQ(received(0), first);
  run_until(9000);
  EXPECT_GT(received(0), 2 * first - 100'000);
  EXPECT_LT(received(0), 2 * first + 250'000);
}

TEST_F(Traffic, ATransferIsSampledToItsEndAndNoLonger) {
  json small = flow_between("h1", "r1", 1000, 10'000);
  small["law"] = "reno";
  small["size_bytes"] = 20'000;
  json later = flow_between("h2", "r2", 4000, 10'000);
  later["law"] = "reno";
  later["size_bytes"] = 1000;
  Simulation& simulation = simulate({later, small}, 0);
  std::FILE* out = std::tmpfile();
  Recorder recorder(simulation, out);
  for (int ms = 0; ms <= 5000; ms += 100) {
    run_until(ms);
    recorder.sample();
  }
  std::rewind(out);
  std::vector<std::vector<std::uint64_t>> rows;  // time in ms, flow, bytes delivered
  char line[8192];
  while (std::fgets(line, sizeof line, out) != nullptr) {
    const json sample = json::parse(line);
    for (const json& row : sample["flows"])
      rows.push_back({sample["time_us"].get<std::uint64_t>() / 1000, row[0], row[1]});
  }
  std::fclose(out);
  // It begins as the sample of 1 s is taken. 10 packets, 20 ms, the other 4: acknowledged before 1.1 s.
  EXPECT_EQ(rows, (std::vector<std::vector<std::uint64_t>>{
                      {1000, 1, 0}, {1100, 1, 20'000}, {4000, 0, 0}, {4100, 0, 1000}}));
}

TEST_F(Traffic, ThousandsOfTransfersArriveWhole) {
  json flows = json::array();
  for (int n = 0; n < 3000; ++n) {
    json flow = flow_between(n % 2 != 0 ? "h1" : "r1", n % 2 != 0 ? "r1" : "h1", n, 10'000);
    flow["law"] = "cubic";
    flow["sport"] = 40001 + n;
    flow["dport"] = 5201 + n;
    flow["size_bytes"] = 1 + n % 4000;
    flows.push_back(flow);
  }
  const Simulation& simulation = simulate(flows, 6000);
  for (std::size_t n = 0; n < 3000; ++n) {
    EXPECT_EQ(received(n), 1 + n % 4000) << n;
    EXPECT_TRUE(simulation.flows()[n]->is_over()) << n;
  }
}

}  // namespace
}  // namespace clarion::sim
