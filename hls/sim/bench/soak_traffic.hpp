// SPDX-License-Identifier: Apache-2.0
// Random traffic for a long run: frames of every kind, whole and damaged, and configurations.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "hls/sim/bench/units.hpp"

namespace clarion::sim {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {  // SplitMix64
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  std::uint64_t below(std::uint64_t limit) { return next() % limit; }
  bool chance(unsigned percent) { return below(100) < percent; }
  std::uint64_t bits(unsigned count) { return count == 0 ? 0 : next() >> (64 - count); }
  // Of any size up to so many bits.
  std::uint64_t scaled(unsigned count) { return bits(static_cast<unsigned>(below(count + 1))); }
  template <class T>
  T of(std::initializer_list<T> values) {
    return values.begin()[below(values.size())];
  }

 private:
  std::uint64_t state_;
};

// What the frames of a phase are like.
struct Mix {
  enum class Kind : std::uint8_t { any, one_beat, shortest_data, longest };

  Kind kind = Kind::any;
  unsigned buckets = 65536;  // of flows
  unsigned scale = 20;       // bits of round trip times and of x
  unsigned gap = 3;          // clocks between frames, up to
  unsigned damaged = 2;      // percent of the frames
};

// One port's frames. Numbers of its link mostly continue, sometimes skip, repeat or jump.
class SoakTraffic {
 public:
  explicit SoakTraffic(Random& random) : random_(random), next_seq_(65536) {}

  struct Made {
    SentFrame frame;
    bool told;   // the block sees an end of a frame
    bool valid;  // and takes it
  };

  Made make(const Mix& mix);

 private:
  std::vector<std::uint8_t> bytes_of(const Mix& mix);
  void put_header(std::vector<std::uint8_t>& bytes, const Mix& mix);
  void put_tags(std::vector<std::uint8_t>& bytes, const Mix& mix);
  std::size_t length_of(const Mix& mix, std::size_t least);
  void damage(Made& made);

  Random& random_;
  std::vector<std::uint16_t> next_seq_;
  std::uint16_t number_ = 0;
  bool endless_ = false;  // the last frame had no end
};

Words ingress_configuration(Random& random);
// `ticks`: of the shortest interval.
Words egress_configuration(Random& random, std::uint64_t ticks);

}  // namespace clarion::sim
