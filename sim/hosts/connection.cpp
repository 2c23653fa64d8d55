// SPDX-License-Identifier: Apache-2.0
#include "connection.hpp"

#include <algorithm>
#include <utility>

#include "sim/prefetch.hpp"
#include "switch/random.hpp"
#include "switch/router/quick_start.hpp"

namespace clarion::sim {
namespace {

constexpr std::uint32_t FIRST_SEQ = 1;         // behind the SYN
constexpr std::uint32_t SYNS_WITH_OPTION = 3;  // hosts/bpf/handshake.bpf.c
constexpr Nanoseconds SYN_TIMEOUT_NS = emu::SECOND_NS;
constexpr std::uint32_t MAX_WINDOW_BYTES = 0xffffU << WINDOW_SHIFT;

std::uint32_t stamp_ms(Nanoseconds now) { return static_cast<std::uint32_t>(now / 1'000'000); }

// The byte that a sequence number names, of those near `near`.
std::uint64_t unwrap(std::uint32_t seq, std::uint64_t near) {
  const std::uint32_t near_seq = static_cast<std::uint32_t>(near) + FIRST_SEQ;
  return near +
         static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(seq - near_seq)));
}

// How an end answers in the handshake of accurate ECN: what the peer's packet had in its IP header when it
// came (RFC 9768, tables 2 and 3).
std::uint8_t handshake_code(Ecn ecn) {
  constexpr std::uint8_t CODES[] = {0b010, 0b011, 0b100, 0b110};  // in the order of Ecn
  return CODES[static_cast<std::size_t>(ecn)];
}

// What a SYN|ACK makes of a SYN that asked for accurate ECN; all flags come from a peer that only mirrors
// them.
EcnUse accepted_by(std::uint8_t flags) {
  if (flags == 0b000 || flags == 0b111) return EcnUse::none;
  return flags == 0b001 ? EcnUse::marks : EcnUse::accurate;
}

// What a SYN offers to an end that can do all (table 2; 3.1.3).
EcnUse offered_by(std::uint8_t flags) {
  if (flags == 0b000) return EcnUse::none;
  return flags == 0b011 ? EcnUse::marks : EcnUse::accurate;
}

std::uint32_t seq_of_byte(std::uint64_t byte) { return static_cast<std::uint32_t>(byte) + FIRST_SEQ; }

}  // namespace

SendingEnd::SendingEnd(Host& host, const Address& remote, std::uint16_t port, const SenderSettings& settings,
                       std::unique_ptr<CongestionControl> law, flow& flow, std::vector<Reduction>& reductions)
    : host_(host),
      local_(host.address()),
      remote_(remote),
      settings_(settings),
      flow_(flow),
      reductions_(reductions),
      sender_(settings, std::move(law), *this) {
  local_.port = port;
  host.bind(port, *this);
}

void SendingEnd::connect(Nanoseconds now) {
  state_ = State::syn_sent;
  send_syn(now);
}

void SendingEnd::write_up_to(Nanoseconds now, std::uint64_t bytes) { sender_.write_up_to(now, bytes); }

void SendingEnd::stop(Nanoseconds now) {
  if (sender_.unsent() > 0) sender_.write_up_to(now, sender_.board().next() * settings_.mss_bytes);
}

void SendingEnd::send_syn(Nanoseconds now) {
  TcpFields tcp;
  tcp.syn = true;
  tcp.stamp_ms = stamp_ms(now);
  tcp.window_bytes = MAX_WINDOW_BYTES;
  tcp.ece = tcp.cwr = settings_.ecn;  // RFC 3168, 6.1.1
  if (settings_.accurate_ecn && syns_ < SYNS_FOR_ACCURATE) tcp.set_ace(0b111);
  tcp.offers = host_.shim().attached() && syns_ < SYNS_WITH_OPTION;
  tcp.offer_flags = CLARION_OPTION_LEFT;
  if (settings_.quick_start_bps != 0 && syns_ == 0)
    tcp.quick_start = request_rate();  // RFC 4782, 4.7.2: once
  syn_sent_ = now;
  if (syns_ == 0) first_syn_sent_ = now;
  syn_timer_ = now + (SYN_TIMEOUT_NS << std::min(syns_, 6U));
  ++syns_;
  send(now, tcp, {}, false);
}

