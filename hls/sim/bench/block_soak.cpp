// SPDX-License-Identifier: Apache-2.0
// Random frames and commands through a bump in the wire, held against the core: block-soak [--frames N]
// [--seed S]. Prints what it has compared; at the first difference it says where, and ends with status 1.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "hls/sim/bench/checker.hpp"
#include "hls/sim/bench/soak_traffic.hpp"

namespace {

using namespace clarion;
using namespace clarion::sim;

constexpr unsigned PORTS = Checker::PORTS;
constexpr std::uint32_t MOST_CLOCKS = 3'000'000;  // of a phase
constexpr unsigned SHOWN = 32;                    // buckets of each unit compared at the end of a phase

class Soak {
 public:
  explicit Soak(std::uint64_t seed) : random_(seed), traffic_{SoakTraffic(random_), SoakTraffic(random_)} {}

  void run(std::uint64_t frames) {
    while (given_ < frames) {
      phase();
      read_all(SHOWN);
    }
    read_all(Checker::BUCKETS);
  }

  const Checker& checker() const { return checker_; }
  std::uint64_t given() const { return given_; }
  std::uint64_t clocks() { return checker_.bench().clocks(); }
  const char* about() const { return about_; }  // the phase
  unsigned phases = 0;

 private:
  // Time and lengths of intervals are such that packets never wait for decisions in numbers that have no
  // place there: those that are lost then leave no trace but in counters.
  struct Plan {
    Mix mix;
    unsigned frames = 2000;       // of each port
    std::uint64_t clocks = 1000;  // of the shortest interval
    bool commands = true;
  };

  Plan plan() {
    Plan plan;
    plan.mix.buckets = random_.of<unsigned>({1, 2, 5, 64, 65536});
    plan.mix.scale = random_.of<unsigned>({5, 15, 20, 24, 27, 31, 32});
    const auto choice = random_.below(100);
    if (choice < 20) {
      plan.mix.kind = Mix::Kind::one_beat;
      plan.mix.gap = random_.of<unsigned>({0, 0, 4});
      plan.commands = plan.mix.gap > 0;
      plan.clocks = plan.mix.gap > 0 ? 4000 : 1'000'000;
    } else if (choice < 40) {
      plan.mix.kind = Mix::Kind::shortest_data;
      plan.mix.gap = random_.of<unsigned>({0, 0, 2});
      plan.mix.damaged = 1;
    } else if (choice < 45) {
      plan.mix.kind = Mix::Kind::longest;
      plan.frames = 60;
    } else if (choice < 55) {  // an interval ends with each packet
      plan.mix.gap = 600;
      plan.frames = 200;
      plan.clocks = 1;
    } else {
      plan.mix.gap = random_.of<unsigned>({0, 3, 40});
      plan.mix.damaged = random_.of<unsigned>({0, 2, 10});
    }
    if (plan.mix.kind != Mix::Kind::one_beat || plan.mix.gap > 0)
      plan.clocks *= random_.of<unsigned>({1, 1, 10});
    return plan;
  }

