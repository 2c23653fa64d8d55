// SPDX-License-Identifier: Apache-2.0
#include "netdev.hpp"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include "frame_repair.hpp"
#include "netdev_setup.hpp"

namespace clarion::emu {
namespace {

constexpr std::uint32_t SLOT_BYTES = 2048;
constexpr std::uint32_t SLOTS = 4096;  // 50 ms of full frames at 1 Gbit/s
constexpr std::uint32_t BLOCK_BYTES = 1 << 16;
constexpr std::uint32_t RESERVE_BYTES = 16;  // in front of the frame, for a VLAN tag to come back
// virtio 1.2, section 5.1.6. <linux/virtio_net.h> does not compile as C++ on every distribution.
struct VirtioNetHeader {
  static constexpr std::uint8_t NEEDS_CHECKSUM = 1;
  static constexpr std::uint8_t NO_SEGMENTATION = 0;
  std::uint8_t flags;
  std::uint8_t gso_type;
  std::uint16_t header_bytes;
  std::uint16_t gso_bytes;
  std::uint16_t checksum_start;
  std::uint16_t checksum_offset;
};
static_assert(sizeof(VirtioNetHeader) == 10);

constexpr int SEND_BUFFER_BYTES = 8 << 20;

[[noreturn]] void fail(const std::string& action) {
  throw std::runtime_error(action + ": " + std::strerror(errno));
}

template <typename T>
void set_option(int fd, int level, int option, const T& value, const char* name) {
  if (setsockopt(fd, level, option, &value, sizeof(value)) != 0) fail(std::string("setsockopt ") + name);
}

void bind_to(int fd, int ifindex, std::uint16_t protocol) {
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(protocol);
  address.sll_ifindex = ifindex;
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) fail("bind");
}

int packet_socket() {
  const int fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) fail("packet socket (is the process root, or has it CAP_NET_RAW?)");
  return fd;
}

}  // namespace

Netdev::Netdev(const std::string& name) : name_(name) {
  const unsigned ifindex = if_nametoindex(name.c_str());
  if (ifindex == 0) throw std::runtime_error("no network device '" + name + "' in this network namespace");
  try {
    prepare_device(name);
    open_receiver(static_cast<int>(ifindex));
    open_sender(static_cast<int>(ifindex));
  } catch (...) {
    close_all();
    throw;
  }
  for (std::size_t i = 0; i < BURST; ++i) {
    messages_[i].msg_hdr.msg_iov = &vectors_[i];
    messages_[i].msg_hdr.msg_iovlen = 1;
  }
}

Netdev::~Netdev() { close_all(); }

void Netdev::close_all() {
  if (ring_ != nullptr) munmap(ring_, std::size_t{SLOTS} * SLOT_BYTES);
  if (rx_fd_ >= 0) close(rx_fd_);
  if (tx_fd_ >= 0) close(tx_fd_);
}

// Protocol 0 until the final bind, so that no frame arrives before the ring is there.
void Netdev::open_receiver(int ifindex) {
  rx_fd_ = packet_socket();
  set_option(rx_fd_, SOL_PACKET, PACKET_VERSION, int{TPACKET_V2}, "PACKET_VERSION");
  set_option(rx_fd_, SOL_PACKET, PACKET_VNET_HDR, 1, "PACKET_VNET_HDR");
  set_option(rx_fd_, SOL_PACKET, PACKET_RESERVE, RESERVE_BYTES, "PACKET_RESERVE");
  set_option(rx_fd_, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1, "PACKET_IGNORE_OUTGOING");
  tpacket_req request{};
  request.tp_block_size = BLOCK_BYTES;
  request.tp_block_nr = SLOTS / (BLOCK_BYTES / SLOT_BYTES);
  request.tp_frame_size = SLOT_BYTES;
  request.tp_frame_nr = SLOTS;
  set_option(rx_fd_, SOL_PACKET, PACKET_RX_RING, request, "PACKET_RX_RING");
  void* ring = mmap(nullptr, std::size_t{SLOTS} * SLOT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, rx_fd_, 0);
  if (ring == MAP_FAILED) fail("mmap of the receive ring");
  ring_ = static_cast<std::uint8_t*>(ring);
  packet_mreq promiscuous{};
  promiscuous.mr_ifindex = ifindex;
  promiscuous.mr_type = PACKET_MR_PROMISC;  // ends with the socket, even on SIGKILL
  set_option(rx_fd_, SOL_PACKET, PACKET_ADD_MEMBERSHIP, promiscuous, "PACKET_ADD_MEMBERSHIP");
  bind_to(rx_fd_, ifindex, ETH_P_ALL);
}