QuickStartField SendingEnd::request_rate() {
  emu::RandomStream random(settings_.quick_start_seed, "quick-start");
  request_.place = QuickStartField::Place::request;
  request_.rate = emu::quick_start::code_of(static_cast<double>(settings_.quick_start_bps));
  request_.ttl = static_cast<std::uint8_t>(random.uniform() * 256);
  request_.nonce = static_cast<std::uint32_t>(random.uniform() * (emu::quick_start::NONCE_MASK + 1.0));
  return request_;
}

// 4.4: all routers have taken part if both TTLs have gone down alike, and none has raised a rate again if the
// rest of the nonce is what was sent.
void SendingEnd::take_response(const QuickStartField& response) {
  const auto difference = static_cast<std::uint8_t>(FIRST_TTL - request_.ttl);
  const bool is_asked = request_.place == QuickStartField::Place::request && syns_ == 1;
  const bool is_whole = response.place == QuickStartField::Place::response && response.rate > 0 &&
                        response.rate <= request_.rate && response.ttl == difference;
  if (!is_asked || !is_whole) return;
  const std::uint32_t kept = emu::quick_start::kept_nonce(response.rate);
  if (((response.nonce ^ request_.nonce) & kept) == 0)
    approved_bps_ = emu::quick_start::rate_bps(response.rate);
}

void SendingEnd::receive(Nanoseconds now, const TcpFields& tcp, const received* header) {
  if (tcp.syn) return on_syn_ack(now, tcp);
  if (state_ != State::established || !tcp.has_ack) return;
  prefetch(&flow_, bytes_between(&flow_, &flow_.law));
  sender_.prefetch();
  if (header != nullptr) host_.shim().update(flow_, *header, tcp.payload_bytes > 0);
  peer_stamp_ms_ = tcp.stamp_ms;
  sender_.on_acknowledgement(now, acknowledgement_of(tcp));
}

void SendingEnd::on_syn_ack(Nanoseconds now, const TcpFields& tcp) {
  if (state_ != State::syn_sent) return;
  state_ = State::established;
  syn_timer_ = NEVER;
  peer_stamp_ms_ = tcp.stamp_ms;
  const std::uint8_t accepted = CLARION_OPTION_ACCEPT | CLARION_OPTION_LEFT;
  const bool aware = host_.shim().attached() && tcp.offers && (tcp.offer_flags & accepted) == accepted;
  host_.shim().open(flow_, aware, local_.ip);
  TcpFields ack;
  ack.has_ack = true;
  ack.seq = FIRST_SEQ;
  ack.ack = tcp.seq + 1;
  ack.window_bytes = MAX_WINDOW_BYTES;
  ack.stamp_ms = stamp_ms(now);
  ack.echo_ms = peer_stamp_ms_;
  if (settings_.accurate_ecn) agree_on_ecn(tcp);
  if (settings_.accurate_ecn) ack.set_ace(handshake_code(tcp.ecn));
  take_response(tcp.quick_start);
  if (tcp.quick_start.place == QuickStartField::Place::response) {  // 4.5: routers hear what came of it
    ack.quick_start = {QuickStartField::Place::report,
                       approved_bps_ == 0 ? std::uint8_t{0} : tcp.quick_start.rate, 0, request_.nonce};
  }
  send(now, ack, {}, false);
  // Of a SYN that was resent the time stamp tells which one is answered (tcp_ack_update_rtt); an answer to
  // the first shows that none was lost (tcp_try_undo_spurious_syn).
  const std::uint32_t by_stamp_us = std::max(stamp_ms(now) - tcp.echo_ms, 1U) * 1000;
  const auto rtt_us = static_cast<std::uint32_t>((now - syn_sent_) / 1000);
  sender_.open_window(tcp.window_bytes / settings_.mss_bytes);
  sender_.allow_quick_start(approved_bps_ / 8);
  sender_.establish(now, syns_ == 1 ? rtt_us : by_stamp_us,
                    syns_ > 2 && tcp.echo_ms != stamp_ms(first_syn_sent_));
}

