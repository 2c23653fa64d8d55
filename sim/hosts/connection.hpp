// SPDX-License-Identifier: Apache-2.0
// The two ends of a connection on their hosts: handshake, sequence numbers, Clarion headers.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "host.hpp"
#include "sim/tcp/receiver.hpp"
#include "sim/tcp/sender.hpp"

namespace clarion::sim {

// A window that was made smaller, in packets; or, of reason FLOW_REASONS, a packet that the host's own device
// has dropped.
struct Reduction {
  Nanoseconds time = 0;
  std::size_t actor = 0;    // of the sending end
  std::uint8_t reason = 0;  // enum flow_reason
  std::uint32_t before = 0;
  std::uint32_t after = 0;
};

class SendingEnd final : public Endpoint, private Sender::Output {
 public:
  SendingEnd(Host& host, const Address& remote, std::uint16_t port, const SenderSettings& settings,
             std::unique_ptr<CongestionControl> law, flow& flow, std::vector<Reduction>& reductions);

  void connect(Nanoseconds now);
  void write_up_to(Nanoseconds now, std::uint64_t bytes);

  // The application writes no more.
  void stop(Nanoseconds now);

  void receive(Nanoseconds now, const TcpFields& tcp, const received* header) override;

  Nanoseconds next_timer() const;
  void on_timer(Nanoseconds now);

  void on_left(Nanoseconds now) override;

  const Sender& sender() const { return sender_; }
  std::uint64_t quick_start_bps() const { return approved_bps_; }  // what routers have approved; 0: nothing
  const flow& clarion_flow() const { return flow_; }
  bool has_shim() const { return host_.shim().attached(); }
  bool is_established() const { return state_ == State::established; }

 private:
  enum class State : std::uint8_t { closed, syn_sent, established };

  bool transmit(const OutgoingSegment& segment, Nanoseconds now) override;
  void note_timeout() override;
  void note_reduction(std::uint8_t reason, std::uint32_t before, std::uint32_t after) override;
  std::uint64_t waiting_bytes() const override;
  void send_syn(Nanoseconds now);
  void on_syn_ack(Nanoseconds now, const TcpFields& tcp);
  void agree_on_ecn(const TcpFields& syn_ack);
  bool send(Nanoseconds now, const TcpFields& tcp, const HeaderBytes& header, bool is_data);
  QuickStartField request_rate();
  emu::LinkOption link_option_of(std::uint32_t payload_bytes) const;
  void take_response(const QuickStartField& response);
  Acknowledgement acknowledgement_of(const TcpFields& tcp) const;
  SegmentNumber number_of(std::uint32_t seq) const;
  std::uint32_t seq_of(SegmentNumber number) const;

  Host& host_;
  Address local_;
  Address remote_;
  SenderSettings settings_;
  flow& flow_;
  std::vector<Reduction>& reductions_;
  std::uint32_t waiting_frames_ = 0;  // in the host's own device
  Sender sender_;
  State state_ = State::closed;
  std::uint32_t peer_stamp_ms_ = 0;  // to be echoed
  std::uint32_t syns_ = 0;
  Nanoseconds first_syn_sent_ = 0;
  Nanoseconds syn_sent_ = 0;
  Nanoseconds syn_timer_ = NEVER;
  std::uint32_t ce_count_ = FIRST_CE_COUNT;  // of what comes from the receiver
  QuickStartField request_;
  std::uint64_t approved_bps_ = 0;
};

class ReceivingEnd final : public Endpoint, private Receiver::Output {
 public:
  ReceivingEnd(Host& host, const Address& remote, std::uint16_t port, std::uint32_t mss_bytes,
               const ReceiverSettings& settings, EcnUse ecn);

  void receive(Nanoseconds now, const TcpFields& tcp, const received* header) override;

  Nanoseconds next_timer() const { return receiver_.next_timer(); }
  void on_timer(Nanoseconds now) { receiver_.on_timer(now); }

  std::uint64_t received_bytes() const { return bytes_before(receiver_.next()); }

 private:
  void acknowledge(const OutgoingAck& ack, Nanoseconds now) override;
  void on_syn(Nanoseconds now, const TcpFields& tcp);
  void agree_on_ecn(const TcpFields& syn);
  void send(const TcpFields& tcp, Nanoseconds now);
  std::uint64_t bytes_before(SegmentNumber number) const;
  std::uint32_t seq_of(SegmentNumber number) const;

  Host& host_;
  Address local_;
  Address remote_;
  std::uint32_t mss_bytes_;
  EcnUse ecn_;                  // what it can do; of an open connection what both can
  std::uint8_t load_code_ = 0;  // the highest of what has come since the last acknowledgement
  LinkField echo_;              // of the newest data that had the option
  Receiver receiver_;
  bool is_open_ = false;
  std::uint64_t end_bytes_ = ~std::uint64_t{0};  // of the data, once a short segment has shown it
  Nanoseconds syn_ack_sent_ = 0;
  flow flow_{};
};

}  // namespace clarion::sim
