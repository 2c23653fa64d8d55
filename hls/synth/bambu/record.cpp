// SPDX-License-Identifier: Apache-2.0
// Runs both ways of a port in C simulation and writes what passes each stream, for the RTL of single units to
// be played with: FOLDER/STREAM.txt, a token per line, its words in hexadecimal, the first one first.
//
//   record FOLDER FRAMES LENGTH    LENGTH: bytes of every frame, 0: mixed
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "hls/block/egress_stage.hpp"
#include "hls/synth/bambu/tokens.hpp"

namespace {

using namespace clarion::synth;
using clarion::IntervalReport;
using clarion::Kind;
using clarion::Ticks;
using Frame = std::vector<std::uint8_t>;

std::string folder;

void log(const std::string& stream, const Token& token) {
  static std::map<std::string, std::FILE*> files;
  std::FILE*& file = files[stream];
  if (file == nullptr) file = std::fopen((folder + "/" + stream + ".txt").c_str(), "w");
  if (file == nullptr) {
    std::fprintf(stderr, "record: %s/%s.txt: cannot be written\n", folder.c_str(), stream.c_str());
    std::exit(1);
  }
  for (const Word& word : token.word) {
    for (unsigned i = WORD_BITS / 32; i-- > 0;) {
      std::fprintf(file, "%08x", static_cast<unsigned>(word.range(32 * i + 31, 32 * i).to_uint()));
    }
    std::fputc(&word == &token.word[MAX_WORDS - 1] ? '\n' : ' ', file);
  }
}

template <class T>
Token words_of(const T& token) {
  return packed(token);
}
Token words_of(const Arrival& arrival) { return packed_arrival(arrival); }

template <class T>
class Tap : public hls::stream<T> {
 public:
  Tap(const char* name, std::size_t depth) : hls::stream<T>(name, depth), name_(name) {}
  void write(const T& token) {
    log(name_, words_of(token));
    hls::stream<T>::write(token);
  }
  bool write_nb(const T& token) {
    if (this->full()) return false;
    write(token);
    return true;
  }

 private:
  std::string name_;
};

// --- Traffic
// ------------------------------------------------------------------------------------------------

class Traffic {
 public:
  explicit Traffic(unsigned length) : length_(length) {}

  Frame next() {
    const unsigned choice = below(16);
    const Kind kind = choice < 8    ? Kind::data
                      : choice < 11 ? Kind::tag
                      : choice < 13 ? Kind::ack
                                    : Kind::ordinary;
    const bool tagged = below(4) == 0;
    const bool v6 = below(3) == 0;
    const unsigned ip = tagged ? 18 : 14;
    const unsigned header = ip + (v6 ? 40 : 20 + 4 * (below(4) == 0 ? below(11) : 0));
    const unsigned least = header + 32 > 60 ? header + 32 : 60;
    const unsigned length = length_ != 0 ? length_ : least + below(below(3) == 0 ? 1500 : 80);
    Frame frame(length < 60 ? 60 : length);
    for (std::uint8_t& byte : frame) byte = static_cast<std::uint8_t>(below(256));
    if (tagged) put16(frame, 12, 0x8100);
    put16(frame, ip - 2, v6 ? 0x86dd : 0x0800);
    if (frame.size() < header + 32) return frame;
    if (v6) {
      frame[ip] = 0x60;
      put16(frame, ip + 4, static_cast<unsigned>(frame.size()) - ip - 40);
      frame[ip + 6] = 253;
    } else {
      frame[ip] = static_cast<std::uint8_t>(0x40 | (header - ip) / 4);
      put16(frame, ip + 2, static_cast<unsigned>(frame.size()) - ip);
      put16(frame, ip + 6, below(20) == 0 ? 0x2000 : 0x4000);
      frame[ip + 9] = 253;
    }
    clarion_header(frame, header, kind);
    return frame;
  }

  unsigned below(unsigned limit) { return static_cast<unsigned>(random_() % limit); }

 private:
  void clarion_header(Frame& frame, unsigned at, Kind kind) {
    static const unsigned bytes[] = {20, 32, 12, 16};
    const auto format = static_cast<unsigned>(kind);
    frame[at + 1] = static_cast<std::uint8_t>(below(30) == 0 ? 99 : bytes[format]);
    frame[at + 2] = static_cast<std::uint8_t>(0x10 | format);
    const unsigned tags = at + (kind == Kind::data ? 20 : 4);
    const unsigned bucket = below(8);
    put16(frame, tags, bucket);
    put16(frame, tags + 2, seq_[bucket]);
    seq_[bucket] += below(10) == 0 ? below(40) : 1;
    if (kind != Kind::data) return;
    put16(frame, at + 4, below(64));  // RTT: up to 16 ms
    put16(frame, at + 8, 0);          // X: small
    put16(frame, at + 12, below(2) == 0 ? 0x0100 : below(0x8000));
  }

