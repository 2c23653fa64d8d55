// SPDX-License-Identifier: Apache-2.0
#include "lldp.hpp"

#include <algorithm>

#include "fabric.hpp"

namespace clarion::emu {

void Lldp::run(Nanoseconds now) {
  if (now >= next_hello_) greet(now);
  if (now >= next_time_) expire(now);
}

void Lldp::greet(Nanoseconds now) {
  const auto& ports = fabric_.ports();
  if (is_first_) {
    for (const auto& port : ports) send(*port, now, TTL_S);
    is_first_ = false;
    next_hello_ = now + HELLO_EVERY_NS;
    return;
  }
  next_hello_ = std::max(next_hello_, now - HELLO_EVERY_NS);  // what a standstill has cost is not made up for
  const auto pause = HELLO_EVERY_NS / std::max<std::size_t>(ports.size(), 1);
  for (; next_hello_ <= now; next_hello_ += pause) {
    if (!ports.empty()) send(*ports[next_port_++ % ports.size()], now, TTL_S);
  }
}

void Lldp::expire(Nanoseconds now) {
  next_time_ = NEVER;
  for (const auto& port : fabric_.ports()) {
    const Judgement before = port->neighbours.judgement();
    port->neighbours.expire(now);
    judge(*port, before);
    next_time_ = std::min(next_time_, port->neighbours.next_expiry());
  }
}

void Lldp::farewell(Nanoseconds now) {
  for (const auto& port : fabric_.ports()) send(*port, now, 0);
}

void Lldp::send(Port& port, Nanoseconds now, std::uint16_t ttl_s) {
  if (!speaks(port) || (port.peer == nullptr && !port.netdev)) return;
  const bool checks = port.entries.tag && port.entries.tag->check;
  const auto frame = compose_lldp({{LldpId::LOCAL, port.parent->chassis_id},
                                   {LldpId::LOCAL, port.options.name},
                                   ttl_s,
                                   ClarionPort{port.entries.stamp, checks}});
  const auto length = static_cast<std::uint32_t>(frame.size());
  if (port.hello_out.lost(length) || port.options.hazards.down || now < port.parent->down_until) return;
  if (port.peer != nullptr) return hear(*port.peer, now, frame.data(), length);
  port.netdev->send(frame.data(), length);
  port.netdev->flush();
}

void Lldp::receive(Port& port, Nanoseconds now, const std::uint8_t* frame, std::uint32_t length) {
  if (!port.hello_in.lost(length)) hear(port, now, frame, length);
}

void Lldp::hear(Port& port, Nanoseconds now, const std::uint8_t* frame, std::uint32_t length) {
  if (now < port.parent->down_until) return;
  fabric_.tell_controller(*port.parent, &port, frame, length);
  if (!speaks(port)) return;
  const auto heard = parse_lldp(frame, length);
  if (!heard) return;
  const Judgement before = port.neighbours.judgement();
  port.neighbours.hear(*heard, now);
  judge(port, before);
  next_time_ = std::min(next_time_, port.neighbours.next_expiry());
}

// The path learns of a wire that is another one than before.
void Lldp::judge(Port& port, Judgement before) {
  if (port.neighbours.judgement() != before) fabric_.enter(port, port.entries);
}

}  // namespace clarion::emu
