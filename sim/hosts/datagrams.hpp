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

  // One without payload, which counts for nothing: the sink answers it, so that switches know the way.
  void greet(Nanoseconds now) { host_.send_datagram(now, local_, remote_, 0); }

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

// Counts what arrives. What arrives first it answers without payload, and then once a minute: switches forget
// an address of which they hear nothing.
class DatagramSink final : public DatagramReceiver {
 public:
  static constexpr Nanoseconds ANSWER_NS = 60 * emu::SECOND_NS;

  DatagramSink(Host& host, const Address& remote, std::uint16_t port);

  void receive(Nanoseconds now, std::uint32_t payload_bytes) override;
  std::uint64_t received_bytes() const { return received_bytes_; }

 private:
  Host& host_;
  Address local_;
  Address remote_;
  Nanoseconds answer_at_ = 0;
  std::uint64_t received_bytes_ = 0;
};

}  // namespace clarion::sim
