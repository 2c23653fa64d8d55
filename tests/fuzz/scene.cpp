// SPDX-License-Identifier: Apache-2.0
#include "scene.hpp"

#include <unistd.h>

#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>

// Sanitisers end by a signal, so that their reports come with the frame as well.
extern "C" const char* __asan_default_options() { return "abort_on_error=1:detect_leaks=0"; }
extern "C" const char* __ubsan_default_options() { return "abort_on_error=1:print_stacktrace=1"; }

namespace clarion::fuzz {

Scene scene;

namespace {

void print_bytes(const char* name, const std::uint8_t* bytes, std::uint32_t length) {
  std::fprintf(stderr, "  %s, %u bytes: ", name, length);
  for (std::uint32_t i = 0; i < length; ++i) std::fprintf(stderr, "%02x", bytes[i]);
  std::fputc('\n', stderr);
}

void report(int signal) {
  if (signal == SIGALRM) std::fprintf(stderr, "fuzz: %s: does not come to an end\n", scene.target);
  std::fprintf(stderr, "fuzz: %s: signal %d at frame %" PRIu64 " of round %" PRIu64 "\n", scene.target,
               signal, scene.number, scene.round);
  print_bytes("frame", scene.frame, scene.length);
  std::fprintf(stderr, "  again: %s %s --seed %" PRIu64 " --round %" PRIu64 "\n", scene.program, scene.target,
               scene.seed, scene.round);
  std::signal(SIGABRT, SIG_DFL);
  std::abort();
}

}  // namespace

void watch() {
  for (const int signal : {SIGABRT, SIGALRM}) std::signal(signal, report);
#ifndef __SANITIZE_ADDRESS__  // which has handlers of its own
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, report);
#endif
}

void allow_seconds(unsigned seconds) { alarm(seconds); }

void fail(const char* reason, const std::uint8_t* frame, std::uint32_t length) {
  std::fprintf(stderr, "fuzz: %s: %s\n", scene.target, reason);
  if (frame != nullptr) print_bytes("came out", frame, length);
  std::abort();
}

}  // namespace clarion::fuzz
