// SPDX-License-Identifier: Apache-2.0
// A stream as one step of a unit sees it: at most one token, which the wrapper around the step brings from a
// port or takes to one. bambu's own streams cannot be asked whether they are full.
#ifndef CLARION_SYNTH_BAMBU_HLS_STREAM_H
#define CLARION_SYNTH_BAMBU_HLS_STREAM_H

namespace hls {

template <typename T, int DEPTH = 0>
class stream {
 public:
  explicit stream(const char* = "") {}

  bool empty() const { return !holds_; }
  bool full() const { return holds_; }

  T read() {
    holds_ = false;
    return token_;
  }

  void write(const T& token) {
    token_ = token;
    holds_ = true;
  }

  bool write_nb(const T& token) {
    if (holds_) return false;
    write(token);
    return true;
  }

 private:
  T token_{};
  bool holds_ = false;
};

}  // namespace hls

#endif  // CLARION_SYNTH_BAMBU_HLS_STREAM_H
