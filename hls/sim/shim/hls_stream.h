// SPDX-License-Identifier: Apache-2.0
// Streams for C simulation, under the names that HLS tools give theirs. Bounded to the hardware's depth;
// reading an empty stream or writing to a full one, which would stop the hardware for good, ends the program
// with the stream's name.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>

namespace hls {

template <typename T, int DEPTH = 0>
class stream;

template <typename T>
class stream<T, 0> {
 public:
  static constexpr std::size_t DEFAULT_DEPTH = 2;  // the default in hardware

  explicit stream(const char* name = "unnamed", std::size_t depth = DEFAULT_DEPTH)
      : name_(name), depth_(depth) {}
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;

  bool empty() const { return waiting_.empty(); }
  bool full() const { return waiting_.size() >= depth_; }
  std::size_t size() const { return waiting_.size(); }
  std::size_t depth() const { return depth_; }

  T read() {
    if (empty()) fail("read while it is empty");
    T value = waiting_.front();
    waiting_.pop_front();
    return value;
  }

  bool read_nb(T& value) {
    if (empty()) return false;
    value = read();
    return true;
  }

  void write(const T& value) {
    if (full()) fail("written to while it is full");
    waiting_.push_back(value);
  }

  bool write_nb(const T& value) {
    if (full()) return false;
    write(value);
    return true;
  }

 private:
  [[noreturn]] void fail(const char* what) const {
    std::fprintf(stderr, "stream %s: %s\n", name_.c_str(), what);
    std::abort();
  }

  std::string name_;
  std::size_t depth_;
  std::deque<T> waiting_;
};

template <typename T, int DEPTH>
class stream : public stream<T, 0> {
 public:
  explicit stream(const char* name = "unnamed") : stream<T, 0>(name, DEPTH) {}
};

}  // namespace hls
