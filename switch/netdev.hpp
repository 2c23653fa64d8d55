// SPDX-License-Identifier: Apache-2.0
// A port's network device, read through an AF_PACKET receive ring and written with sendmmsg.
//
// The kernel copies each frame into the ring, with its time, while the switch sleeps; reading the ring takes
// no system call. Frames leave past the queueing disciplines.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cstdint>
#include <string>

#include "clock.hpp"

struct tpacket2_hdr;

namespace clarion::emu {

struct ReceivedFrame {
  std::uint8_t* data = nullptr;
  std::uint32_t length = 0;
  Nanoseconds real_time_ns = 0;  // CLOCK_REALTIME at reception
};

struct NetdevCounters {
  std::uint64_t rx_kernel_drops = 0;         // the ring was full
  std::uint64_t rx_oversized = 0;            // longer than a ring slot, mostly GSO packets: dropped
  std::uint64_t rx_checksums_completed = 0;  // came with checksum offload, finished here
  std::uint64_t tx_errors = 0;               // the device refused the frame
};

class Netdev {
 public:
  // Longest frame a ring slot holds.
  static constexpr std::uint32_t MAX_FRAME_BYTES = 1940;

  explicit Netdev(const std::string& name);  // throws std::runtime_error "reason"
  Netdev(const Netdev&) = delete;
  Netdev& operator=(const Netdev&) = delete;
  ~Netdev();

  int fd() const { return rx_fd_; }

  // The oldest frame not yet released, which stays in place until release(). False: none.
  bool peek(ReceivedFrame& frame);
  void release();

  // Collects a frame unless burst_full(); its bytes must stay until flush().
  void send(const std::uint8_t* frame, std::uint32_t length);
  std::size_t unsent() const { return unsent_; }
  bool burst_full() const { return unsent_ == BURST; }
  void flush();

  const NetdevCounters& counters();  // reads the kernel's drop counter too

 private:
  static constexpr std::size_t BURST = 64;

  void open_receiver(int ifindex);
  void open_sender(int ifindex);
  void close_all();
  tpacket2_hdr* slot() const;
  bool accept(tpacket2_hdr& header, ReceivedFrame& frame);

  std::string name_;
  int rx_fd_ = -1;
  int tx_fd_ = -1;
  std::uint8_t* ring_ = nullptr;
  std::uint32_t next_slot_ = 0;
  std::size_t unsent_ = 0;
  NetdevCounters counters_;
  std::array<mmsghdr, BURST> messages_{};
  std::array<iovec, BURST> vectors_{};
};

}  // namespace clarion::emu
