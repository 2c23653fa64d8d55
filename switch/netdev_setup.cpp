// SPDX-License-Identifier: Apache-2.0
#include "netdev_setup.hpp"

#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "error.hpp"

namespace clarion::emu {
namespace {

constexpr int MTU = 1600;

class Device {
 public:
  explicit Device(const std::string& name) : fd_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    if (fd_ < 0) throw std::runtime_error(std::string("socket: ") + std::strerror(errno));
    std::strncpy(request_.ifr_name, name.c_str(), IFNAMSIZ - 1);
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device() { close(fd_); }

  bool call(unsigned long command) { return ioctl(fd_, command, &request_) == 0; }
  ifreq& request() { return request_; }

 private:
  int fd_;
  ifreq request_{};
};

void raise_mtu(Device& device, const std::string& name) {
  if (!device.call(SIOCGIFMTU) || device.request().ifr_mtu >= MTU) return;
  device.request().ifr_mtu = MTU;
  if (!device.call(SIOCSIFMTU)) warn(name + ": cannot raise the MTU to 1600; longer frames will be lost");
}

void turn_off_offloads(Device& device) {
  for (const std::uint32_t command :
       {ETHTOOL_SGRO, ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SRXCSUM, ETHTOOL_STXCSUM}) {
    ethtool_value value{command, 0};
    device.request().ifr_data = reinterpret_cast<char*>(&value);
    device.call(SIOCETHTOOL);
  }
}

void bring_up(Device& device) {
  bool up = device.call(SIOCGIFFLAGS);
  if (up && (device.request().ifr_flags & IFF_UP) == 0) {
    device.request().ifr_flags = static_cast<short>(device.request().ifr_flags | IFF_UP);
    up = device.call(SIOCSIFFLAGS);
  }
  if (!up) throw std::runtime_error(std::string("cannot bring the device up: ") + std::strerror(errno));
}

// A kernel without the setting, or a read-only mount, is no reason to stop.
void write_setting(const std::string& path, const std::string& value) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  [[maybe_unused]] const ssize_t written = write(fd, value.data(), value.size());
  close(fd);
}

void disable_ipv6(const std::string& name) {
  write_setting("/proc/sys/net/ipv6/conf/" + name + "/disable_ipv6", "1");
}

// The CPUs that take in what devices receive: all of the first 32, but the one to which this process is
// bound.
std::vector<unsigned> receiving_cpus() {
  const unsigned cpus = std::clamp(static_cast<unsigned>(sysconf(_SC_NPROCESSORS_ONLN)), 1u, 32u);
  cpu_set_t own;
  CPU_ZERO(&own);
  const bool is_bound = sched_getaffinity(0, sizeof(own), &own) == 0 && CPU_COUNT(&own) == 1;
  std::vector<unsigned> receiving;
  for (unsigned cpu = 0; cpu < cpus; ++cpu) {
    if (cpus == 1 || !is_bound || !CPU_ISSET(cpu, &own)) receiving.push_back(cpu);
  }
  return receiving;
}

// A host sends from whatever CPU its process or its ACKs run on, and each CPU has a receive queue of its own:
// the frames of one flow would overtake each other on the way in. One CPU takes all that a device receives
// (RPS). The two ends of a veth pair have consecutive indices, so pairs spread over the CPUs.
void keep_in_order(const std::string& name) {
  const std::vector<unsigned> cpus = receiving_cpus();
  const unsigned cpu = cpus[if_nametoindex(name.c_str()) / 2 % cpus.size()];
  std::array<char, 16> mask{};
  std::snprintf(mask.data(), mask.size(), "%x", 1u << cpu);
  write_setting("/sys/class/net/" + name + "/queues/rx-0/rps_cpus", mask.data());
}

}  // namespace

void prepare_device(const std::string& name) {
  Device device(name);
  disable_ipv6(name);
  raise_mtu(device, name);
  turn_off_offloads(device);
  keep_in_order(name);
  bring_up(device);
}

}  // namespace clarion::emu
