// SPDX-License-Identifier: Apache-2.0
// The register arrays of the P4 program, read from the core.
#include "core_path.hpp"
#include "port.hpp"

namespace clarion::emu {
namespace {

constexpr std::int64_t LIMITED_BITS = (std::int64_t{1} << 40) - 1;  // two's complement
constexpr std::uint8_t QUEUE_EPOCH = 1;  // the queue's check is never made to forget

const CorePath& path(const Port& port) { return static_cast<const CorePath&>(*port.path); }
const CorePort& core(const Port& port) { return path(port).core(); }
Shares pools(const Port& port) { return core(port).departure.left(); }
const MaxMinGains& gains(const Port& port) { return core(port).departure.gains(); }
const OwnSums& own(const Port& port) { return core(port).departure.sums(); }
const IntervalReport& report(const Port& port) { return core(port).interval.report(); }
const IntervalSums& sums(const Port& port) { return core(port).arrival.sums(); }

// far 8, epoch 8, expected 16, total 16
template <typename Check>
std::uint64_t slot(std::uint8_t epoch, const Check& check, std::uint16_t bucket) {
  return std::uint64_t{check.far(bucket)} << 40 | std::uint64_t{epoch} << 32 |
         std::uint64_t{check.expected(bucket)} << 16 | check.total(bucket);
}

// A cell that is the value of an expression of `port` and `bucket`.
#define CELL(NAME, PER_BUCKET, VALUE)                                              \
  {NAME, PER_BUCKET, [](const Port& port, [[maybe_unused]] std::uint16_t bucket) { \
     return static_cast<std::uint64_t>(VALUE);                                     \
   }}

constexpr RegisterArray ARRAYS[] = {
    CELL("wire_slots", true,
         slot(path(port).epochs().slot(core(port), bucket), core(port).wire_check, bucket)),
    CELL("wire_lost", false, core(port).wire_check.counters().lost),
    CELL("accepted_bytes", false, port.counters.tx_bytes + port.path->queue_bytes()),
    CELL("left_bytes", false, port.counters.tx_bytes),
    CELL("queue_byte_us", false, port.queue_statistics.byte_us()),
    CELL("xcp_epoch", false, path(port).epochs().xcp_running(core(port))),
    CELL("avg_rtt", false, report(port).avg_rtt),
    CELL("interval_start", false, core(port).interval.start()),
    CELL("window_start", false, core(port).queue.window_start()),
    CELL("persistent_queue", false, core(port).queue.persistent_bytes()),
    CELL("input", false, sums(port).input),
    CELL("sum_x", false, sums(port).sum_x),
    CELL("sum_x_rtt", false, sums(port).sum_x_rtt),
    CELL("intervals", false, report(port).intervals& TICKS_MAX),
    CELL("least_queue", false, core(port).queue.minimum_bytes()),
    CELL("pos", false, pools(port).pos),
    CELL("neg", false, pools(port).neg),
    CELL("cp", false, pools(port).cp.mantissa),
    CELL("cp_shift", false, pools(port).cp.shift),
    CELL("cn", false, pools(port).cn.mantissa),
    CELL("cn_shift", false, pools(port).cn.shift),
    CELL("carry", false, core(port).departure.carry_q8()),
    CELL("fair", false, gains(port).fair.mantissa),
    CELL("fair_shift", false, gains(port).fair.shift),
    CELL("lift", false, gains(port).lift.mantissa),
    CELL("lift_shift", false, gains(port).lift.shift),
    CELL("growth", false, gains(port).growth.mantissa),
    CELL("growth_shift", false, gains(port).growth.shift),
    CELL("bank", false, core(port).departure.bank_q8()),
    CELL("own_input", false, own(port).input),
    CELL("own_sum_x", false, own(port).sum_x),
    CELL("poor_sum_x", false, own(port).sum_x_poor),
    CELL("limited", false, own(port).limited& LIMITED_BITS),
    CELL("max_rtt", false, own(port).max_rtt),
    CELL("credit", false, core(port).credit),
    CELL("phi", false, static_cast<std::uint64_t>(report(port).phi_q8)),
    CELL("queue_numbers", true, core(port).queue_stamp.next(bucket)),
    CELL("queue_slots", true,
         slot(core(port).queue_check.based(bucket) ? QUEUE_EPOCH : std::uint8_t{0}, core(port).queue_check,
              bucket)),
    CELL("queue_lost", false, core(port).queue_check.counters().lost),
    CELL("link_numbers", true, core(port).link_stamp.next(bucket)),
    CELL("queue_drop_number", false, port.drop_number),
};

#undef CELL

}  // namespace

const RegisterArray* CorePath::find_register(const std::string& name) const {
  for (const RegisterArray& array : ARRAYS) {
    if (name == array.name) return &array;
  }
  return nullptr;
}

}  // namespace clarion::emu
