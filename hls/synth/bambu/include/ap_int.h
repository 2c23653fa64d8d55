// SPDX-License-Identifier: Apache-2.0
// As much of ap_uint as hls/block uses. A number of more than 64 bits is an array of words of 64 bits in
// every operation: bambu has no unit for a wider shift by a variable, and loses bits of wide numbers that lie
// in memory or go from one step of a unit to the next. Its own ap_uint is such an array too, but stays in
// memory.
#ifndef CLARION_SYNTH_BAMBU_AP_INT_H
#define CLARION_SYNTH_BAMBU_AP_INT_H

#include <cstdint>

#define AP_INLINE inline __attribute__((always_inline))
#define AP_UNROLL _Pragma("clang loop unroll(full)")

template <int W>
struct ap_bits {
  typedef unsigned _BitInt(W) type;
};

template <int W, bool WIDE = (W > 64)>
class ap_uint;

// Bits high..low of a number, 64 at most, to read and to write.
template <int W>
class ap_range {
 public:
  AP_INLINE ap_range(ap_uint<W>& of, unsigned high, unsigned low)
      : of_(of), mask_(~std::uint64_t{0} >> (63 - (high - low))), low_(low) {}

  AP_INLINE unsigned to_uint() const { return static_cast<unsigned>(to_uint64()); }
  AP_INLINE std::uint64_t to_uint64() const { return (of_ >> low_).to_uint64() & mask_; }
  template <class T>
  AP_INLINE ap_range& operator=(const T& value) {
    const ap_uint<W> now(static_cast<std::uint64_t>(value) & mask_);
    of_ = (of_ & ~(ap_uint<W>(mask_) << low_)) | now << low_;
    return *this;
  }

 private:
  ap_uint<W>& of_;
  std::uint64_t mask_;
  unsigned low_;
};

template <int W>
class ap_uint<W, false> {
 public:
  using Bits = typename ap_bits<W>::type;
  static constexpr int width = W;

  constexpr ap_uint() = default;
  template <class T, class = decltype(static_cast<Bits>(T()))>
  AP_INLINE constexpr ap_uint(T value) : bits_(static_cast<Bits>(value)) {}
  template <int N>
  AP_INLINE constexpr ap_uint(const ap_uint<N>& other) : bits_(static_cast<Bits>(other.to_uint64())) {}
  template <int N>
  AP_INLINE ap_uint(const ap_range<N>& range) : bits_(static_cast<Bits>(range.to_uint64())) {}

  AP_INLINE constexpr std::uint64_t word(int at) const {
    return at == 0 ? static_cast<std::uint64_t>(bits_) : 0;
  }
  AP_INLINE constexpr unsigned to_uint() const { return static_cast<unsigned>(bits_); }
  AP_INLINE constexpr std::uint64_t to_uint64() const { return static_cast<std::uint64_t>(bits_); }

  AP_INLINE ap_range<W> range(unsigned high, unsigned low) { return ap_range<W>(*this, high, low); }
  AP_INLINE ap_range<W> range(unsigned high, unsigned low) const {
    return ap_range<W>(const_cast<ap_uint&>(*this), high, low);
  }
  AP_INLINE ap_range<W> operator()(unsigned high, unsigned low) const { return range(high, low); }
  AP_INLINE ap_range<W> operator[](unsigned at) { return range(at, at); }
  AP_INLINE bool operator[](unsigned at) const { return (to_uint64() >> at & 1) != 0; }

  AP_INLINE ap_uint operator~() const { return ap_uint(static_cast<Bits>(~bits_)); }
  AP_INLINE ap_uint operator<<(unsigned by) const { return ap_uint(static_cast<Bits>(bits_ << by)); }
  AP_INLINE ap_uint operator>>(unsigned by) const { return ap_uint(static_cast<Bits>(bits_ >> by)); }
  AP_INLINE ap_uint& operator<<=(unsigned by) { return *this = *this << by; }
  AP_INLINE ap_uint& operator|=(const ap_uint& b) { return *this = *this | b; }
  AP_INLINE ap_uint& operator+=(const ap_uint& b) {
    return *this = ap_uint(static_cast<Bits>(bits_ + b.bits_));
  }
  AP_INLINE ap_uint& operator-=(const ap_uint& b) {
    return *this = ap_uint(static_cast<Bits>(bits_ - b.bits_));
  }
  AP_INLINE ap_uint& operator++() { return *this += ap_uint(1u); }
  AP_INLINE ap_uint& operator--() { return *this -= ap_uint(1u); }
  AP_INLINE ap_uint operator++(int) {
    const ap_uint before = *this;
    ++*this;
    return before;
  }

  AP_INLINE friend ap_uint operator&(const ap_uint& a, const ap_uint& b) {
    return ap_uint(static_cast<Bits>(a.bits_ & b.bits_));
  }
  AP_INLINE friend ap_uint operator|(const ap_uint& a, const ap_uint& b) {
    return ap_uint(static_cast<Bits>(a.bits_ | b.bits_));
  }

