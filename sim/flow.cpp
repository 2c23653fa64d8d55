// SPDX-License-Identifier: Apache-2.0
#include "flow.hpp"

#include <utility>

#include "laws/laws.hpp"
#include "switch/router/xcp_i.hpp"

namespace clarion::sim {

Flow::Flow(const FlowOptions& options, const SimulationOptions& all, std::size_t number, Nanoseconds zero,
           Host& from, Host& to, std::vector<Reduction>& reductions)
    : size_bytes_(options.size_bytes) {
  if (options.udp_bps == 0) {
    open(options, all, number, from, to, reductions);
  } else {
    Address remote = to.address();
    remote.port = options.destination_port;
    source_ = std::make_unique<DatagramSource>(from, remote, options.source_port, options.udp_bps,
                                               options.udp_packet_bytes);
    remote = from.address();
    remote.port = options.source_port;
    sink_ = std::make_unique<DatagramSink>(to, remote, options.destination_port);
  }
  plan(options, all.lead_us * 1000, zero);
}

void Flow::open(const FlowOptions& options, const SimulationOptions& all, std::size_t number, Host& from,
                Host& to, std::vector<Reduction>& reductions) {
  params_ = default_params();
  for (const auto& [name, value] : options.params) set_param(params_, name, value);
  const auto seed = static_cast<std::uint32_t>(all.network.seed * 65537 + number);
  SenderSettings settings;
  if (all.pacing_percent != 0) settings.pacing_start_percent = settings.pacing_percent = all.pacing_percent;
  settings.mss_bytes = all.mss_bytes;
  auto law = make_law(options.law, clarion_, params_, seed);
  settings.load_codes = law->takes_load_codes();
  settings.accurate_ecn = settings.ect1 = all.ecn && law->is_scalable();
  settings.ecn = all.ecn && !settings.accurate_ecn && !settings.load_codes;
  settings.first_word = law->first_word();
  if (settings.first_word) {  // the option is on each packet
    settings.mss_bytes -= emu::link_option::DATA_BYTES;
    settings.max_burst = 1;
  }
  settings.xcp_ttl = options.xcp_ttl;
  if (settings.xcp_ttl) settings.mss_bytes -= emu::xcp_i::BYTES;
  settings.sack = options.sack;
  settings.quick_start_bps = options.quick_start_bps;
  settings.quick_start_seed = seed;
  if (options.law.rfind("clarion_", 0) == 0) settings.max_burst = 1;  // a header goes on each packet
  const std::uint32_t mss_bytes = settings.mss_bytes;
  Address remote = to.address();
  remote.port = options.destination_port;
  sender_.emplace(from, remote, options.source_port, settings, std::move(law), clarion_, reductions);
  remote = from.address();
  remote.port = options.source_port;
  const auto receiving = ReceiverSettings::with_buffer(all.buffer_bytes, mss_bytes, options.sack);
  const EcnUse use = settings.load_codes     ? EcnUse::load_codes
                     : settings.accurate_ecn ? EcnUse::accurate
                     : all.ecn               ? EcnUse::marks
                                             : EcnUse::none;
  receiver_.emplace(to, remote, options.destination_port, mss_bytes, receiving, use);
  sender_->actor = 2 * number;
  receiver_->actor = sender_->actor + 1;
}

void Flow::plan(const FlowOptions& options, Nanoseconds lead, Nanoseconds zero) {
  start_ = zero + options.start_us * 1000;
  // What Quick-Start approves is for the next round trip: such a connection begins with its data.
  const Nanoseconds ahead = options.quick_start_bps != 0 ? 0 : lead;
  steps_.push_back({start_ - ahead, Action::connect});
  if (options.bursts.empty()) {
    steps_.push_back({start_, Action::write});
    if (options.stop_us != ENDLESS) steps_.push_back({zero + options.stop_us * 1000, Action::pause});
  }
  for (const BurstOptions& burst : options.bursts) {
    steps_.push_back({zero + burst.begin_us * 1000, Action::write});
    steps_.push_back({zero + burst.end_us * 1000, Action::pause});
  }
  if (!steps_.empty()) next_step_at_ = steps_.front().at;
}

Nanoseconds Flow::next_of_sender() const {
  return std::min(next_step_at_, source_ ? source_->next_timer() : sender_->next_timer());
}

void Flow::run_sender(Nanoseconds now) {
  if (next_step_at_ <= now) return act(now);
  source_ ? source_->on_timer(now) : sender_->on_timer(now);
}

void Flow::act(Nanoseconds now) {
  const Action action = steps_[next_step_++].action;
  next_step_at_ = next_step_ < steps_.size() ? steps_[next_step_].at : NEVER;
  is_started_ |= action == Action::write;
  switch (action) {
    case Action::connect:
      return source_ ? source_->greet(now) : sender_->connect(now);
    case Action::write:
      return source_ ? source_->start(now) : sender_->write_up_to(now, size_bytes_);
    case Action::pause:
      return source_ ? source_->stop() : sender_->stop(now);
  }
}

void Flow::note_arrival(Nanoseconds now) {
  if (finished_ == NEVER && size_bytes_ != ENDLESS && received_bytes() >= size_bytes_) finished_ = now;
}

bool Flow::is_over() const { return finished_ != NEVER && sender_->sender().is_done(); }

bool Flow::is_drained() const {
  if (source_) return source_->next_timer() == NEVER;
  return !is_started_ || sender_->sender().is_done();
}

std::uint64_t Flow::received_bytes() const {
  return sink_ ? sink_->received_bytes() : receiver_->received_bytes();
}

}  // namespace clarion::sim