  static void put16(Frame& frame, unsigned at, unsigned value) {
    frame[at] = static_cast<std::uint8_t>(value >> 8);
    frame[at + 1] = static_cast<std::uint8_t>(value);
  }

  unsigned length_;
  std::mt19937_64 random_{7};
  unsigned seq_[8] = {};
};

Beat beat_of(const Frame& frame, std::size_t at) {
  Beat beat;
  for (unsigned i = 0; i < BEAT_BYTES && at + i < frame.size(); ++i) {
    beat.data |= Word(frame[at + i]) << (8 * i);
    beat.keep |= Keep(1) << i;
  }
  beat.last = at + BEAT_BYTES >= frame.size() ? 1 : 0;
  beat.user = static_cast<unsigned>(frame.size());
  return beat;
}

// --- The block
// ----------------------------------------------------------------------------------------------

Command configure_egress(unsigned epoch) {
  using namespace clarion::registers;
  Command command = 0;
  put_word(command, 0, OP_CONFIGURE);
  put_word(command, EGRESS_CONFIGURE_XCP, 1);
  put_word(command, EGRESS_CONFIGURE_STAMP, 1);
  put_word(command, EGRESS_CONFIGURE_EPOCH, epoch);
  put_words(command, EGRESS_CONFIGURE_CAPACITY, 12500000000);
  put_word(command, EGRESS_CONFIGURE_ALPHA, clarion::DEFAULT_ALPHA_Q16);
  put_word(command, EGRESS_CONFIGURE_BETA, clarion::DEFAULT_BETA_Q16);
  put_word(command, EGRESS_CONFIGURE_GAMMA, clarion::DEFAULT_GAMMA_Q16);
  put_word(command, EGRESS_CONFIGURE_MIN_INTERVAL, 200);
  put_word(command, EGRESS_CONFIGURE_MAX_INTERVAL, 400);
  put_word(command, EGRESS_CONFIGURE_GENERATION, 1);
  put_words(command, EGRESS_CONFIGURE_QUEUE_LIMIT, 0xffffffffffu);
  return command;
}

struct Block {
  FrameIntake intake;
  Classifier classifier;
  EgressStage<> egress;
  IntervalStage interval;
  GrantStage grant;
  GrantJoin join;
  FrameRelease release;

  Beat offered;  // on the wire, if there is one
  Axis wire{"wire", 2};
  Axis out{"out", 2};
  Tap<StoredBeat> beats{"beats", QUEUE_BEATS};
  Tap<Arrival> arrivals{"arrivals", 2};
  Tap<Packet> packets{"packets", DECISION_DEPTH};
  Tap<Departure> departures{"departures", DEPARTURES};
  hls::stream<ap_uint<1>> taken{"taken", DEPARTURES};
  Tap<PoolEvent> pool{"pool", 16};
  Tap<std::int32_t> grants{"grants", 16};
  Tap<Release> releases{"releases", 2};
  Tap<ap_uint<16>> sent{"sent", 4};
  Tap<IntervalEnd> ends{"ends", 2};
  Tap<IntervalReport> reports{"reports", 2};
  Tap<Command> commands{"commands", 2};
  hls::stream<Reply> traffic_replies{"traffic_replies", 8};
  hls::stream<Reply> grant_replies{"grant_replies", 8};

  void clock(Ticks now) {
    release.step(releases, beats, out, sent);
    log("join_status", packed(JoinStatus{!departures.empty(), !grants.empty(), !releases.full()}));
    join.step(departures, grants, releases, taken);
    grant.step(pool, grants, grant_replies);
    interval.step(ends, reports);
    hls::stream<ap_uint<16>> sent_now{"sent_now", 1};
    log("egress_status", packed(egress_status(now, sent_now)));
    egress.step(packets, departures, taken, sent_now, pool, ends, reports, commands, traffic_replies, 0, now);
    classifier.step(arrivals, packets, 253);
    intake_step(now);
    if (!out.empty()) log("out", packed(out.read()));
    if (!traffic_replies.empty()) log("traffic_replies", packed(traffic_replies.read()));
    if (!grant_replies.empty()) log("replies", packed(grant_replies.read()));
  }

