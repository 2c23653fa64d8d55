// SPDX-License-Identifier: Apache-2.0
// The router of Quick-Start (RFC 4782): a SYN asks, in an IP option, for the rate at which its connection may
// begin; each router of the path approves it, lowers it, or refuses.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "../random.hpp"
#include "core/byte_order.hpp"
#include "ip_option.hpp"
#include "router_law.hpp"

namespace clarion::emu {

// Both options, that of IPv4 with the request and that of TCP with the response, as the RFC lays them out:
// type, length, function (or reserved) and rate, TTL (or its difference), and 30 bits of nonce in the upper
// part of a word.
namespace quick_start {

constexpr std::uint8_t IP_OPTION = 25;
constexpr std::uint8_t TCP_OPTION = 27;
constexpr std::uint8_t BYTES = 8;
constexpr std::uint8_t REQUEST = 0;  // functions
constexpr std::uint8_t REPORT = 8;   // of the rate that was approved
constexpr std::uint8_t FASTEST = 15;
constexpr std::uint32_t NONCE_MASK = (1U << 30) - 1;

// Of a rate's code; 0: none.
constexpr std::uint64_t rate_bps(std::uint8_t code) { return code == 0 ? 0 : std::uint64_t{40'000} << code; }

// The greatest that is not above `bps`.
constexpr std::uint8_t code_of(double bps) {
  std::uint8_t code = 0;
  while (code < FASTEST && static_cast<double>(rate_bps(static_cast<std::uint8_t>(code + 1))) <= bps) ++code;
  return code;
}

// The part of the nonce that an approval of that code must have left: two bits for each step of the rate
// below it, the lowest step's last. Who lowers the rate overwrites those of the steps that it takes.
constexpr std::uint32_t kept_nonce(std::uint8_t code) { return (1U << 2 * code) - 1; }

}  // namespace quick_start

struct QuickStartSettings {
  bool aware = true;  // false: a router that does not know the option
  Nanoseconds interval_ns =
      200'000'000;      // in which the use is measured, and for which an approval is remembered
  double share = 0.85;  // of the rate, up to which what is not used may be given away
};

// The "target" algorithm of Sarolahti, Allman and Floyd (2007), as ns-2 has it: the use is the greatest of
// the last five intervals; what was approved in this interval and the one before is counted as used. A packet
// with the option passes a router here, not a bridge: its TTL goes down.
class QuickStartRouter final : public RouterLaw {
 public:
  QuickStartRouter(const QuickStartSettings& settings, Nanoseconds now, std::uint64_t rate_bps,
                   RandomStream random)
      : settings_(settings), rate_bps_(rate_bps), random_(random), began_(now) {}

  void set_rate(Nanoseconds /*now*/, std::uint64_t rate_bps) override { rate_bps_ = rate_bps; }
  void arrive(Nanoseconds /*now*/, const std::uint8_t* /*frame*/, std::uint32_t /*length*/) override {}
  void queue_is(Nanoseconds /*now*/, std::uint64_t /*bytes*/) override {}

  void depart(Nanoseconds now, std::uint8_t* frame, std::uint32_t length) override {
    catch_up(now);
    const auto found = find_ip_option(frame, length, quick_start::IP_OPTION, quick_start::BYTES);
    if (found.found())
      pass_router(found, [&](const std::uint8_t* /*ip*/, std::uint8_t* option) { answer(option); });
    used_bytes_[0] += length;
  }

  void restart(Nanoseconds now) override { *this = QuickStartRouter(settings_, now, rate_bps_, random_); }

  std::vector<std::pair<const char*, double>> report() const override {
    return {{"requests", requests_}, {"approved", approvals_}, {"available_bps", available_bps()}};
  }

  double available_bps() const {
    const double seconds = static_cast<double>(settings_.interval_ns) / static_cast<double>(SECOND_NS);
    const auto most = static_cast<double>(*std::max_element(used_bytes_.begin(), used_bytes_.end()));
    const double used_bps = 8 * most / seconds + approved_before_bps_ + approved_bps_;
    return std::max(0.0, settings_.share * static_cast<double>(rate_bps_) - used_bps);
  }

 private:
  void answer(std::uint8_t* option) {
    const std::uint8_t function = option[2] >> 4;
    const std::uint8_t wanted = option[2] & 0xf;
    if (!settings_.aware || function != quick_start::REQUEST || wanted == 0) return;
    ++requests_;
    const double bps = std::min(available_bps(), static_cast<double>(quick_start::rate_bps(wanted)));
    const std::uint8_t code = quick_start::code_of(bps);
    if (code == 0) return refuse(option);
    ++approvals_;
    approved_bps_ += static_cast<double>(quick_start::rate_bps(code));
    --option[3];
    if (code == wanted) return;
    option[2] = code;
    const std::uint32_t kept = quick_start::kept_nonce(code) << 2;
    const std::uint32_t taken = (quick_start::kept_nonce(wanted) << 2) & ~kept;
    const auto drawn = static_cast<std::uint32_t>(random_.uniform() * 4294967296.0);
    store_be32(option + 4, (load_be32(option + 4) & ~taken) | (drawn & taken));
  }

  // 3.3: rate, TTL and nonce are zero from here on.
  static void refuse(std::uint8_t* option) {
    option[2] = option[3] = 0;
    store_be32(option + 4, 0);
  }

  void catch_up(Nanoseconds now) {
    Nanoseconds over = (now - began_) / settings_.interval_ns;
    began_ += over * settings_.interval_ns;
    for (over = std::min<Nanoseconds>(over, INTERVALS); over > 0; --over) {
      std::rotate(used_bytes_.begin(), used_bytes_.end() - 1, used_bytes_.end());
      used_bytes_[0] = 0;
      approved_before_bps_ = approved_bps_;
      approved_bps_ = 0;
    }
  }

  static constexpr std::size_t INTERVALS = 6;  // five that are over, and the present one

  QuickStartSettings settings_;
  std::uint64_t rate_bps_;
  RandomStream random_;
  Nanoseconds began_;  // the present interval
  std::array<std::uint64_t, INTERVALS> used_bytes_{};
  double approved_bps_ = 0;
  double approved_before_bps_ = 0;
  double requests_ = 0;
  double approvals_ = 0;
};

}  // namespace clarion::emu
