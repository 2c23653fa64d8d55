// SPDX-License-Identifier: Apache-2.0
// Protocol between tests in another language and a driver: a batch comes on stdin behind its length (4
// bytes), its answer goes to stdout in the same way; integers are little-endian. A malformed batch ends the
// process with status 2.
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace clarion::batches {

using Bytes = std::vector<std::uint8_t>;

[[noreturn]] inline void refuse(const char* reason) {
  std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, reason);
  std::exit(2);
}

class Reader {
 public:
  explicit Reader(const Bytes& bytes) : bytes_(bytes) {}

  bool done() const { return at_ == bytes_.size(); }

  const std::uint8_t* take(std::size_t count) {
    if (bytes_.size() - at_ < count) refuse("batch cut short");
    at_ += count;
    return bytes_.data() + at_ - count;
  }

  std::uint64_t number(unsigned count) {
    const std::uint8_t* bytes = take(count);
    std::uint64_t value = 0;
    for (unsigned i = 0; i < count; ++i) value |= static_cast<std::uint64_t>(bytes[i]) << (8 * i);
    return value;
  }

  std::uint32_t u32() { return static_cast<std::uint32_t>(number(4)); }
  std::uint8_t u8() { return static_cast<std::uint8_t>(number(1)); }

  // A number of `count` bytes that picks one of `limit` things.
  unsigned below(unsigned limit, unsigned count) {
    const std::uint64_t value = number(count);
    if (value >= limit) refuse("port, slot or kind out of range");
    return static_cast<unsigned>(value);
  }

 private:
  const Bytes& bytes_;
  std::size_t at_ = 0;
};

class Writer {
 public:
  void number(std::uint64_t value, unsigned count) {
    for (unsigned i = 0; i < count; ++i) bytes.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  }

  Bytes bytes;
};

// Answers with driver.play(batch) until stdin ends.
template <class Driver>
void serve(Driver& driver) {
  const auto read_all = [](void* bytes, std::size_t count) {
    return std::fread(bytes, 1, count, stdin) == count;
  };
  Bytes size(4);
  while (read_all(size.data(), size.size())) {
    Bytes batch(Reader(size).u32());
    if (!batch.empty() && !read_all(batch.data(), batch.size())) refuse("batch cut short");
    const Bytes reply = driver.play(batch);
    Writer answer;
    answer.number(reply.size(), 4);
    answer.bytes.insert(answer.bytes.end(), reply.begin(), reply.end());
    std::fwrite(answer.bytes.data(), 1, answer.bytes.size(), stdout);
    std::fflush(stdout);
  }
}

}  // namespace clarion::batches
