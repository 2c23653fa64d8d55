// SPDX-License-Identifier: Apache-2.0
// The same dumbbell in ns-3, where it is installed, for bench_sim.py: FLOWS CUBIC flows over 1 Gbit/s x 100
// ms with a queue of one bandwidth-delay product. Prints the packets that the bottleneck carried in both
// directions and the processor time as JSON; ends after LIMIT seconds of it at the latest.
//
//     ns3-dumbbell FLOWS SECONDS LIMIT
#include <ns3/applications-module.h>
#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

namespace {

constexpr std::uint32_t MSS_BYTES = 1448;
constexpr std::uint32_t BUFFER_BYTES =
    200'000'000;  // sixteen bandwidth-delay products, as the hosts of a run have
constexpr std::uint16_t PORT = 5001;

std::uint64_t carried = 0;

double processor_s() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

void stop_at(double limit_s) {
  if (processor_s() > limit_s) return ns3::Simulator::Stop();
  ns3::Simulator::Schedule(ns3::MilliSeconds(1), &stop_at, limit_s);
}

void count(ns3::Ptr<const ns3::Packet> /*packet*/) { ++carried; }

ns3::PointToPointHelper link(const std::string& rate, const std::string& delay, const std::string& queue) {
  ns3::PointToPointHelper helper;
  helper.SetDeviceAttribute("DataRate", ns3::StringValue(rate));
  helper.SetChannelAttribute("Delay", ns3::StringValue(delay));
  helper.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", ns3::StringValue(queue));
  return helper;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace ns3;
  if (argc != 4) return 2;
  const int flows = std::atoi(argv[1]);
  const double seconds = std::atof(argv[2]);
  Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpCubic::GetTypeId()));
  Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(MSS_BYTES));
  Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
  Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(BUFFER_BYTES));
  Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(BUFFER_BYTES));
  NodeContainer routers(2);
  InternetStackHelper internet;
  internet.Install(routers);
  const NetDeviceContainer bottleneck = link("1Gbps", "49ms", "12500000B").Install(routers);
  for (std::uint32_t i = 0; i < 2; ++i) {
    bottleneck.Get(i)->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&count));
  }
  Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
  addresses.Assign(bottleneck);
  for (int i = 0; i < flows; ++i) {
    NodeContainer ends(2);
    internet.Install(ends);
    Ipv4InterfaceContainer far;
    for (std::uint32_t side = 0; side < 2; ++side) {
      addresses.NewNetwork();
      far =
          addresses.Assign(link("10Gbps", "500us", "100000000B").Install(routers.Get(side), ends.Get(side)));
    }
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), PORT));
    sink.Install(ends.Get(1));
    BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(far.GetAddress(1), PORT));
    source.Install(ends.Get(0));
  }
  Ipv4GlobalRoutingHelper::PopulateRoutingTables();
  Simulator::Stop(Seconds(seconds));
  stop_at(std::atof(argv[3]));
  Simulator::Run();
  std::printf("{\"packets\": %llu, \"processor_s\": %.3f, \"virtual_s\": %.3f}\n",
              static_cast<unsigned long long>(carried), processor_s(), Simulator::Now().GetSeconds());
  Simulator::Destroy();
  return 0;
}
