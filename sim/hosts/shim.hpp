// SPDX-License-Identifier: Apache-2.0
// What hosts/bpf/shim.bpf.c does at a device, with that program's own headers: Clarion headers go on and come
// off, and the wire in front of the device is checked.
#pragma once

#include <cstdint>
#include <vector>

#include "bpf_headers.hpp"
#include "segment_frame.hpp"

namespace clarion::sim {

struct ShimSettings {
  bool attached = false;
  bool tags = false;          // loss causes are wanted
  bool wire_is_bare = false;  // as declared
  std::uint8_t protocol = 253;
};

// What the connection knows of a segment that goes out.
struct OutgoingState {
  std::uint32_t seq = 0;
  std::uint32_t una = 0;
  std::uint32_t next = 0;
  std::uint32_t now_us = 0;
  std::uint32_t payload_bytes = 0;
  std::uint32_t frame_bytes = 0;  // without Clarion header
};

class Shim {
 public:
  explicit Shim(const ShimSettings& settings)
      : settings_(settings), buckets_(settings.attached ? BUCKETS : 0) {}

  bool attached() const { return settings_.attached; }
  std::uint8_t protocol() const { return settings_.protocol; }
  std::uint64_t malformed() const { return malformed_; }

  // The connection is established; `aware`: both ends offered the header.
  void open(flow& flow, bool aware, std::uint32_t own_ip);

  // The header of a segment that goes out, good until the next call; without bytes: it goes without.
  HeaderBytes put_on(flow& flow, const OutgoingState& segment);

  // Reads the header of a frame that has come in, and checks the wire. False: malformed.
  bool read(const std::uint8_t* header, std::uint32_t available, received& out);

  // What the header that was read last changes in its flow.
  void update(flow& flow, const received& header, bool has_payload);

 private:
  static constexpr std::size_t BUCKETS = 4096;

  struct Bucket {
    std::uint32_t next_seq = 0;
    clarion_sequence wire{};
  };

  bool allows(flow& flow, const OutgoingState& segment) const;

  ShimSettings settings_;
  std::vector<Bucket> buckets_;
  clarion_header header_{};
  std::uint16_t next_bucket_ = 0;
  std::uint64_t malformed_ = 0;
};

}  // namespace clarion::sim
