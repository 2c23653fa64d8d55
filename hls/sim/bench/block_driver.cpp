// SPDX-License-Identifier: Apache-2.0
// Plays the RTL of the FPGA block: batches of requests on stdin, answers on stdout, so that a test in another
// language can hold every beat and all state against a reference. tests/conformance/README.md has the
// protocol. With --pcap-in and --pcap-out, for people: frames go through a bump in the wire, from port 0
// to 1.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "hls/functions/classify.hpp"
#include "hls/sim/bench/bench.hpp"
#include "hls/sim/bench/pcap.hpp"
#include "tests/conformance/batches.hpp"

namespace {

using namespace clarion;
using namespace clarion::sim;
using batches::refuse;

constexpr std::uint32_t MOST_CLOCKS = 10'000'000;  // per request

// What a `run` waits for.
enum class Until : std::uint8_t { clocks, rest, decided, out, answered, end };

class Reader : public batches::Reader {
 public:
  using batches::Reader::Reader;

  unsigned below(unsigned limit) { return batches::Reader::below(limit, 1); }

  Words command() {
    Words command{};
    for (std::uint32_t& word : command) word = u32();
    return command;
  }
};

class Writer : public batches::Writer {
 public:
  void block(const std::vector<std::uint8_t>& block) {
    number(block.size(), 2);
    bytes.insert(bytes.end(), block.begin(), block.end());
  }
};

class Driver {
 public:
  std::vector<std::uint8_t> play(const std::vector<std::uint8_t>& batch) {
    Reader in(batch);
    Writer out;
    while (!in.done()) request(in, out);
    return out.bytes;
  }

 private:
  void request(Reader& in, Writer& out) {
    const std::uint64_t kind = in.number(1);
    if (!bench_ && kind != 'N') refuse("the first request must make a block");
    switch (kind) {
      case 'N':
        return fresh(in);
      case 'A':
        return write_register(in, out);
      case 'G':
        return read_register(in, out);
      case 'W':
        return set_wires(in);
      case 'E':
        return set_elsewhere(in);
      case 'U':
        bench_->units_on = in.u32();
        return;
      case 'T':
        return traffic(in);
      case 'I':
        return idle(in);
      case 'K':
        return stall(in);
      case 'X':
        return schedule(in);
      case 'R':
        return run(in, out);
      case 'B':
        return take_beat(in, out);
      case 'O':
        return output(in, out);
      case 'L':
        return log(in, out);
      case 'Y':
        return replies(out);
      case 'P':
        return parse(in, out);
      default:
        refuse("unknown request");
    }
  }

  unsigned port(Reader& in) const { return in.below(bench_->ports()); }

  void fresh(Reader& in) {
    const unsigned ports = in.below(MAX_PORTS + 1);
    const bool bump = in.number(1) != 0;
    if (ports == 0 || (bump && ports != 2)) refuse("no such bench");
    bench_.reset();
    bench_ = std::make_unique<Bench>(ports, bump);
  }

  void write_register(Reader& in, Writer& out) {
    const std::uint32_t offset = in.u32();
    out.number(bench_->units().write32(offset, in.u32()), 1);
  }

  void read_register(Reader& in, Writer& out) {
    const Reading reading = bench_->units().read32(in.u32());
    out.number(reading.ok, 1);
    out.number(reading.value, 4);
  }

  void set_wires(Reader& in) {
    bench_->wires.now = in.number(8);
    bench_->wires.now_step = in.number(8);
    bench_->wires.protocol = in.u8();
  }

  void set_elsewhere(Reader& in) {
    const unsigned of = port(in);
    bench_->wires.elsewhere[of] = in.number(5);
  }

  void traffic(Reader& in) {
    const unsigned to = port(in);
    const bool host = in.number(1) != 0;
    SentFrame frame;
    frame.gap = in.u32();
    frame.user = in.number(6);
    frame.damage = static_cast<SentFrame::Damage>(in.below(6));
    const std::size_t length = in.number(2);
    const std::uint8_t* bytes = in.take(length);
    frame.bytes.assign(bytes, bytes + length);
    bench_->source(to, host).add(std::move(frame));
  }

  static Pattern pattern(Reader& in) {
    const std::uint32_t seed = in.u32();
    const auto off = static_cast<unsigned>(in.number(2));
    return {seed, off, static_cast<unsigned>(in.number(2))};
  }

  void idle(Reader& in) {
    const unsigned of = port(in);
    const bool host = in.number(1) != 0;
    bench_->source(of, host).set_pattern(pattern(in));
  }

  void stall(Reader& in) {
    const unsigned of = port(in);
    const bool host = in.number(1) != 0;
    Sink& sink = bench_->sink(of, host);
    sink.open(in.number(1) != 0);
    sink.set_pattern(pattern(in));
  }

  void schedule(Reader& in) {
    const unsigned unit = in.below(2 * bench_->ports());
    const std::uint32_t clock = bench_->clocks() + in.u32();
    bench_->schedule(unit, clock, in.command());
  }

