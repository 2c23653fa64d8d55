// SPDX-License-Identifier: Apache-2.0
// Plays event batches from stdin on the C++ core and answers on stdout, so that a test in another language
// can compare every packet and all state. README.md has the protocol. `--constants` prints the numbers that
// other languages copy. A short or unknown event ends the process with status 2.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "core/data_plane.hpp"
#include "tests/conformance/batches.hpp"

namespace {

using namespace clarion;
using batches::Reader;
using batches::refuse;

constexpr unsigned PORTS = 4;
constexpr unsigned BUCKETS = DEFAULT_BUCKETS;
constexpr unsigned SHOWN_BUCKETS = 64;  // in the answer to `state`
constexpr unsigned SLOTS = 256;
using Plane = DataPlane<PORTS, BUCKETS>;

class Writer : public batches::Writer {
 public:
  void gain(Gain gain) {
    number(gain.mantissa, 4);
    number(gain.shift, 1);
  }
};

// A frame in a heap block of exactly its size, so that a sanitiser sees any access beyond it.
struct Slot {
  std::vector<std::uint8_t> frame;
  Meta meta;
};

void write_shares(Writer& out, const Plane::PortState& port) {
  const Shares& left = port.departure.left();
  out.number(left.pos, 8);
  out.number(left.neg, 8);
  out.gain(left.cp);
  out.gain(left.cn);
  out.number(port.departure.carry_q8(), 1);
  out.gain(port.departure.gains().fair);
  out.gain(port.departure.gains().lift);
  out.gain(port.departure.gains().growth);
  out.number(port.departure.bank_q8(), 8);
}

void write_own(Writer& out, const Plane::PortState& port) {
  const OwnSums& own = port.departure.sums();
  out.number(own.input, 8);
  out.number(own.sum_x, 8);
  out.number(own.sum_x_poor, 8);
  out.number(static_cast<std::uint64_t>(own.limited), 8);
  out.number(own.max_rtt, 4);
  out.number(port.credit, 1);
}

void write_check(Writer& out, const SequenceCheck<BUCKETS>& check) {
  out.number(check.counters().lost, 8);
  out.number(check.counters().late, 8);
  out.number(check.counters().rebased, 8);
  for (unsigned bucket = 0; bucket < SHOWN_BUCKETS; ++bucket) {
    const auto index = static_cast<std::uint16_t>(bucket);
    out.number(check.expected(index), 2);
    out.number(check.total(index), 2);
    out.number(check.based(index), 1);
    out.number(check.far(index), 1);
  }
}

// Takes the integers of a configuration off a batch, each as wide as it is here.
struct Integers {
  Reader& in;
  void field(std::uint64_t& integer) { integer = in.number(8); }
  void field(std::uint32_t& integer) { integer = in.u32(); }
};

class Driver {
 public:
  std::vector<std::uint8_t> play(const std::vector<std::uint8_t>& batch) {
    Reader in(batch);
    Writer out;
    while (!in.done()) {
      switch (in.number(1)) {
        case 'C':
          configure(in);
          break;
        case 'R':
          *this = Driver();
          break;
        case 'I':
          ingress(in, out);
          break;
        case 'Y':
          copy(in);
          break;
        case 'Q':
          enqueue(in, out);
          break;
        case 'D':
          dequeue(in, out);
          break;
        case 'S':
          state(in, out);
          break;
        default:
          refuse("unknown event");
      }
    }
    return out.bytes;
  }

 private:
  void configure(Reader& in) {
    const unsigned port = in.below(PORTS, 1);
    PortConfig config;
    config.xcp.enabled = in.number(1) != 0;
    config.tag.stamp = in.number(1) != 0;
    config.tag.check = in.number(1) != 0;
    config.tag.edge = in.number(1) != 0;
    config.tag.wire = in.number(1) != 0;
    Integers integers{in};
    visit_fields(integers, config.xcp);
    plane_->configure(port, config);
  }

  void ingress(Reader& in, Writer& out) {
    const unsigned port = in.below(PORTS, 1);
    Slot& slot = slots_[in.below(SLOTS, 2)];
    const Ticks now = in.number(8);
    const std::size_t length = in.number(2);
    const std::uint8_t* bytes = in.take(length);
    slot.frame.assign(bytes, bytes + length);
    slot.frame.shrink_to_fit();
    slot.meta = plane_->ingress(port, now, slot.frame.data(), static_cast<std::uint32_t>(length));
    out.number(static_cast<std::uint64_t>(slot.meta.kind), 1);
    out.number(slot.meta.offset, 2);
    out.number(slot.meta.bucket, 2);
    out.number(slot.meta.link_seq, 2);
    out.number(slot.meta.corrupt, 2);
    out.number(slot.meta.congest, 2);
    out.number(slot.meta.rtt, 4);
    out.number(slot.meta.x, 4);
    out.number(static_cast<std::uint32_t>(slot.meta.delta_throughput), 4);
  }

  void copy(Reader& in) {
    const unsigned from = in.below(SLOTS, 2);
    slots_[in.below(SLOTS, 2)] = slots_[from];
  }

