// SPDX-License-Identifier: Apache-2.0
#include "hls/sim/bench/pcap.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/host_units.hpp"
#include "hls/sim/bench/bench.hpp"

namespace clarion::sim {
namespace {

constexpr std::uint32_t MICROSECONDS = 0xa1b2c3d4;
constexpr std::uint32_t NANOSECONDS = 0xa1b23c4d;
constexpr std::uint32_t ETHERNET = 1;
constexpr std::uint32_t CLOCKS_PER_FRAME = 100'000;

struct FileHeader {
  std::uint32_t magic;
  std::uint16_t major, minor;
  std::int32_t zone;
  std::uint32_t accuracy, snapshot, link;
};

struct FrameHeader {
  std::uint32_t seconds, fraction, captured, length;
};

class Capture {
 public:
  explicit Capture(const std::string& path) : path_(path), file_(path, std::ios::binary) {
    if (!file_) throw std::runtime_error(path + ": cannot be read");
    if (!file_.read(reinterpret_cast<char*>(&header), sizeof header) ||
        (header.magic != MICROSECONDS && header.magic != NANOSECONDS) || header.link != ETHERNET)
      throw std::runtime_error(path + ": not a classic pcap of Ethernet frames in this machine's byte order");
  }

  // False at the end.
  bool next(FrameHeader& frame, std::vector<std::uint8_t>& bytes) {
    if (!file_.read(reinterpret_cast<char*>(&frame), sizeof frame)) return false;
    if (frame.captured != frame.length || frame.length > FRAME_MAX_BYTES)
      throw std::runtime_error(path_ + ": holds a frame that is cut, or longer than 9600 bytes");
    bytes.resize(frame.length);
    if (!file_.read(reinterpret_cast<char*>(bytes.data()), frame.length))
      throw std::runtime_error(path_ + ": ends within a frame");
    return true;
  }

  Ticks ticks(const FrameHeader& frame) const {
    const std::uint64_t unit_ns = header.magic == NANOSECONDS ? 1 : 1000;
    return ticks_of_ns(frame.seconds * std::uint64_t{1'000'000'000} + frame.fraction * unit_ns);
  }

  FileHeader header;

 private:
  std::string path_;
  std::ifstream file_;
};

void give(Bench& bench, unsigned unit, const Words& command) {
  bench.schedule(unit, bench.clocks(), command);
  bench.settle(CLOCKS_PER_FRAME);
}

void switch_on(Bench& bench) {
  using namespace registers;
  Words check{OP_CONFIGURE};
  check[INGRESS_CONFIGURE_CHECK] = check[INGRESS_CONFIGURE_WIRE] = check[INGRESS_CONFIGURE_EPOCH] = 1;
  give(bench, 0, check);
  Words stamp{OP_CONFIGURE};
  stamp[EGRESS_CONFIGURE_STAMP] = stamp[EGRESS_CONFIGURE_GENERATION] = 1;
  stamp[EGRESS_CONFIGURE_MIN_INTERVAL] = stamp[EGRESS_CONFIGURE_MAX_INTERVAL] = 1;
  stamp[EGRESS_CONFIGURE_QUEUE_LIMIT] = static_cast<std::uint32_t>(QUEUE_MAX);
  stamp[EGRESS_CONFIGURE_QUEUE_LIMIT + 1] = static_cast<std::uint32_t>(QUEUE_MAX >> 32);
  give(bench, 3, stamp);
}

unsigned pass(Capture& from, std::ofstream& to) {
  Bench bench(2, true);
  switch_on(bench);
  to.write(reinterpret_cast<const char*>(&from.header), sizeof from.header);
  FrameHeader header{};
  SentFrame frame;
  unsigned passed = 0;
  while (from.next(header, frame.bytes)) {
    frame.bytes.resize(std::max<std::size_t>(frame.bytes.size(), FRAME_MIN_BYTES));
    bench.wires.now = from.ticks(header);
    bench.source(0, false).add(frame);
    if (!bench.settle(CLOCKS_PER_FRAME)) throw std::runtime_error("the block does not come to rest");
    for (Sink& sink = bench.sink(1, false); !sink.frames.empty(); sink.frames.pop_front(), ++passed) {
      const std::vector<std::uint8_t>& bytes = sink.frames.front().bytes;
      header.captured = header.length = static_cast<std::uint32_t>(bytes.size());
      to.write(reinterpret_cast<const char*>(&header), sizeof header);
      to.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    }
  }
  return passed;
}

}  // namespace

int pass_pcap(const char* in, const char* out) {
  try {
    Capture from(in);
    std::ofstream to(out, std::ios::binary);
    const unsigned passed = to ? pass(from, to) : 0;
    if (!to.flush()) throw std::runtime_error(std::string(out) + ": cannot be written");
    std::fprintf(stderr, "%u frames passed\n", passed);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "block-driver: %s\n", error.what());
    return 2;
  }
}

}  // namespace clarion::sim
