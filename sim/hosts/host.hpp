// SPDX-License-Identifier: Apache-2.0
// An end system: an address at a port of a switch, its shim, and the connections that end here.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "segment_frame.hpp"
#include "shim.hpp"
#include "switch/clock.hpp"

namespace clarion::sim {

using emu::Nanoseconds;

// One end of a connection.
class Endpoint {
 public:
  virtual ~Endpoint() = default;

  // A segment for it; `header` is null if it came without Clarion header.
  virtual void receive(Nanoseconds now, const TcpFields& tcp, const received* header) = 0;

  // A frame of its own has left the host's device, where it has waited.
  virtual void on_left(Nanoseconds /*now*/) {}

  std::size_t actor = 0;  // who keeps its timers
};

// Takes the datagrams for a port.
class DatagramReceiver {
 public:
  virtual ~DatagramReceiver() = default;
  virtual void receive(Nanoseconds now, std::uint32_t payload_bytes) = 0;
};

// Where a host's frames go: its port of the switch, or a device before it.
class Uplink {
 public:
  virtual ~Uplink() = default;

  // False: the frame has been dropped. `owner`: whose it is; null: nobody's that waits for it.
  virtual bool send(Nanoseconds now, const Frame& frame, Endpoint* owner) = 0;
};

// Whom a port belongs to: a table from the lowest port to the highest, since those of a host follow each
// other.
template <class Owner>
class PortMap {
 public:
  void set(std::uint16_t port, Owner& owner) {
    if (owners_.empty()) first_ = port;
    if (port < first_) {
      owners_.insert(owners_.begin(), first_ - port, nullptr);
      first_ = port;
    }
    const std::size_t at = static_cast<std::size_t>(port - first_);
    if (at >= owners_.size()) owners_.resize(at + 1);
    owners_[at] = &owner;
  }

  // Null: nobody's.
  Owner* find(std::uint16_t port) const {
    const std::size_t at = static_cast<std::size_t>(port) - first_;
    return at < owners_.size() ? owners_[at] : nullptr;
  }

 private:
  std::vector<Owner*> owners_;
  std::uint16_t first_ = 0;
};

class Host {
 public:
  Host(std::string name, const Address& address, const ShimSettings& shim, Uplink& uplink, bool has_device)
      : name_(std::move(name)), address_(address), shim_(shim), uplink_(uplink), has_device_(has_device) {}

  const std::string& name() const { return name_; }
  const Address& address() const { return address_; }
  Shim& shim() { return shim_; }

  // Whether its frames may wait before they leave.
  bool has_device() const { return has_device_; }

  // Frames for TCP's `port` of this host go to `endpoint` from now on.
  void bind(std::uint16_t port, Endpoint& endpoint) { endpoints_.set(port, endpoint); }

  // The same for UDP.
  void bind(std::uint16_t port, DatagramReceiver& receiver) { datagrams_.set(port, receiver); }

  // A frame has come in; `stored` bytes of it are there. Returns the end of a connection that
  // it was for; null: of none. Switches that do not know an address yet bring frames of others, too.
  Endpoint* receive(Nanoseconds now, const std::uint8_t* frame, std::uint32_t stored, std::uint32_t length);

  // False: the host's own device has dropped it.
  bool send(Nanoseconds now, const Address& from, const Address& to, const TcpFields& tcp,
            const HeaderBytes& header, Endpoint* owner);

  bool send_datagram(Nanoseconds now, const Address& from, const Address& to, std::uint32_t payload_bytes);

 private:
  std::string name_;
  Address address_;
  Shim shim_;
  Uplink& uplink_;
  bool has_device_;
  Frame frame_{};
  PortMap<Endpoint> endpoints_;
  PortMap<DatagramReceiver> datagrams_;
};

}  // namespace clarion::sim