 private:
  void intake_step(Ticks now) {
    log("intake_status", packed(IntakeStatus{!wire.empty(), !beats.full(), !arrivals.full(), offered.keep,
                                             offered.user, offered.last == 1, now}));
    if (!wire.empty()) log("intake_data", Token{{offered.data, 0, 0}});
    intake.step(wire, beats, arrivals, now);
  }

  EgressStatus egress_status(Ticks now, hls::stream<ap_uint<16>>& sent_now) {
    EgressStatus status;
    status.packets = !packets.empty();
    status.reports = !reports.empty();
    status.commands = !commands.empty();
    status.departures = !departures.full();
    status.pool = !pool.full();
    status.ends = !ends.full();
    status.replies = !traffic_replies.full();
    status.taken = !taken.empty();
    if (!sent.empty()) {
      status.sent = sent.read();
      sent_now.write(status.sent);
    }
    status.now = now;
    return status;
  }
};

// The way in, as far as it is not the same.
struct WayIn {
  FrameIntake intake;
  Classifier classifier;
  IngressStage<> stage;
  FrameRelease release;

  Axis wire{"wire", 2};
  Axis out{"out", 2};
  hls::stream<StoredBeat> beats{"beats", RECEIVE_BEATS};
  hls::stream<Arrival> arrivals{"arrivals", 2};
  Tap<Packet> packets{"ingress_packets", 32};
  Tap<Release> releases{"ingress_releases", RECEIVE_BEATS};
  Tap<Command> commands{"ingress_commands", 8};
  Tap<Reply> replies{"ingress_replies", 8};

  void clock(Ticks now) {
    release.step(releases, beats, out, Unheard{});
    log("ingress_status",
        packed(IngressStatus{!packets.empty(), !commands.empty(), !releases.full(), !replies.full()}));
    stage.step(packets, releases, commands, replies);
    classifier.step(arrivals, packets, 253);
    intake.step(wire, beats, arrivals, now);
    if (!out.empty()) out.read();
    if (!replies.empty()) replies.read();
  }

  void configure(unsigned edge, unsigned wire, unsigned epoch) {
    using namespace clarion::registers;
    Command command = 0;
    put_word(command, 0, OP_CONFIGURE);
    put_word(command, INGRESS_CONFIGURE_CHECK, 1);
    put_word(command, INGRESS_CONFIGURE_EDGE, edge);
    put_word(command, INGRESS_CONFIGURE_WIRE, wire);
    put_word(command, INGRESS_CONFIGURE_EPOCH, epoch);
    commands.write(command);
  }

  void ask(unsigned operation, unsigned bucket = 0) {
    Command command = 0;
    put_word(command, 0, operation);
    put_word(command, clarion::registers::INGRESS_READ_BUCKET_BUCKET, bucket);
    commands.write(command);
  }
};

}  // namespace

using clarion::registers::OP_READ;
using clarion::registers::OP_READ_BUCKET;
using clarion::registers::OP_RESET;

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: record FOLDER FRAMES LENGTH\n");
    return 2;
  }
  folder = argv[1];
  Traffic traffic(static_cast<unsigned>(std::strtoul(argv[3], nullptr, 10)));
  static Block block;
  static WayIn in;
  Ticks now = 1000;
  block.commands.write(configure_egress(1));
  in.configure(0, 1, 1);
  for (unsigned i = 0; i < 20; ++i) {
    block.clock(++now);
    in.clock(now);
  }
  for (unsigned long frames = std::strtoul(argv[2], nullptr, 10); frames > 0; --frames) {
    Frame frame = traffic.next();
    const bool lies = traffic.below(25) == 0;  // about its size
    for (std::size_t at = 0; at < frame.size(); at += BEAT_BYTES) {
      Beat beat = beat_of(frame, at);
      if (lies) beat.user = 1;
      now += 3;
      block.offered = beat;
      block.wire.write(beat);
      block.clock(now);
      in.wire.write(beat);
      in.clock(now);
    }
    if (frames % 20 == 3) in.ask(OP_READ_BUCKET, traffic.below(9));
    if (frames % 60 == 4) in.ask(OP_READ);
    if (frames % 1000 == 5) in.ask(OP_RESET);
    if (frames % 150 == 6) in.configure(traffic.below(2), traffic.below(2), 1 + traffic.below(3));
    if (frames % 50 == 2 && block.commands.empty()) {
      Command command = 0;
      put_word(command, 0, frames % 500 == 2 ? OP_RESET : OP_READ);
      block.commands.write(command);
    }
    if (frames % 500 == 1) block.commands.write(configure_egress(2 + frames / 500));
  }
  for (unsigned i = 0; i < 400; ++i) {
    block.clock(++now);
    in.clock(now);
  }
  return 0;
}
