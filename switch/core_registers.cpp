// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "core_path.hpp"
#include "port.hpp"

namespace clarion::emu {
namespace {

using Access = StateAccess;

constexpr std::uint8_t kQueueEpoch = 1;  // the queue's check is never made to forget

// Ports of one switch have paths of one kind, and this kind offers these arrays.
CorePath& path(Port& port) { return static_cast<CorePath&>(*port.path); }

CorePort& core(Port& port) { return path(port).core(); }

// epoch 8, expected 16, total 16
std::uint64_t packed(std::uint8_t epoch, std::uint16_t expected, std::uint16_t total) {
  return std::uint64_t{epoch} << 32 | std::uint64_t{expected} << 16 | total;
}

template <typename Check>
void unpack(Check& check, unsigned bucket, std::uint64_t value) {
  Access::expected(check, bucket) = static_cast<std::uint16_t>(value >> 16);
  Access::total(check, bucket) = static_cast<std::uint16_t>(value);
}

// A cell that is a plain number of the core: PLACE is an expression of `port` and `bucket`.
#define CELL(NAME, BITS, PER_BUCKET, PLACE)                                                        \
  {NAME, BITS, PER_BUCKET,                                                                         \
   [](Port& port, [[maybe_unused]] unsigned bucket) { return static_cast<std::uint64_t>(PLACE); }, \
   [](Port& port, [[maybe_unused]] unsigned bucket, std::uint64_t value) {                         \
     PLACE = static_cast<std::remove_reference_t<decltype(PLACE)>>(value);                         \
   }}

const std::vector<RegisterArray>& arrays() {
  static const std::vector<RegisterArray> all = {
      {"wire_slots", 40, true,
       [](Port& port, unsigned bucket) {
         const auto& check = core(port).wire_check;
         const auto number = static_cast<std::uint16_t>(bucket);
         return packed(path(port).epochs().slot(core(port), bucket), check.expected(number),
                       check.total(number));
       },
       [](Port& port, unsigned bucket, std::uint64_t value) {
         unpack(core(port).wire_check, bucket, value);
         path(port).epochs().set_slot(core(port), bucket, static_cast<std::uint8_t>(value >> 32));
       }},
      CELL("wire_lost", 64, false, Access::counters(core(port).wire_check).lost),
      {"accepted_bytes", 64, false,
       [](Port& port, unsigned) { return port.counters.tx_bytes + port.path->queue_bytes(); }, nullptr},
      {"left_bytes", 64, false, [](Port& port, unsigned) { return port.counters.tx_bytes; }, nullptr},
      {"queue_byte_us", 64, false, [](Port& port, unsigned) { return port.queue_statistics.byte_us(); },
       nullptr},
      {"xcp_epoch", 8, false,
       [](Port& port, unsigned) { return std::uint64_t{path(port).epochs().xcp_running(core(port))}; },
       [](Port& port, unsigned, std::uint64_t value) {
         path(port).epochs().set_xcp_running(core(port), static_cast<std::uint8_t>(value));
       }},
      CELL("avg_rtt", 32, false, Access::report(core(port).interval).avg_rtt),
      {"interval_start", 64, false,
       [](Port& port, unsigned) { return std::uint64_t{Access::interval_start(core(port).interval)}; },
       [](Port& port, unsigned, std::uint64_t value) {
         Access::interval_start(core(port).interval) = value;
         Access::started(core(port).interval) = true;
       }},
      {"window_start", 64, false,
       [](Port& port, unsigned) { return std::uint64_t{Access::window_start(core(port).queue)}; },
       [](Port& port, unsigned, std::uint64_t value) {
         Access::window_start(core(port).queue) = value;
         Access::started(core(port).queue) = true;
       }},
      CELL("persistent_queue", 40, false, Access::persistent(core(port).queue)),
      CELL("input", 48, false, Access::sums(core(port).arrival).input),
      CELL("sum_x", 48, false, Access::sums(core(port).arrival).sum_x),
      CELL("sum_x_rtt", 64, false, Access::sums(core(port).arrival).sum_x_rtt),
      {"intervals", 32, false,
       [](Port& port, unsigned) { return core(port).interval.report().intervals & TICKS_MAX; },
       [](Port& port, unsigned, std::uint64_t value) {
         Access::report(core(port).interval).intervals = value;
       }},
      CELL("least_queue", 40, false, Access::minimum(core(port).queue)),
      CELL("pos", 48, false, Access::left(core(port).departure).pos),
      CELL("neg", 48, false, Access::left(core(port).departure).neg),
      CELL("cp", 32, false, Access::left(core(port).departure).cp.mantissa),
      CELL("cp_shift", 6, false, Access::left(core(port).departure).cp.shift),
      CELL("cn", 32, false, Access::left(core(port).departure).cn.mantissa),
      CELL("cn_shift", 6, false, Access::left(core(port).departure).cn.shift),
      CELL("carry", 8, false, Access::carry(core(port).departure)),
      CELL("queue_numbers", 16, true, Access::next(core(port).queue_stamp, bucket)),
      {"queue_slots", 40, true,
       [](Port& port, unsigned bucket) {
         const auto& check = core(port).queue_check;
         const auto number = static_cast<std::uint16_t>(bucket);
         const std::uint8_t epoch = check.based(number) ? kQueueEpoch : std::uint8_t{0};
         return packed(epoch, check.expected(number), check.total(number));
       },
       [](Port& port, unsigned bucket, std::uint64_t value) {
         unpack(core(port).queue_check, bucket, value);
         Access::based(core(port).queue_check, bucket) = value >> 32 == kQueueEpoch;
       }},
      CELL("queue_lost", 64, false, Access::counters(core(port).queue_check).lost),
      CELL("link_numbers", 16, true, Access::next(core(port).link_stamp, bucket)),
      CELL("queue_drop_number", 32, false, port.drop_number),
  };
  return all;
}

}  // namespace

const RegisterArray* CorePath::find_register(const std::string& name) const {
  for (const RegisterArray& array : arrays()) {
    if (name == array.name) return &array;
  }
  return nullptr;
}

std::uint64_t register_limit(const RegisterArray& array) {
  return array.bits == 64 ? UINT64_MAX : max_of_bits(array.bits);
}

}  // namespace clarion::emu
