// SPDX-License-Identifier: Apache-2.0
// A path with one queue for the laws of cc/stack.h: packet by packet, without losses.
#ifndef CLARION_TESTS_CC_STACK_PATH_HPP
#define CLARION_TESTS_CC_STACK_PATH_HPP

#include <algorithm>
#include <deque>

#include "cc/stack.h"

namespace clarion::testing {

// A packet leaves the queue every `service_us`. If it is empty, its ACK comes `base_us` after the packet was
// sent.
class StackPath {
 public:
  StackPath(__u64 service_us, __u64 base_us) : service_us_(service_us), base_us_(base_us) {}

  __u32 bdp() const { return static_cast<__u32>(base_us_ / service_us_); }

  // All that the window allows is sent.
  void fill(cc_stack& tcp) {
    for (; tcp.next - tcp.una < tcp.cwnd; tcp.next++) {
      free_us_ = std::max(free_us_, tcp.now_us) + service_us_;
      under_way_.push_back({tcp.now_us, free_us_ - service_us_ + base_us_});
    }
  }

  // The next ACK arrives, for one packet. Returns the packet's round trip.
  __s64 acknowledge(cc_stack& tcp) {
    const Packet packet = under_way_.front();
    under_way_.pop_front();
    tcp.now_us = packet.acked_us;
    tcp.una++;
    return static_cast<__s64>(packet.acked_us - packet.sent_us);
  }

 private:
  struct Packet {
    __u64 sent_us, acked_us;
  };
  __u64 service_us_, base_us_;
  __u64 free_us_ = 0;  // when the queue has sent all that it holds
  std::deque<Packet> under_way_;
};

}  // namespace clarion::testing

#endif  // CLARION_TESTS_CC_STACK_PATH_HPP
