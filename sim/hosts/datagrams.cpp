// SPDX-License-Identifier: Apache-2.0
#include "datagrams.hpp"

namespace clarion::sim {

DatagramSource::DatagramSource(Host& host, const Address& remote, std::uint16_t port, std::uint64_t rate_bps,
                               std::uint32_t packet_bytes)
    : host_(host), local_(host.address()), remote_(remote), rate_bps_(rate_bps), packet_bytes_(packet_bytes) {
  local_.port = port;
}

void DatagramSource::start(Nanoseconds now) {
  began_ = now;
  next_ = now;
}

// Each datagram at its own time, counted from the start, so that roundings do not add up.
void DatagramSource::on_timer(Nanoseconds now) {
  if (next_ > now) return;
  host_.send_datagram(now, local_, remote_, payload_bytes());
  ++sent_;
  const auto bits = static_cast<unsigned __int128>(sent_) * packet_bytes_ * 8;
  next_ = began_ + static_cast<Nanoseconds>(bits * emu::SECOND_NS / rate_bps_);
}

DatagramSink::DatagramSink(Host& host, const Address& remote, std::uint16_t port)
    : host_(host), local_(host.address()), remote_(remote) {
  local_.port = port;
  host.bind(port, *this);
}

void DatagramSink::receive(Nanoseconds now, std::uint32_t payload_bytes) {
  received_bytes_ += payload_bytes;
  if (now < answer_at_) return;
  answer_at_ = now + ANSWER_NS;
  host_.send_datagram(now, local_, remote_, 0);
}

}  // namespace clarion::sim