void SendingEnd::agree_on_ecn(const TcpFields& syn_ack) {
  const EcnUse use = accepted_by(syn_ack.ace());
  settings_.ecn = use == EcnUse::marks;
  settings_.accurate_ecn = use == EcnUse::accurate;
  sender_.agree_on_ecn(settings_.ecn, settings_.accurate_ecn);
  if (syn_ack.ecn == Ecn::ce) ++ce_count_;
}

Nanoseconds SendingEnd::next_timer() const {
  return state_ == State::syn_sent ? syn_timer_ : sender_.next_timer();
}

void SendingEnd::on_timer(Nanoseconds now) {
  if (state_ == State::syn_sent && syn_timer_ <= now) send_syn(now);
  if (state_ == State::established) sender_.on_timer(now);
}

bool SendingEnd::transmit(const OutgoingSegment& segment, Nanoseconds now) {
  TcpFields tcp;
  tcp.has_ack = true;
  tcp.seq = seq_of(segment.number);
  tcp.ack = FIRST_SEQ;
  tcp.window_bytes = MAX_WINDOW_BYTES;
  tcp.stamp_ms = stamp_ms(now);
  tcp.echo_ms = peer_stamp_ms_;
  tcp.payload_bytes = segment.payload_bytes;
  tcp.psh = segment.is_pushed;
  tcp.cwr = segment.has_cwr;
  if (settings_.accurate_ecn) tcp.set_ace(ace_of(ce_count_));
  // A retransmission is not marked (RFC 3168, 6.1.5).
  const bool is_capable = (settings_.ecn || settings_.accurate_ecn) && !segment.is_resent;
  const Ecn capable = settings_.accurate_ecn && settings_.ect1 ? Ecn::ect1 : Ecn::ect0;
  tcp.ecn = is_capable ? capable : Ecn::not_capable;
  if (settings_.load_codes) tcp.ecn = Ecn::ect1;  // VCP: a low load, as long as no router says more
  if (settings_.first_word) tcp.link = {LinkField::Kind::data, link_option_of(segment.payload_bytes)};
  tcp.has_xcp_ttl = settings_.xcp_ttl;
  HeaderBytes header;
  if (flow_.id.aware) {
    OutgoingState state;
    state.seq = tcp.seq;
    state.una = seq_of(sender_.board().una());
    // What is sent for the first time is counted as sent already.
    state.next = seq_of(segment.is_resent ? sender_.board().next() : segment.number);
    state.now_us = static_cast<std::uint32_t>(now / 1000);
    state.payload_bytes = tcp.payload_bytes;
    state.frame_bytes = frame_bytes(tcp, 0);
    header = host_.shim().put_on(flow_, state);
  }
  if (send(now, tcp, header, true)) return true;
  if (header.length > 0) ++flow_.stats.local_drops;  // which hosts/bpf/local.bpf.c sees
  reductions_.push_back({now, actor, FLOW_REASONS, 0, 0});
  return false;
}

emu::LinkOption SendingEnd::link_option_of(std::uint32_t payload_bytes) const {
  const std::uint64_t rate = std::max<std::uint64_t>(sender_.pacing_bytes_per_s(), 1);
  const std::uint64_t interval_ns = std::uint64_t{payload_bytes} * emu::SECOND_NS / rate;
  emu::LinkOption option;
  option.controlling = sender_.controlling_link;
  option.word = *settings_.first_word;
  option.interval_ns = static_cast<std::uint32_t>(std::min<std::uint64_t>(interval_ns, ~std::uint32_t{0}));
  return option;
}

void SendingEnd::note_timeout() {
  if (flow_.id.aware) passage_note_timeout(&flow_, seq_of(sender_.board().una()));
}

void SendingEnd::note_reduction(std::uint8_t reason, std::uint32_t before, std::uint32_t after) {
  reductions_.push_back({sender_.now_us() * 1000, actor, reason, before, after});
}