  // Runs so many clocks, or until something is the case, for at most so many.
  void run(Reader& in, Writer& out) {
    const auto until = static_cast<Until>(in.below(static_cast<unsigned>(Until::end)));
    const unsigned of = in.below(2 * bench_->ports());
    const std::uint32_t clocks = std::min(in.u32(), MOST_CLOCKS);
    const std::uint32_t before = bench_->clocks();
    if (until == Until::rest) {
      if (!bench_->settle(clocks)) refuse("the block does not come to rest");
    } else {
      const std::uint64_t seen = progress(until, of);
      for (std::uint32_t i = 0; i < clocks && !(until != Until::clocks && reached(until, of, seen)); ++i) {
        bench_->clock();
      }
    }
    passed(before, out);
  }

  void passed(std::uint32_t before, Writer& out) {
    out.number(before, 4);
    out.number(bench_->clocks() - before, 4);
  }

  bool reached(Until until, unsigned of, std::uint64_t seen) {
    return until == Until::answered ? !bench_->units().busy(of) : progress(until, of) != seen;
  }

  // What counts decisions of a port's queue, or frames that have come out: at wires, then at hosts.
  std::uint64_t progress(Until until, unsigned of) {
    const unsigned port = of % bench_->ports();
    if (until == Until::decided) return bench_->log(port).decided;
    return until == Until::out ? bench_->sink(port, of >= bench_->ports()).ended : 0;
  }

  // One clock, in which a beat is taken at a port's wire although it may be shut.
  void take_beat(Reader& in, Writer& out) {
    const unsigned from = port(in);
    const std::uint32_t before = bench_->clocks();
    const std::uint64_t beats = bench_->sink(from, false).beats;
    bench_->sink(from, false).take_one();
    bench_->clock();
    out.number(bench_->sink(from, false).beats != beats, 1);
    passed(before, out);
  }

  void output(Reader& in, Writer& out) {
    const unsigned from = port(in);
    const bool host = in.number(1) != 0;
    Source& source = bench_->source(from, host);
    Sink& sink = bench_->sink(from, host);
    out.number(source.refused, 4);
    out.number(source.ended_clock.size(), 4);
    for (const std::uint32_t clock : source.ended_clock) out.number(clock, 4);
    source.ended_clock.clear();
    const std::size_t whole = sink.whole_frames();
    out.number(whole, 4);
    for (std::size_t i = 0; i < whole; ++i, sink.frames.pop_front()) {
      const ReceivedFrame& frame = sink.frames.front();
      out.number(frame.first_clock, 4);
      out.number(frame.last_clock, 4);
      out.number(frame.user, 6);
      out.number(frame.damaged, 1);
      out.block(frame.bytes);
    }
  }

  // What has been added since the last time.
  void log(Reader& in, Writer& out) {
    auto& events = bench_->log(port(in)).events;
    out.number(events.size(), 4);
    for (const QueueEvent& event : events) {
      out.number(static_cast<std::uint64_t>(event.kind), 1);
      out.number(event.clock, 4);
      out.number(event.now, 8);
      out.number(event.queue_bytes, 8);
    }
    events.clear();
  }

  void replies(Writer& out) {
    out.number(bench_->replies.size(), 4);
    for (const TimedReply& timed : bench_->replies) {
      out.number(timed.unit, 1);
      out.number(timed.clock, 4);
      out.number(timed.reply.index, 1);
      out.number(timed.reply.last, 1);
      out.number(timed.reply.status, 1);
      for (const std::uint32_t word : timed.reply.words) out.number(word, 4);
    }
    bench_->replies.clear();
  }

  // The parser alone, for frames that are too short for the block.
  static void parse(Reader& in, Writer& out) {
    const auto protocol = static_cast<std::uint8_t>(in.number(1));
    const std::size_t length = in.number(2);
    const std::uint8_t* bytes = in.take(length);
    block::ClassifyArguments arguments;
    arguments.protocol = protocol;
    arguments.length = static_cast<std::uint16_t>(length);
    std::memcpy(arguments.window, bytes, std::min(length, sizeof arguments.window));
    const block::ClassifyResults packet = block::classify(arguments);
    out.number(static_cast<std::uint64_t>(packet.meta.kind), 1);
    out.number(packet.malformed, 1);
    out.number(packet.meta.offset, 2);
    out.number(packet.meta.bucket, 2);
    out.number(packet.meta.link_seq, 2);
    out.number(packet.meta.corrupt, 2);
    out.number(packet.meta.congest, 2);
    out.number(packet.meta.rtt, 4);
    out.number(packet.meta.x, 4);
    out.number(static_cast<std::uint32_t>(packet.meta.delta_throughput), 4);
  }

  std::unique_ptr<Bench> bench_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc == 1) {
    try {
      Driver driver;
      batches::serve(driver);
      return 0;
    } catch (const std::exception& error) {
      refuse(error.what());
    }
  }
  const std::string option = argv[1];
  if (argc == 5 && option == "--pcap-in" && std::string(argv[3]) == "--pcap-out") {
    return pass_pcap(argv[2], argv[4]);
  }
  refuse("usage: block-driver [--pcap-in FILE --pcap-out FILE]");
}
