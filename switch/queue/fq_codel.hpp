// SPDX-License-Identifier: Apache-2.0
// FQ-CoDel (RFC 8290): a CoDel queue per flow, served in turns of a quantum; flows that have just become
// active go first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "codel.hpp"
#include "discipline.hpp"

namespace clarion::emu {

struct FqCodelSettings {
  CodelSettings codel;
  std::uint32_t quantum_bytes = 1514;
  std::uint32_t flows = 1024;  // queues; flows that hash to the same one share it
};

class FqCodelDiscipline final : public QueueDiscipline {
 public:
  // `flow_of` numbers the flow of a packet; the same number, the same queue.
  using FlowOf = std::function<std::uint32_t(const Waiting&)>;

  FqCodelDiscipline(const FqCodelSettings& settings, bool ecn, FlowOf flow_of, QueueKeeper& keeper)
      : QueueDiscipline(keeper),
        settings_(settings),
        ecn_(ecn),
        flow_of_(std::move(flow_of)),
        flows_(settings.flows, Flow(settings.codel)) {}

  std::uint64_t bytes() const override { return bytes_; }
  std::size_t packets() const override { return packets_; }

  // Section 4.1
  void enqueue(Nanoseconds /*now*/, Waiting* packet) override {
    Flow& flow = flows_[flow_of_(*packet) % flows_.size()];
    bytes_ += packet->length;
    ++packets_;
    flow.list.push(packet);
    if (!flow.is_active) {
      flow.is_active = true;
      flow.deficit_bytes = settings_.quantum_bytes;
      new_.push_back(&flow);
    }
    while (bytes_ > limit_bytes_) shorten_longest();
  }

  // Section 4.2
  Waiting* dequeue(Nanoseconds now) override {
    for (;;) {
      std::deque<Flow*>& turns = new_.empty() ? old_ : new_;
      if (turns.empty()) return nullptr;
      Flow& flow = *turns.front();
      if (flow.deficit_bytes <= 0) {
        flow.deficit_bytes += settings_.quantum_bytes;
        turns.pop_front();
        old_.push_back(&flow);
        continue;
      }
      Waiting* packet = take(flow, now);
      if (packet != nullptr) {
        flow.deficit_bytes -= packet->length;
        return packet;
      }
      // An empty new flow waits a turn among the old ones, or it could come back as new again and again.
      const bool was_new = &turns == &new_;
      turns.pop_front();
      if (was_new && !old_.empty()) {
        old_.push_back(&flow);
      } else {
        flow.is_active = false;
      }
    }
  }

 private:
  static constexpr std::size_t MOST_AT_ONCE = 64;  // dropped from the longest queue

  struct Flow {
    explicit Flow(const CodelSettings& settings) : codel(settings) {}
    WaitingList list;
    Codel codel;
    std::int64_t deficit_bytes = 0;  // credits
    bool is_active = false;
  };

  Waiting* take(Flow& flow, Nanoseconds now) {
    const std::uint64_t bytes_before = flow.list.bytes();
    const std::size_t packets_before = flow.list.packets();
    Waiting* packet =
        flow.codel.dequeue(flow.list, now, [this](Waiting* each) { return discard(each, ecn_); });
    bytes_ -= bytes_before - flow.list.bytes();
    packets_ -= packets_before - flow.list.packets();
    return packet;
  }

  // From the head, half of it at once: a search of all queues for each packet would be slow just when many
  // come.
  void shorten_longest() {
    const auto longest = std::max_element(flows_.begin(), flows_.end(), [](const Flow& a, const Flow& b) {
      return a.list.bytes() < b.list.bytes();
    });
    const std::uint64_t half = longest->list.bytes() / 2;
    std::uint64_t dropped = 0;
    for (std::size_t i = 0; i < MOST_AT_ONCE && (i == 0 || dropped < half); ++i) {
      Waiting* packet = longest->list.pop();
      if (packet == nullptr) break;
      dropped += packet->length;
      bytes_ -= packet->length;
      --packets_;
      keeper_.drop(packet);
    }
  }

  FqCodelSettings settings_;
  bool ecn_;
  FlowOf flow_of_;
  std::vector<Flow> flows_;
  std::deque<Flow*> new_;
  std::deque<Flow*> old_;
  std::uint64_t bytes_ = 0;
  std::size_t packets_ = 0;
};

}  // namespace clarion::emu