bool SendingEnd::send(Nanoseconds now, const TcpFields& tcp, const HeaderBytes& header, bool is_data) {
  waiting_frames_ += is_data ? 1 : 0;
  const bool is_taken = host_.send(now, local_, remote_, tcp, header, is_data ? this : nullptr);
  if (is_data && (!is_taken || !host_.has_device())) --waiting_frames_;
  return is_taken;
}

void SendingEnd::on_left(Nanoseconds now) {
  --waiting_frames_;
  sender_.on_room(now);
}

// As sk_wmem_alloc counts it.
std::uint64_t SendingEnd::waiting_bytes() const {
  return std::uint64_t{waiting_frames_} * settings_.mss_bytes * TRUESIZE_PERCENT / 100;
}

Acknowledgement SendingEnd::acknowledgement_of(const TcpFields& tcp) const {
  Acknowledgement ack;
  ack.ack = number_of(tcp.ack);
  ack.window = tcp.window_bytes / settings_.mss_bytes;
  ack.echo_ms = tcp.echo_ms;
  ack.has_ece = tcp.ece;
  ack.ace = tcp.ace();
  ack.stamp_ms = tcp.stamp_ms;
  if (settings_.load_codes) ack.load_code = tcp.load_code();
  if (tcp.link.kind == LinkField::Kind::echo) {
    ack.told_link = tcp.link.option.proposed;
    ack.told_word = tcp.link.option.word;
  }
  ack.blocks = tcp.sacks;
  for (std::size_t i = 0; i < tcp.sacks; ++i) {
    ack.sacks[i] = {number_of(tcp.blocks[i].begin), number_of(tcp.blocks[i].end)};
  }
  return ack;
}

// The segment that begins at, or ends before, a sequence number.
SegmentNumber SendingEnd::number_of(std::uint32_t seq) const {
  const std::uint64_t byte = unwrap(seq, sender_.acked_bytes());
  return (byte + settings_.mss_bytes - 1) / settings_.mss_bytes;
}

std::uint32_t SendingEnd::seq_of(SegmentNumber number) const {
  return seq_of_byte(std::min(number * settings_.mss_bytes, sender_.written_bytes()));
}

ReceivingEnd::ReceivingEnd(Host& host, const Address& remote, std::uint16_t port, std::uint32_t mss_bytes,
                           const ReceiverSettings& settings, EcnUse ecn)
    : host_(host),
      local_(host.address()),
      remote_(remote),
      mss_bytes_(mss_bytes),
      ecn_(ecn),
      receiver_(settings, *this) {
  local_.port = port;
  host.bind(port, *this);
}

void ReceivingEnd::receive(Nanoseconds now, const TcpFields& tcp, const received* header) {
  if (tcp.syn) return on_syn(now, tcp);
  if (!is_open_) return;
  if (header != nullptr) {
    host_.shim().update(flow_, *header, tcp.payload_bytes > 0);
  } else if (tcp.payload_bytes > 0) {
    receive_plain(&flow_);
  }
  if (tcp.payload_bytes == 0) {
    if (syn_ack_sent_ != 0) receiver_.set_rtt(static_cast<std::uint32_t>((now - syn_ack_sent_) / 1000));
    syn_ack_sent_ = 0;
    return;
  }
  const std::uint64_t byte = unwrap(tcp.seq, bytes_before(receiver_.next()));
  if (tcp.payload_bytes < mss_bytes_) end_bytes_ = byte + tcp.payload_bytes;
  IncomingSegment segment;
  segment.number = byte / mss_bytes_;
  segment.stamp_ms = tcp.stamp_ms;
  segment.is_pushed = tcp.psh;
  const bool has_ecn = ecn_ == EcnUse::marks || ecn_ == EcnUse::accurate;
  segment.has_ect = has_ecn && (tcp.ecn == Ecn::ect0 || tcp.ecn == Ecn::ect1);
  segment.has_ce = has_ecn && tcp.ecn == Ecn::ce;
  segment.has_cwr = ecn_ == EcnUse::marks && tcp.cwr;
  if (ecn_ == EcnUse::load_codes) load_code_ = std::max(load_code_, static_cast<std::uint8_t>(tcp.ecn));
  if (tcp.link.kind == LinkField::Kind::data) echo_ = {LinkField::Kind::echo, tcp.link.option};
  receiver_.on_segment(now, segment);
}

