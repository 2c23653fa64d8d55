// SPDX-License-Identifier: Apache-2.0
#include "counters.hpp"

namespace clarion::emu {

const std::array<CounterArray, COUNTER_ARRAYS> COUNTERS = {{
    {"malformed", [](const Port& port) { return CounterValue{port.path->telemetry().malformed, 0}; }},
    {"wire_late", [](const Port& port) { return CounterValue{port.path->telemetry().wire.late, 0}; }},
    {"wire_rebased", [](const Port& port) { return CounterValue{port.path->telemetry().wire.rebased, 0}; }},
    {"queue_late", [](const Port& port) { return CounterValue{port.path->telemetry().queue.late, 0}; }},
    {"queue_rebased", [](const Port& port) { return CounterValue{port.path->telemetry().queue.rebased, 0}; }},
    {"tx", [](const Port& port) { return CounterValue{port.counters.tx_packets, port.counters.tx_bytes}; }},
    {"queue_drops",
     [](const Port& port) { return CounterValue{port.counters.drop_packets, port.counters.drop_bytes}; }},
    {"rx", [](const Port& port) { return CounterValue{port.counters.rx_packets, port.counters.rx_bytes}; }},
}};

CounterValue read_counter(const Port& port, std::size_t array) {
  const CounterValue now = COUNTERS[array].since_start(port);
  const CounterValue& before = port.counters_at_reset[array];
  return {now.packets - before.packets, now.bytes - before.bytes};
}

void reset_counters(Port& port) {
  for (std::size_t array = 0; array < COUNTER_ARRAYS; ++array) {
    port.counters_at_reset[array] = COUNTERS[array].since_start(port);
  }
}

}  // namespace clarion::emu