  void phase() {
    Bench& bench = checker_.bench();
    const Plan plan = this->plan();
    ++phases;
    std::snprintf(about_, sizeof about_,
                  "kind %u, %u buckets, scale %u, gap %u, %u %% damaged, interval %llu clocks",
                  static_cast<unsigned>(plan.mix.kind), plan.mix.buckets, plan.mix.scale, plan.mix.gap,
                  plan.mix.damaged, static_cast<unsigned long long>(plan.clocks));
    bench.wires.now_step = random_.of<unsigned>({0, 1, 50, 1000, 3000, 40'000});
    if (random_.chance(20)) bench.wires.now += random_.scaled(36);
    const std::uint64_t ticks = std::max<std::uint64_t>(plan.clocks * bench.wires.now_step, 1);
    for (unsigned port = 0; port < PORTS; ++port) {
      bench.wires.elsewhere[port] = random_.chance(80) ? 0 : random_.scaled(40);
      pace(port);
      configure(port, ticks);
      for (unsigned i = 0; i < plan.frames; ++i) give(port, plan.mix);
      if (plan.commands) give_commands(port, plan, ticks);
    }
    checker_.finish(MOST_CLOCKS);
    rest();
  }

  // As long as a reset of an ingress goes on, through all buckets.
  void rest() {
    for (unsigned i = 0; (resets_[0] || resets_[1]) && i < Checker::BUCKETS + 64; ++i) checker_.clock();
    resets_[0] = resets_[1] = false;
  }

  // Before the phase's first packet, so that no interval of the last one is too short for it.
  void configure(unsigned port, std::uint64_t ticks) {
    checker_.give(port, 0, ingress_configuration(random_));
    checker_.give(PORTS + port, 0, egress_configuration(random_, ticks));
    checker_.finish(MOST_CLOCKS);
  }

  void pace(unsigned port) {
    Bench& bench = checker_.bench();
    const auto seed = static_cast<std::uint32_t>(random_.bits(20));
    const auto idle = random_.below(4);
    const auto stall = random_.below(6);
    bench.source(port, false).set_pattern(idle == 1 ? Pattern(seed, 30, 90) : Pattern());
    bench.sink(port, false)
        .set_pattern(stall == 1   ? Pattern(seed, 20, 60)
                     : stall == 2 ? Pattern(seed, 8, 4)
                     : stall == 3 ? Pattern(seed, 128, 128)
                                  : Pattern());
  }

  void give(unsigned port, const Mix& mix) {
    SoakTraffic::Made made = traffic_[port].make(mix);
    if (made.told) checker_.expect(port, made.frame, made.valid);
    checker_.bench().source(port, false).add(std::move(made.frame));
    ++given_;
  }

  // Some thousand clocks apart, so that what has waited for one is gone before the next.
  void give_commands(unsigned port, const Plan& plan, std::uint64_t ticks) {
    const std::uint32_t last = plan.frames * (plan.mix.gap / 2 + 3);
    for (std::uint32_t clock = 500; clock < last;
         clock += 500 + static_cast<std::uint32_t>(random_.below(4000))) {
      const auto bucket =
          static_cast<std::uint32_t>(random_.below(std::min(plan.mix.buckets, Checker::BUCKETS)));
      const auto choice = random_.below(100);
      const unsigned unit = random_.chance(50) ? port : PORTS + port;
      if (choice < 30) {
        checker_.give(unit, clock, Words{registers::OP_READ});
      } else if (choice < 60) {
        checker_.give(unit, clock, Words{registers::OP_READ_BUCKET, bucket});
      } else if (choice < 92) {
        checker_.give(unit, clock,
                      unit < PORTS ? ingress_configuration(random_) : egress_configuration(random_, ticks));
      } else if (unit >= PORTS ||
                 !resets_[port]) {  // the second would wait for the first, and packets would not
        resets_[port] |= unit < PORTS;
        checker_.give(unit, clock, Words{registers::OP_RESET});
      }
    }
  }

  void read_all(unsigned buckets) {
    for (unsigned unit = 0; unit < 2 * PORTS; ++unit) {
      checker_.give(unit, 0, Words{registers::OP_READ});
      for (unsigned i = 0; i < buckets; ++i) {
        const std::uint32_t bucket = i < SHOWN / 2 || buckets > SHOWN
                                         ? i % Checker::BUCKETS
                                         : static_cast<std::uint32_t>(random_.below(Checker::BUCKETS));
        checker_.give(unit, 0, Words{registers::OP_READ_BUCKET, bucket});
      }
    }
    checker_.finish(MOST_CLOCKS);
  }

  Random random_;
  Checker checker_;
  SoakTraffic traffic_[PORTS];
  std::uint64_t given_ = 0;
  char about_[128] = {};
  bool resets_[PORTS] = {};  // in this phase
};

void report(Soak& soak, double seconds) {
  const Checker::Sums& sums = soak.checker().sums();
  std::printf(
      "%llu frames in %u phases, %llu clocks: %llu passed with %llu beats, %llu dropped (%llu for want of "
      "memory), %llu errored, %llu intervals, %llu answers; %.0f frames/s\n",
      static_cast<unsigned long long>(soak.given()), soak.phases,
      static_cast<unsigned long long>(soak.clocks()), static_cast<unsigned long long>(sums.packets),
      static_cast<unsigned long long>(sums.beats), static_cast<unsigned long long>(sums.drops),
      static_cast<unsigned long long>(sums.overflows), static_cast<unsigned long long>(sums.errored),
      static_cast<unsigned long long>(sums.intervals), static_cast<unsigned long long>(sums.answers),
      static_cast<double>(soak.given()) / seconds);
}

int usage() {
  std::fprintf(stderr, "usage: block-soak [--frames N] [--seed S]\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t frames = 100'000;
  std::uint64_t seed = 1;
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    if (i + 1 == argc || (option != "--frames" && option != "--seed")) return usage();
    char* end = nullptr;
    (option == "--frames" ? frames : seed) = std::strtoull(argv[i + 1], &end, 10);
    if (*end != '\0' || end == argv[i + 1]) return usage();
  }
  const auto start = std::chrono::steady_clock::now();
  Soak soak(seed);
  int status = 0;
  try {
    soak.run(frames);
  } catch (const std::exception& difference) {
    std::printf("seed %llu, phase %u (%s): %s\n", static_cast<unsigned long long>(seed), soak.phases,
                soak.about(), difference.what());
    status = 1;
  }
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  report(soak, passed.count());
  std::printf("%d differences\n", status);
  return status;
}
