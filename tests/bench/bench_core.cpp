// SPDX-License-Identifier: Apache-2.0
// Packets per second of the core alone on one CPU: ingress, enqueue and dequeue of each packet with XCP, both
// sequence checks and stamping on. Median of five runs, their spread, and the ratio to the goal. DATA is
// measured with either generation of XCP: flows with half of the fair share, all of it and twice as much, a
// fourth of which asks for nothing, as those do that another hop limits.
//
//   bench-core [--json FILE]
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "core/data_plane.hpp"
#include "core/xcp_settings.hpp"

namespace {

using namespace clarion;

constexpr double GOAL_PACKETS_PER_S = 20e6;
constexpr unsigned RUNS = 5;
constexpr std::uint64_t PACKETS = 4'000'000;
constexpr unsigned FRAMES = 1024;  // more than a first-level cache holds, each of a bucket of its own
constexpr unsigned FRAME_BYTES = 1546;
constexpr Ticks PACKET_TICKS = 33;  // one 1546-byte packet at 100 Gbit/s
constexpr unsigned FLOWS = 100;
constexpr unsigned HEADER_AT = ETHERNET_BYTES + IPV4_MIN_BYTES;
using Plane = DataPlane<2>;
using Frame = std::vector<std::uint8_t>;
// The first half of a DATA header, which routers change; a host sends it anew.
using Wishes = std::array<std::uint8_t, 16>;

enum class Mix { data, tag, ordinary };

// A full-sized frame over IPv4, its headers as a host would send them.
Frame make_frame(Mix mix, unsigned index) {
  Frame frame(FRAME_BYTES, 0);
  std::uint8_t* ip = frame.data() + ETHERNET_BYTES;
  store_be16(ip - 2, ETHERTYPE_IPV4);
  ip[0] = 0x45;
  store_be16(ip + 2, FRAME_BYTES - ETHERNET_BYTES);
  ip[9] = mix == Mix::ordinary ? 6 : DEFAULT_PROTOCOL;
  if (mix == Mix::ordinary) return frame;
  std::uint8_t* header = frame.data() + HEADER_AT;
  const bool data = mix == Mix::data;
  header[0] = 6;
  header[OFFSET_LENGTH] = data ? DATA_BYTES : TAG_BYTES;
  header[OFFSET_VERSION_FORMAT] = static_cast<std::uint8_t>(HEADER_VERSION << 4 | (data ? 1 : 3));
  if (data) {
    const unsigned flow = index * 40503u >> 7;  // in no order that a processor could foresee
    store_be32(header + OFFSET_RTT, TICKS_PER_SECOND / 10);
    store_be32(header + OFFSET_X, static_cast<std::uint32_t>(PACKET_TICKS * FLOWS << flow % 3 >> 1));
    store_be32(header + OFFSET_DELTA_THROUGHPUT, flow / 3 % 4 == 0 ? 0 : 1'000'000);
  }
  store_be16(header + (data ? OFFSET_DATA_TAGS : OFFSET_TAG_TAGS) + TAGS_BUCKET,
             static_cast<std::uint16_t>(index * 40503u >> 4));
  return frame;
}

struct Result {
  double median = 0;  // packets/s
  double low = 0;
  double high = 0;
};

double run_once(Plane& plane, Mix mix, std::vector<Frame>& frames, const std::vector<Wishes>& wishes,
                Ticks& now) {
  const auto start = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < PACKETS; ++i) {
    Frame& frame = frames[i % FRAMES];
    if (mix == Mix::data) std::memcpy(frame.data() + HEADER_AT, wishes[i % FRAMES].data(), sizeof(Wishes));
    now += PACKET_TICKS;
    Meta meta = plane.ingress(0, now, frame.data(), FRAME_BYTES);
    plane.enqueue(1, now, i % 8 * FRAME_BYTES, FRAME_BYTES, meta);
    plane.dequeue(1, now, i % 8 * FRAME_BYTES, frame.data(), FRAME_BYTES, meta);
  }
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  return static_cast<double>(PACKETS) / spent.count();
}

Result measure(Mix mix, std::uint32_t generation) {
  const auto plane = std::make_unique<Plane>();
  PortConfig config;
  config.xcp = xcp_config(100'000'000'000, 0.4, 0.226, 0.1, 1000, 1'000'000);
  config.xcp.generation = generation;
  config.tag.stamp = config.tag.check = true;
  plane->configure(0, config);
  plane->configure(1, config);
  std::vector<Frame> frames;
  std::vector<Wishes> wishes(FRAMES);
  for (unsigned i = 0; i < FRAMES; ++i) {
    frames.push_back(make_frame(mix, i));
    std::memcpy(wishes[i].data(), frames[i].data() + HEADER_AT, sizeof(Wishes));
  }
  Ticks now = 0;
  run_once(*plane, mix, frames, wishes, now);  // warm caches and the clock rate
  double rates[RUNS];
  for (double& rate : rates) rate = run_once(*plane, mix, frames, wishes, now);
  std::sort(rates, rates + RUNS);
  return Result{rates[RUNS / 2], rates[0], rates[RUNS - 1]};
}

void print_line(const char* name, const Result& result) {
  std::printf("core %-18s %6.1f Mpackets/s on one CPU (%.1f to %.1f), %.2f of the goal of 20\n", name,
              result.median / 1e6, result.low / 1e6, result.high / 1e6, result.median / GOAL_PACKETS_PER_S);
}

void write_json(std::FILE* file, const char* name, const Result& result, const char* separator) {
  std::fprintf(file, "\"%s\":{\"packets_per_s\":%.0f,\"min\":%.0f,\"max\":%.0f,\"ratio_to_goal\":%.3f}%s",
               name, result.median, result.low, result.high, result.median / GOAL_PACKETS_PER_S, separator);
}

}  // namespace

int main(int argc, char** argv) {
  const bool json = argc == 3 && std::strcmp(argv[1], "--json") == 0;
  if (argc > 1 && !json) {
    std::fprintf(stderr, "bench-core: usage: bench-core [--json FILE]\n");
    return 2;
  }
  std::FILE* file = json ? std::fopen(argv[2], "w") : nullptr;
  if (json && file == nullptr) {
    std::fprintf(stderr, "bench-core: --json %s: %s\n", argv[2], std::strerror(errno));
    return 1;
  }
  const Result data = measure(Mix::data, 1);
  const Result data2 = measure(Mix::data, 2);
  const Result tag = measure(Mix::tag, 1);
  const Result ordinary = measure(Mix::ordinary, 1);
  print_line("DATA, generation 1", data);
  print_line("DATA, generation 2", data2);
  print_line("TAG", tag);
  print_line("ordinary", ordinary);
  if (file == nullptr) return 0;
  std::fprintf(file, "{\"benchmark\":\"core\",\"goal_packets_per_s\":%.0f,\"runs\":%u,", GOAL_PACKETS_PER_S,
               RUNS);
  write_json(file, "data", data, ",");
  write_json(file, "data_generation_2", data2, ",");
  write_json(file, "tag", tag, ",");
  write_json(file, "ordinary", ordinary, "}\n");
  return std::fclose(file) == 0 ? 0 : 1;
}
