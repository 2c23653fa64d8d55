// SPDX-License-Identifier: Apache-2.0
// UDP at a constant rate, from one host to another.
#pragma once

#include <cstdint>

#include "host.hpp"

namespace clarion::sim {

// Sends datagrams at even distances, from start() to stop().
class DatagramSource {
 public:
  // IP packets of `packet_bytes`.
  DatagramSource(Host& host, const Address& remote, std::uint16_t port, std::uint64_t rate_bps,
                 std::uint32_t packet_bytes);

  void start(Nanoseconds now);
  void stop() { next_ = NEVER; }

  Nanoseconds next_timer() const { return next_; }
  void on_timer(Nanoseconds now);

  std::uint64_t sent_packets() const { return sent_; }
  std::uint32_t payload_bytes() const { return packet_bytes_ - UDP_AND_IP_BYTES; }

  static constexpr std::uint32_t UDP_AND_IP_BYTES = 28;

 private:
  static constexpr Nanoseconds NEVER = emu::NEVER;

  Host& host_;
  Address local_;
  Address remote_;
  std::uint64_t rate_bps_;
  std::uint32_t packet_bytes_;
  Nanoseconds began_ = 0;
  Nanoseconds next_ = NEVER;
  std::uint64_t sent_ = 0;
};

// Counts what arrives.
class DatagramSink final : public DatagramReceiver {
 public:
  DatagramSink(Host& host, std::uint16_t port) { host.bind(port, *this); }

  void receive(std::uint32_t payload_bytes) override { received_bytes_ += payload_bytes; }
  std::uint64_t received_bytes() const { return received_bytes_; }

 private:
  std::uint64_t received_bytes_ = 0;
};

}  // namespace clarion::sim
