// SPDX-License-Identifier: Apache-2.0
// As much of ap_uint as hls/block uses, on the compiler's own integers of any width: bambu keeps the arrays
// that its own ap_uint is made of in memory once they are shifted by a variable.
#ifndef CLARION_SYNTH_BAMBU_AP_INT_H
#define CLARION_SYNTH_BAMBU_AP_INT_H

#include <cstdint>

#define AP_INLINE inline __attribute__((always_inline))

template <int W>
struct ap_bits {
  typedef unsigned _BitInt(W) type;
};

template <int W>
class ap_uint;

// As a number lies in memory: bambu loses what is wider than 512 bits there.
template <int W, bool WIDE = (W > 512)>
struct ap_store {
  using Bits = typename ap_bits<W>::type;
  AP_INLINE constexpr explicit ap_store(Bits value) : bits_(value) {}
  AP_INLINE constexpr Bits bits() const { return bits_; }

 private:
  alignas(W > 64 ? 64 : alignof(Bits)) Bits bits_;
};

template <int W>
struct ap_store<W, true> {
  using Bits = typename ap_bits<W>::type;
  AP_INLINE constexpr explicit ap_store(Bits value)
      : low_(static_cast<typename ap_bits<512>::type>(value)),
        high_(static_cast<typename ap_bits<W - 512>::type>(value >> 512)) {}
  AP_INLINE constexpr Bits bits() const {
    return static_cast<Bits>(static_cast<Bits>(high_) << 512) | static_cast<Bits>(low_);
  }

 private:
  alignas(64) typename ap_bits<512>::type low_;
  alignas(64) typename ap_bits<W - 512>::type high_;
};

// A shift by a variable, of words of 64 bits: bambu has no unit for wider ones.
template <int W>
class ap_shift {
 public:
  using Bits = typename ap_bits<W>::type;
  AP_INLINE static Bits left(Bits bits, unsigned by) {
    if (__builtin_constant_p(by) || W <= 64) return static_cast<Bits>(bits << by);
    ap_shift words(bits);
#pragma clang loop unroll(full)
    for (unsigned step = ROUNDED / 2; step > 0; step /= 2) {
      const bool moves = (by & (64 * step)) != 0;
#pragma clang loop unroll(full)
      for (unsigned i = WORDS; i-- > 0;) {
        const std::uint64_t moved = i >= step ? words.word_[i - step] : 0;
        words.word_[i] = moves ? moved : words.word_[i];
      }
    }
#pragma clang loop unroll(full)
    for (unsigned i = WORDS; i-- > 0;) {
      const std::uint64_t below = i > 0 ? words.word_[i - 1] : 0;
      words.word_[i] = words.word_[i] << (by & 63) | below >> 1 >> (63 - (by & 63));
    }
    return words.joined();
  }
  AP_INLINE static Bits right(Bits bits, unsigned by) {
    if (__builtin_constant_p(by) || W <= 64) return static_cast<Bits>(bits >> by);
    ap_shift words(bits);
#pragma clang loop unroll(full)
    for (unsigned step = ROUNDED / 2; step > 0; step /= 2) {
      const bool moves = (by & (64 * step)) != 0;
#pragma clang loop unroll(full)
      for (unsigned i = 0; i < WORDS; ++i) {
        const std::uint64_t moved = i + step < WORDS ? words.word_[i + step] : 0;
        words.word_[i] = moves ? moved : words.word_[i];
      }
    }
#pragma clang loop unroll(full)
    for (unsigned i = 0; i < WORDS; ++i) {
      const std::uint64_t above = i + 1 < WORDS ? words.word_[i + 1] : 0;
      words.word_[i] = words.word_[i] >> (by & 63) | above << 1 << (63 - (by & 63));
    }
    return words.joined();
  }

 private:
  static constexpr unsigned WORDS = (W + 63) / 64;
  static constexpr unsigned ROUNDED = WORDS <= 1 ? 1 : WORDS <= 2 ? 2 : WORDS <= 4 ? 4 : WORDS <= 8 ? 8 : 16;

  AP_INLINE explicit ap_shift(Bits bits) {
#pragma clang loop unroll(full)
    for (unsigned i = 0; i < WORDS; ++i) word_[i] = static_cast<std::uint64_t>(bits >> (64 * i));
  }
  AP_INLINE Bits joined() const {
    Bits bits = 0;
#pragma clang loop unroll(full)
    for (unsigned i = 0; i < WORDS; ++i) bits |= static_cast<Bits>(static_cast<Bits>(word_[i]) << (64 * i));
    return bits;
  }

  std::uint64_t word_[WORDS];
};

// Bits high..low of a number, to read and to write.
template <int W>
class ap_range {
 public:
  using Bits = typename ap_bits<W>::type;
  AP_INLINE ap_range(ap_uint<W>& of, unsigned high, unsigned low)
      : of_(of), width_(high - low + 1), low_(low) {}

