// SPDX-License-Identifier: Apache-2.0
#include "counters.hpp"

namespace clarion::emu {

const std::vector<CounterArray>& counter_arrays() {
  static const std::vector<CounterArray> arrays = {
      {"malformed", false, [](const Port& port) { return CounterBase{port.path->telemetry().malformed, 0}; }},
      {"wire_late", false, [](const Port& port) { return CounterBase{port.path->telemetry().wire.late, 0}; }},
      {"wire_rebased", false,
       [](const Port& port) { return CounterBase{port.path->telemetry().wire.rebased, 0}; }},
      {"queue_late", false,
       [](const Port& port) { return CounterBase{port.path->telemetry().queue.late, 0}; }},
      {"queue_rebased", false,
       [](const Port& port) { return CounterBase{port.path->telemetry().queue.rebased, 0}; }},
      {"tx", true,
       [](const Port& port) { return CounterBase{port.counters.tx_packets, port.counters.tx_bytes}; }},
      {"queue_drops", true,
       [](const Port& port) { return CounterBase{port.counters.drop_packets, port.counters.drop_bytes}; }},
      {"rx", true,
       [](const Port& port) { return CounterBase{port.counters.rx_packets, port.counters.rx_bytes}; }},
  };
  return arrays;
}

std::size_t find_counter(const std::string& name) {
  std::size_t array = 0;
  while (array < counter_arrays().size() && name != counter_arrays()[array].name) ++array;
  return array;
}

CounterBase read_counter(const Port& port, std::size_t array) {
  const CounterBase raw = counter_arrays()[array].read(port);
  const CounterBase& base = port.counter_bases[array];
  return {raw.packets - base.packets, raw.bytes - base.bytes};
}

void write_counter(Port& port, std::size_t array, CounterBase value) {
  const CounterBase raw = counter_arrays()[array].read(port);
  port.counter_bases[array] = {raw.packets - value.packets, raw.bytes - value.bytes};
}

}  // namespace clarion::emu