void Netdev::open_sender(int ifindex) {
  tx_fd_ = packet_socket();
  set_option(tx_fd_, SOL_PACKET, PACKET_QDISC_BYPASS, 1, "PACKET_QDISC_BYPASS");
  if (setsockopt(tx_fd_, SOL_SOCKET, SO_SNDBUFFORCE, &SEND_BUFFER_BYTES, sizeof(SEND_BUFFER_BYTES)) != 0) {
    set_option(tx_fd_, SOL_SOCKET, SO_SNDBUF, SEND_BUFFER_BYTES, "SO_SNDBUF");
  }
  bind_to(tx_fd_, ifindex, 0);
}

tpacket2_hdr* Netdev::slot() const {
  return reinterpret_cast<tpacket2_hdr*>(ring_ + std::size_t{next_slot_} * SLOT_BYTES);
}

bool Netdev::peek(ReceivedFrame& frame) {
  for (;;) {
    tpacket2_hdr* header = slot();
    if ((__atomic_load_n(&header->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER) == 0) return false;
    if (accept(*header, frame)) return true;
    release();
  }
}

// Restores what the kernel took apart: the checksum first, because its offsets do not know of the VLAN tag.
bool Netdev::accept(tpacket2_hdr& header, ReceivedFrame& frame) {
  if (header.tp_snaplen != header.tp_len) {
    ++counters_.rx_oversized;
    return false;
  }
  std::uint8_t* data = reinterpret_cast<std::uint8_t*>(&header) + header.tp_mac;
  frame = {data, header.tp_len, Nanoseconds{header.tp_sec} * SECOND_NS + header.tp_nsec};
  VirtioNetHeader vnet;
  std::memcpy(&vnet, data - sizeof(vnet), sizeof(vnet));
  if (vnet.gso_type != VirtioNetHeader::NO_SEGMENTATION) {
    ++counters_.rx_oversized;
    return false;
  }
  if ((vnet.flags & VirtioNetHeader::NEEDS_CHECKSUM) != 0) {
    complete_checksum(frame.data, frame.length, vnet.checksum_start, vnet.checksum_offset);
    ++counters_.rx_checksums_completed;
  }
  if ((header.tp_status & TP_STATUS_VLAN_VALID) != 0) {
    const bool has_tpid = (header.tp_status & TP_STATUS_VLAN_TPID_VALID) != 0;
    frame.data =
        insert_vlan_tag(frame.data, has_tpid ? header.tp_vlan_tpid : ETH_P_8021Q, header.tp_vlan_tci);
    frame.length += VLAN_TAG_BYTES;
  }
  return true;
}

void Netdev::release() {
  __atomic_store_n(&slot()->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
  next_slot_ = (next_slot_ + 1) % SLOTS;
}

void Netdev::send(const std::uint8_t* frame, std::uint32_t length) {
  vectors_[unsent_++] = {const_cast<std::uint8_t*>(frame), length};
}

// A frame that the device refuses is dropped, as a broken cable would: a switch that waited for one port
// would delay all others.
void Netdev::flush() {
  for (std::size_t done = 0; done < unsent_;) {
    const int sent = sendmmsg(tx_fd_, &messages_[done], static_cast<unsigned>(unsent_ - done), MSG_DONTWAIT);
    if (sent > 0) {
      done += static_cast<std::size_t>(sent);
    } else if (errno != EINTR) {
      ++counters_.tx_errors;
      ++done;
    }
  }
  unsent_ = 0;
}

const NetdevCounters& Netdev::counters() {
  tpacket_stats statistics{};
  socklen_t length = sizeof(statistics);
  if (getsockopt(rx_fd_, SOL_PACKET, PACKET_STATISTICS, &statistics, &length) == 0) {
    counters_.rx_kernel_drops += statistics.tp_drops;  // reading resets it
  }
  return counters_;
}

}  // namespace clarion::emu