  // Numbers of up to 63 bits take part in sums and comparisons as such.
  AP_INLINE constexpr operator std::uint64_t() const { return to_uint64(); }

 private:
  Bits bits_ = 0;
};

template <int W>
class ap_uint<W, true> {
 public:
  using Bits = typename ap_bits<W>::type;  // of the compiler, for the ports
  static constexpr int width = W;

  constexpr ap_uint() = default;
  template <class T, class = decltype(static_cast<std::uint64_t>(T()))>
  AP_INLINE constexpr ap_uint(T value) {
    word_[0] = static_cast<std::uint64_t>(value);
  }
  template <int N>
  AP_INLINE constexpr ap_uint(const ap_uint<N>& other) {
    AP_UNROLL
    for (int i = 0; i < WORDS; ++i) word_[i] = other.word(i);
    word_[WORDS - 1] &= TOP;
  }
  AP_INLINE static ap_uint of(Bits bits) {
    ap_uint value;
    AP_UNROLL
    for (int i = 0; i < WORDS; ++i) value.word_[i] = static_cast<std::uint64_t>(bits >> (64 * i));
    return value;
  }

  AP_INLINE Bits bits() const {
    Bits bits = 0;
    AP_UNROLL
    for (int i = 0; i < WORDS; ++i) bits |= static_cast<Bits>(static_cast<Bits>(word_[i]) << (64 * i));
    return bits;
  }
  AP_INLINE constexpr std::uint64_t word(int at) const { return at >= 0 && at < WORDS ? word_[at] : 0; }
  AP_INLINE constexpr unsigned to_uint() const { return static_cast<unsigned>(word_[0]); }
  AP_INLINE constexpr std::uint64_t to_uint64() const { return word_[0]; }

  AP_INLINE ap_range<W> range(unsigned high, unsigned low) { return ap_range<W>(*this, high, low); }
  AP_INLINE ap_range<W> range(unsigned high, unsigned low) const {
    return ap_range<W>(const_cast<ap_uint&>(*this), high, low);
  }

  template <int N>
  AP_INLINE ap_uint<W + N> operator,(const ap_uint<N>& low) const {
    return ap_uint<W + N>(*this) << N | ap_uint<W + N>(low);
  }

  AP_INLINE ap_uint operator~() const {
    ap_uint value;
    AP_UNROLL
    for (int i = 0; i < WORDS; ++i) value.word_[i] = ~word_[i];
    value.word_[WORDS - 1] &= TOP;
    return value;
  }
  // By whole words, in steps of powers of two, then within words.
  AP_INLINE ap_uint operator<<(unsigned by) const {
    ap_uint value = *this;
    AP_UNROLL
    for (int step = ROUNDED / 2; step > 0; step /= 2) {
      const bool moves = (by & 64u * static_cast<unsigned>(step)) != 0;
      AP_UNROLL
      for (int i = WORDS - 1; i >= 0; --i) value.word_[i] = moves ? value.word(i - step) : value.word_[i];
    }
    const unsigned rest = by & 63;
    AP_UNROLL
    for (int i = WORDS - 1; i >= 0; --i) {
      value.word_[i] = value.word_[i] << rest | value.word(i - 1) >> 1 >> (63 - rest);
    }
    value.word_[WORDS - 1] &= TOP;
    return value;
  }
  AP_INLINE ap_uint operator>>(unsigned by) const {
    ap_uint value = *this;
    AP_UNROLL
    for (int step = ROUNDED / 2; step > 0; step /= 2) {
      const bool moves = (by & 64u * static_cast<unsigned>(step)) != 0;
      AP_UNROLL
      for (int i = 0; i < WORDS; ++i) value.word_[i] = moves ? value.word(i + step) : value.word_[i];
    }
    const unsigned rest = by & 63;
    AP_UNROLL
    for (int i = 0; i < WORDS; ++i) {
      value.word_[i] = value.word_[i] >> rest | value.word(i + 1) << 1 << (63 - rest);
    }
    return value;
  }
  AP_INLINE ap_uint& operator|=(const ap_uint& b) { return *this = *this | b; }

  AP_INLINE friend ap_uint operator&(const ap_uint& a, const ap_uint& b) {
    ap_uint value;
    AP_UNROLL
    for (int i = 0; i < WORDS; ++i) value.word_[i] = a.word_[i] & b.word_[i];
    return value;
  }
  AP_INLINE friend ap_uint operator|(const ap_uint& a, const ap_uint& b) {
    ap_uint value;
    AP_UNROLL
    for (int i = 0; i < WORDS; ++i) value.word_[i] = a.word_[i] | b.word_[i];
    return value;
  }

 private:
  static constexpr int WORDS = (W + 63) / 64;
  static constexpr int ROUNDED = WORDS <= 2 ? 2 : WORDS <= 4 ? 4 : WORDS <= 8 ? 8 : 16;
  static constexpr std::uint64_t TOP = ~std::uint64_t{0} >> (64 * WORDS - W);
  static_assert(W <= 1024);

  std::uint64_t word_[WORDS] = {};
};

#endif  // CLARION_SYNTH_BAMBU_AP_INT_H
