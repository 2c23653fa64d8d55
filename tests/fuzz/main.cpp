// SPDX-License-Identifier: Apache-2.0
// Tries a part of Clarion with frames that fit and frames that do not. README.md says what must hold.
//
//   frame-fuzz TARGET [--count N] [--seed S] [--round R]   all rounds of N frames, or one
//   frame-fuzz TARGET --frame HEX [--seed S]               one frame
//   frame-fuzz frames [--count N] [--seed S] [--first R]   the frames themselves, for targets in other
//   languages
//
// A round starts from nothing with random numbers of its own, so that any can be played again alone.
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "generator.hpp"
#include "judge.hpp"
#include "scene.hpp"
#include "target.hpp"

namespace clarion::fuzz {
namespace {

constexpr std::uint64_t ROUND_FRAMES = 65536;
constexpr std::uint64_t ALL_ROUNDS = ~std::uint64_t{0};
constexpr unsigned ROUND_SECONDS = 120;  // some hundred times what it takes

struct Settings {
  std::string target;
  std::uint64_t count = 1'000'000;
  std::uint64_t seed = 1;
  std::uint64_t round = ALL_ROUNDS;
  std::uint64_t first = 0;
  std::vector<std::uint8_t> frame;
  bool has_frame = false;
};

[[noreturn]] void refuse(const std::string& reason) {
  std::fprintf(stderr, "frame-fuzz: %s\n", reason.c_str());
  std::exit(2);
}

std::uint64_t number_of(const std::string& name, const char* text) {
  char* end = nullptr;
  const std::uint64_t number = std::strtoull(text, &end, 10);
  if (*text < '0' || *text > '9' || *end != '\0') refuse(name + ": a whole number is needed, not " + text);
  return number;
}

std::vector<std::uint8_t> bytes_of(const std::string& hex) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t at = 0; at + 1 < hex.size(); at += 2) {
    char* end = nullptr;
    const std::string digits = hex.substr(at, 2);
    bytes.push_back(static_cast<std::uint8_t>(std::strtoul(digits.c_str(), &end, 16)));
    if (*end != '\0') refuse("--frame: these are no hexadecimal digits: " + digits);
  }
  if (hex.size() % 2 != 0 || bytes.size() > LONGEST_BYTES) {
    refuse("--frame: two digits per byte are needed, of at most " + std::to_string(LONGEST_BYTES) + " bytes");
  }
  return bytes;
}

Settings read_settings(int argc, char** argv) {
  if (argc < 2) refuse("which target: core, edits, switch, shim; or frames?");
  Settings settings;
  settings.target = argv[1];
  for (int i = 2; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc) refuse(name + ": a value is needed");
    if (name == "--frame") {
      settings.frame = bytes_of(argv[i + 1]);
      settings.has_frame = true;
    } else if (name == "--count") {
      settings.count = number_of(name, argv[i + 1]);
    } else if (name == "--seed") {
      settings.seed = number_of(name, argv[i + 1]);
    } else if (name == "--round") {
      settings.round = number_of(name, argv[i + 1]);
    } else if (name == "--first") {
      settings.first = number_of(name, argv[i + 1]);
    } else {
      refuse(name + ": there is no such option");
    }
  }
  return settings;
}

// Random numbers of one round.
Random random_of(const Settings& settings, std::uint64_t round) {
  return Random(settings.seed * 0x9e3779b97f4a7c15 + round);
}

// How many frames of each kind there were.
struct Tally {
  std::uint64_t ordinary = 0;
  std::uint64_t malformed = 0;
  std::uint64_t valid[4] = {};

  void note(const Judgement& judged) {
    if (judged.verdict == Verdict::ordinary) ++ordinary;
    if (judged.verdict == Verdict::malformed) ++malformed;
    if (judged.verdict == Verdict::valid) ++valid[judged.format];
  }
};

void play_round(Target& target, const Settings& settings, std::uint64_t round, std::uint64_t frames,
                Tally& tally) {
  Random random = random_of(settings, round);
  Generator generator(random);
  std::vector<std::uint8_t> frame(LONGEST_BYTES + 256);
  allow_seconds(ROUND_SECONDS);
  scene.round = round;
  scene.frame = frame.data();
  target.begin(random);
  for (scene.number = 0; scene.number < frames; ++scene.number) {
    scene.length = generator.make(frame.data());
    tally.note(judge(frame.data(), scene.length, PROTOCOL));
    target.play(frame.data(), scene.length, random);
  }
}

void play_one(Target& target, const Settings& settings) {
  Random random = random_of(settings, 0);
  scene.frame = settings.frame.data();
  scene.length = static_cast<std::uint32_t>(settings.frame.size());
  target.begin(random);
  target.play(scene.frame, scene.length, random);
}

void play(Target& target, const Settings& settings) {
  const auto start = std::chrono::steady_clock::now();
  Tally tally;
  std::uint64_t played = 0;
  if (settings.round != ALL_ROUNDS) {
    play_round(target, settings, settings.round, played = ROUND_FRAMES, tally);
  } else {
    for (std::uint64_t round = 0; played < settings.count; ++round) {
      const std::uint64_t frames = std::min(ROUND_FRAMES, settings.count - played);
      play_round(target, settings, round, frames, tally);
      played += frames;
    }
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  std::printf("{\"target\":\"%s\",\"frames\":%" PRIu64 ",\"seed\":%" PRIu64 ",\"seconds\":%.1f,",
              settings.target.c_str(), played, settings.seed, taken.count());
  std::printf("\"ordinary\":%" PRIu64 ",\"malformed\":%" PRIu64 ",\"data\":%" PRIu64 ",\"ack\":%" PRIu64
              ",\"tag\":%" PRIu64,
              tally.ordinary, tally.malformed, tally.valid[1], tally.valid[2], tally.valid[3]);
  for (const auto& [name, count] : target.counts()) std::printf(",\"%s\":%" PRIu64, name, count);
  std::puts("}");
}

// Each with its length (16 bits, little endian), verdict and format before it.
void write_frames(const Settings& settings) {
  std::vector<std::uint8_t> frame(LONGEST_BYTES + 256);
  for (std::uint64_t left = settings.count, round = settings.first; left > 0; ++round) {
    Random random = random_of(settings, round);
    Generator generator(random);
    for (std::uint64_t i = 0; i < ROUND_FRAMES && left > 0; ++i, --left) {
      const std::uint32_t length = generator.make(frame.data());
      const Judgement judged = judge(frame.data(), length, PROTOCOL);
      const std::uint8_t head[] = {static_cast<std::uint8_t>(length), static_cast<std::uint8_t>(length >> 8),
                                   static_cast<std::uint8_t>(judged.verdict), judged.format};
      std::fwrite(head, 1, sizeof head, stdout);
      std::fwrite(frame.data(), 1, length, stdout);
    }
  }
}

std::unique_ptr<Target> target_of(const std::string& name) {
  if (name == "core") return core_target();
  if (name == "edits") return edits_target();
  if (name == "switch") return switch_target();
  if (name == "shim") return shim_target();
  refuse(name + ": there is no such target; core, edits, switch, shim or frames");
}

}  // namespace
}  // namespace clarion::fuzz

int main(int argc, char** argv) {
  using namespace clarion::fuzz;
  const Settings settings = read_settings(argc, argv);
  if (settings.target == "frames") {
    write_frames(settings);
    return 0;
  }
  const auto target = target_of(settings.target);
  scene.program = argv[0];
  scene.target = settings.target.c_str();
  scene.seed = settings.seed;
  watch();
  settings.has_frame ? play_one(*target, settings) : play(*target, settings);
  return 0;
}