void ReceivingEnd::on_syn(Nanoseconds now, const TcpFields& tcp) {
  const bool aware = host_.shim().attached() && tcp.offers && (tcp.offer_flags & CLARION_OPTION_LEFT) != 0;
  if (!is_open_) host_.shim().open(flow_, aware, local_.ip);
  if (!is_open_) agree_on_ecn(tcp);
  is_open_ = true;
  TcpFields answer;
  answer.syn = answer.has_ack = true;
  answer.ack = tcp.seq + 1;
  answer.window_bytes =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(receiver_.window() * mss_bytes_, MAX_WINDOW_BYTES));
  answer.stamp_ms = stamp_ms(now);
  answer.echo_ms = tcp.stamp_ms;
  if (ecn_ == EcnUse::marks) answer.ece = tcp.ece && tcp.cwr;
  if (ecn_ == EcnUse::accurate) answer.set_ace(handshake_code(tcp.ecn));  // to each SYN, whatever it asks for
  answer.offers = aware;
  answer.offer_flags = CLARION_OPTION_ACCEPT | CLARION_OPTION_LEFT;
  if (tcp.quick_start.place == QuickStartField::Place::request) {
    answer.quick_start = tcp.quick_start;
    answer.quick_start.place = QuickStartField::Place::response;
    answer.quick_start.ttl = static_cast<std::uint8_t>(tcp.ip_ttl - tcp.quick_start.ttl);
  }
  syn_ack_sent_ = now;
  host_.send(now, local_, remote_, answer, {}, nullptr);
}

// The first SYN decides (RFC 9768, 3.1.5).
void ReceivingEnd::agree_on_ecn(const TcpFields& syn) {
  if (ecn_ != EcnUse::accurate) return;
  ecn_ = offered_by(syn.ace());
  if (ecn_ == EcnUse::accurate) receiver_.use_accurate_ecn();
}

void ReceivingEnd::acknowledge(const OutgoingAck& ack, Nanoseconds now) {
  TcpFields tcp;
  tcp.has_ack = true;
  tcp.seq = FIRST_SEQ;
  tcp.ack = seq_of(ack.ack);
  tcp.window_bytes =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(ack.window * mss_bytes_, MAX_WINDOW_BYTES));
  tcp.stamp_ms = stamp_ms(now);
  tcp.echo_ms = ack.echo_ms;
  tcp.ece = ack.has_ece;
  if (ecn_ == EcnUse::accurate) tcp.set_ace(ack.ace);
  if (ecn_ == EcnUse::load_codes) tcp.set_load_code(std::exchange(load_code_, std::uint8_t{0}));
  tcp.link = echo_;
  tcp.sacks = ack.blocks;
  if (echo_.kind == LinkField::Kind::echo)
    tcp.sacks = std::min<std::uint8_t>(ack.blocks, TcpFields::MAX_SACKS_WITH_ECHO);
  for (std::size_t i = 0; i < tcp.sacks; ++i) {
    tcp.blocks[i] = {seq_of(ack.sacks[i].begin), seq_of(ack.sacks[i].end)};
  }
  send(tcp, now);
}

void ReceivingEnd::send(const TcpFields& tcp, Nanoseconds now) {
  HeaderBytes header;
  if (flow_.id.aware) {
    OutgoingState state;
    state.seq = state.una = state.next = tcp.seq;
    state.now_us = static_cast<std::uint32_t>(now / 1000);
    state.frame_bytes = frame_bytes(tcp, 0);
    header = host_.shim().put_on(flow_, state);
  }
  host_.send(now, local_, remote_, tcp, header, nullptr);
}

std::uint64_t ReceivingEnd::bytes_before(SegmentNumber number) const {
  return std::min(number * mss_bytes_, end_bytes_);
}

std::uint32_t ReceivingEnd::seq_of(SegmentNumber number) const { return seq_of_byte(bytes_before(number)); }

}  // namespace clarion::sim