  void enqueue(Reader& in, Writer& out) {
    const unsigned port = in.below(PORTS, 1);
    Slot& slot = slots_[in.below(SLOTS, 2)];
    const Ticks now = in.number(8);
    const std::uint64_t queue = in.number(8);
    plane_->enqueue(port, now, queue, static_cast<std::uint32_t>(slot.frame.size()), slot.meta);
    out.number(slot.meta.in_queue, 1);
    out.number(slot.meta.queue_seq, 2);
    const Plane::PortState& state = plane_->port(port);
    out.number(state.arrival.sums().input, 8);
    out.number(state.arrival.sums().sum_x, 8);
    out.number(state.arrival.sums().sum_x_rtt, 8);
    out.number(state.queue.persistent_bytes(), 8);
    out.number(state.queue.minimum_bytes(), 8);
    out.number(state.interval.report().intervals, 8);
    out.number(state.interval.report().avg_rtt, 4);
    write_shares(out, state);
  }

  void dequeue(Reader& in, Writer& out) {
    const unsigned port = in.below(PORTS, 1);
    Slot& slot = slots_[in.below(SLOTS, 2)];
    const Ticks now = in.number(8);
    const std::uint64_t queue = in.number(8);
    plane_->dequeue(port, now, queue, slot.frame.data(), static_cast<std::uint32_t>(slot.frame.size()),
                    slot.meta);
    out.number(slot.frame.size(), 2);
    out.bytes.insert(out.bytes.end(), slot.frame.begin(), slot.frame.end());
    write_shares(out, plane_->port(port));
  }

  void state(Reader& in, Writer& out) const {
    const Plane::PortState& port = plane_->port(in.below(PORTS, 1));
    const IntervalReport& report = port.interval.report();
    out.number(port.malformed, 8);
    out.number(report.intervals, 8);
    out.number(report.avg_rtt, 4);
    out.number(report.elapsed, 4);
    out.number(report.rate_q8, 8);
    out.number(static_cast<std::uint64_t>(report.phi_q8), 8);
    out.number(port.queue.persistent_bytes(), 8);
    out.number(port.queue.minimum_bytes(), 8);
    out.number(port.arrival.sums().input, 8);
    out.number(port.arrival.sums().sum_x, 8);
    out.number(port.arrival.sums().sum_x_rtt, 8);
    write_own(out, port);
    write_shares(out, port);
    write_check(out, port.wire_check);
    write_check(out, port.queue_check);
    for (unsigned bucket = 0; bucket < SHOWN_BUCKETS; ++bucket) {
      out.number(port.queue_stamp.next(static_cast<std::uint16_t>(bucket)), 2);
      out.number(port.link_stamp.next(static_cast<std::uint16_t>(bucket)), 2);
    }
  }

  std::unique_ptr<Plane> plane_ = std::make_unique<Plane>();
  std::vector<Slot> slots_ = std::vector<Slot>(SLOTS);
};

void print_constants() {
  std::printf(
      "{\"ports\":%u,\"buckets\":%u,\"shown_buckets\":%u,\"slots\":%u,\"version\":%u,\"protocol\":%u,", PORTS,
      BUCKETS, SHOWN_BUCKETS, SLOTS, HEADER_VERSION, DEFAULT_PROTOCOL);
  std::printf("\"bytes\":{\"data\":%u,\"ack\":%u,\"tag\":%u},", DATA_BYTES, ACK_BYTES, TAG_BYTES);
  std::printf("\"data\":{\"rtt\":%u,\"x\":%u,\"delta_throughput\":%u,\"reverse_feedback\":%u,", OFFSET_RTT,
              OFFSET_X, OFFSET_DELTA_THROUGHPUT, OFFSET_REVERSE_FEEDBACK);
  for (const unsigned base : {OFFSET_DATA_TAGS, OFFSET_TAG_TAGS}) {
    std::printf("%s\"bucket\":%u,\"link_seq\":%u,\"corrupt\":%u,\"congest\":%u}",
                base == OFFSET_DATA_TAGS ? "" : ",\"tag\":{", base + TAGS_BUCKET, base + TAGS_LINK_SEQ,
                base + TAGS_CORRUPT, base + TAGS_CONGEST);
  }
  std::printf(",\"defaults\":{\"alpha\":%u,\"beta\":%u,\"gamma\":%u,\"min_interval\":%u,\"max_interval\":%u,",
              DEFAULT_ALPHA_Q16, DEFAULT_BETA_Q16, DEFAULT_GAMMA_Q16, DEFAULT_MIN_INTERVAL,
              DEFAULT_MAX_INTERVAL);
  std::printf("\"initial_rtt\":%u},\"reciprocal_table\":[", INITIAL_RTT);
  for (unsigned i = 0; i < 256; ++i) std::printf("%s%u", i == 0 ? "" : ",", RECIPROCAL_TABLE[i]);
  std::printf("]}\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--constants") == 0) {
    print_constants();
  } else if (argc == 1) {
    Driver driver;
    batches::serve(driver);
  } else {
    refuse("usage: conformance-driver [--constants]");
  }
  return 0;
}
