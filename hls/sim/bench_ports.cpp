// SPDX-License-Identifier: Apache-2.0
// Benchmark: frames per second on one CPU through an ingress and an egress unit in turn.
#include <cstdio>
#include <ctime>

#include "core/byte_order.hpp"
#include "core/header.hpp"
#include "hls/sim/simulated_port.hpp"

namespace {

using namespace clarion;

constexpr std::uint32_t HEADER_AT = 34;
constexpr std::uint8_t PROTOCOL = 253;

sim::Bytes data_frame(std::uint32_t length) {
  sim::Bytes frame(length);
  store_be16(&frame[12], ETHERTYPE_IPV4);
  frame[14] = 0x45;
  store_be16(&frame[16], static_cast<std::uint16_t>(length - ETHERNET_BYTES));
  frame[23] = PROTOCOL;
  if (length < HEADER_AT + DATA_BYTES) return frame;
  frame[HEADER_AT + OFFSET_LENGTH] = DATA_BYTES;
  frame[HEADER_AT + OFFSET_VERSION_FORMAT] = HEADER_VERSION << 4 | 1;
  return frame;
}

void switch_xcp_on(sim::SimulatedPort& port) {
  using namespace registers;
  sim::CommandWords command{OP_CONFIGURE};
  command[EGRESS_CONFIGURE_XCP] = command[EGRESS_CONFIGURE_STAMP] = command[EGRESS_CONFIGURE_EPOCH] = 1;
  command[EGRESS_CONFIGURE_CAPACITY] = 1'250'000;
  command[EGRESS_CONFIGURE_MIN_INTERVAL] = command[EGRESS_CONFIGURE_MAX_INTERVAL] = 1 << 20;
  command[EGRESS_CONFIGURE_GENERATION] = 2;
  command[EGRESS_CONFIGURE_QUEUE_LIMIT] = 1 << 20;
  port.ask_egress(0, command);
}

void measure(std::uint32_t length, unsigned frames) {
  sim::SimulatedPort port(PROTOCOL);
  switch_xcp_on(port);
  const sim::Bytes frame = data_frame(length);
  const std::uint64_t clocks = port.clocks();
  const std::clock_t start = std::clock();
  for (unsigned i = 0; i < frames; ++i) {
    const Ticks now = i * 1'000ULL;
    const sim::Bytes& passed = port.receive(now, frame.data(), length);
    port.offer(now, passed.data(), static_cast<std::uint32_t>(passed.size()));
    port.take(now);
  }
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  const double clocked = static_cast<double>(port.clocks() - clocks);
  std::printf("%4u bytes: %7.0f frames/s, %.0f clocks each, %.2f us per clock\n", length, frames / seconds,
              clocked / frames, 1e6 * seconds / clocked);
}

}  // namespace

int main() {
  measure(60, 200'000);
  measure(1514, 20'000);
}