  AP_INLINE Bits value() const { return ap_shift<W>::right(of_.bits(), low_) & mask(); }
  AP_INLINE unsigned to_uint() const { return static_cast<unsigned>(value()); }
  AP_INLINE std::uint64_t to_uint64() const { return static_cast<std::uint64_t>(value()); }
  template <class T>
  AP_INLINE ap_range& operator=(const T& value) {
    const Bits now = static_cast<Bits>(ap_uint<W>(value).bits() & mask());
    const Bits others = static_cast<Bits>(of_.bits() & ~ap_shift<W>::left(mask(), low_));
    of_ = ap_uint<W>(static_cast<Bits>(others | ap_shift<W>::left(now, low_)));
    return *this;
  }

 private:
  AP_INLINE Bits mask() const {
    return width_ >= W ? static_cast<Bits>(~Bits(0)) : static_cast<Bits>((Bits(1) << (width_ % W)) - 1);
  }

  ap_uint<W>& of_;
  unsigned width_;
  unsigned low_;
};

template <int W>
class ap_uint {
 public:
  using Bits = typename ap_bits<W>::type;
  static constexpr int width = W;

  constexpr ap_uint() = default;
  template <class T, class = decltype(static_cast<Bits>(T()))>
  AP_INLINE constexpr ap_uint(T value) : store_(static_cast<Bits>(value)) {}
  template <int N>
  AP_INLINE constexpr ap_uint(const ap_uint<N>& other) : store_(static_cast<Bits>(other.bits())) {}
  template <int N>
  AP_INLINE ap_uint(const ap_range<N>& range) : store_(static_cast<Bits>(range.value())) {}

  AP_INLINE constexpr Bits bits() const { return store_.bits(); }
  AP_INLINE unsigned to_uint() const { return static_cast<unsigned>(bits()); }
  AP_INLINE std::uint64_t to_uint64() const { return static_cast<std::uint64_t>(bits()); }

  AP_INLINE ap_range<W> range(unsigned high, unsigned low) { return ap_range<W>(*this, high, low); }
  AP_INLINE ap_range<W> range(unsigned high, unsigned low) const {
    return ap_range<W>(const_cast<ap_uint&>(*this), high, low);
  }
  AP_INLINE ap_range<W> operator()(unsigned high, unsigned low) const { return range(high, low); }
  AP_INLINE ap_range<W> operator[](unsigned at) { return range(at, at); }
  AP_INLINE bool operator[](unsigned at) const {
    return (ap_shift<W>::right(bits(), at) & Bits(1)) != Bits(0);
  }

  template <int N>
  AP_INLINE ap_uint<W + N> operator,(const ap_uint<N>& low) const {
    using Both = typename ap_bits<W + N>::type;
    return ap_uint<W + N>(static_cast<Both>(static_cast<Both>(bits()) << N) | static_cast<Both>(low.bits()));
  }

  AP_INLINE ap_uint operator~() const { return ap_uint(static_cast<Bits>(~bits())); }
  template <class T>
  AP_INLINE ap_uint operator<<(const T& by) const {
    return ap_uint(ap_shift<W>::left(bits(), static_cast<unsigned>(by)));
  }
  template <class T>
  AP_INLINE ap_uint operator>>(const T& by) const {
    return ap_uint(ap_shift<W>::right(bits(), static_cast<unsigned>(by)));
  }
  AP_INLINE ap_uint& operator<<=(unsigned by) { return *this = *this << by; }
  AP_INLINE ap_uint& operator|=(const ap_uint& b) {
    return *this = ap_uint(static_cast<Bits>(bits() | b.bits()));
  }
  AP_INLINE ap_uint& operator+=(const ap_uint& b) {
    return *this = ap_uint(static_cast<Bits>(bits() + b.bits()));
  }
  AP_INLINE ap_uint& operator-=(const ap_uint& b) {
    return *this = ap_uint(static_cast<Bits>(bits() - b.bits()));
  }
  AP_INLINE ap_uint& operator++() { return *this += ap_uint(1u); }
  AP_INLINE ap_uint& operator--() { return *this -= ap_uint(1u); }
  AP_INLINE ap_uint operator++(int) {
    const ap_uint before = *this;
    ++*this;
    return before;
  }

  AP_INLINE friend ap_uint operator&(const ap_uint& a, const ap_uint& b) {
    return ap_uint(static_cast<Bits>(a.bits() & b.bits()));
  }
  AP_INLINE friend ap_uint operator|(const ap_uint& a, const ap_uint& b) {
    return ap_uint(static_cast<Bits>(a.bits() | b.bits()));
  }

  // Numbers of up to 63 bits take part in sums and comparisons as such.
  AP_INLINE operator std::uint64_t() const { return to_uint64(); }

 private:
  ap_store<W> store_{0};
};

#endif  // CLARION_SYNTH_BAMBU_AP_INT_H
