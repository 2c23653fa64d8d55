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

// Bits high..low of a number, to read and to write.
template <int W>
class ap_range {
 public:
  using Bits = typename ap_bits<W>::type;
  AP_INLINE ap_range(Bits& bits, unsigned high, unsigned low)
      : bits_(bits), width_(high - low + 1), low_(low) {}

  AP_INLINE Bits value() const { return static_cast<Bits>(bits_ >> low_) & mask(); }
  AP_INLINE unsigned to_uint() const { return static_cast<unsigned>(value()); }
  AP_INLINE std::uint64_t to_uint64() const { return static_cast<std::uint64_t>(value()); }
  template <class T>
  AP_INLINE ap_range& operator=(const T& value) {
    const Bits now = static_cast<Bits>(ap_uint<W>(value).bits() & mask());
    bits_ = static_cast<Bits>(bits_ & ~static_cast<Bits>(mask() << low_)) | static_cast<Bits>(now << low_);
    return *this;
  }

 private:
  AP_INLINE Bits mask() const {
    return width_ >= W ? static_cast<Bits>(~Bits(0)) : static_cast<Bits>((Bits(1) << (width_ % W)) - 1);
  }

  Bits& bits_;
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
  AP_INLINE constexpr ap_uint(T value) : bits_(static_cast<Bits>(value)) {}
  template <int N>
  AP_INLINE constexpr ap_uint(const ap_uint<N>& other) : bits_(static_cast<Bits>(other.bits())) {}
  template <int N>
  AP_INLINE ap_uint(const ap_range<N>& range) : bits_(static_cast<Bits>(range.value())) {}

  AP_INLINE constexpr Bits bits() const { return bits_; }
  AP_INLINE unsigned to_uint() const { return static_cast<unsigned>(bits_); }
  AP_INLINE std::uint64_t to_uint64() const { return static_cast<std::uint64_t>(bits_); }

  AP_INLINE ap_range<W> range(unsigned high, unsigned low) { return ap_range<W>(bits_, high, low); }
  AP_INLINE ap_range<W> range(unsigned high, unsigned low) const {
    return ap_range<W>(const_cast<Bits&>(bits_), high, low);
  }
  AP_INLINE ap_range<W> operator()(unsigned high, unsigned low) const { return range(high, low); }
  AP_INLINE ap_range<W> operator[](unsigned at) { return range(at, at); }
  AP_INLINE bool operator[](unsigned at) const {
    return (static_cast<Bits>(bits_ >> at) & Bits(1)) != Bits(0);
  }

  template <int N>
  AP_INLINE ap_uint<W + N> operator,(const ap_uint<N>& low) const {
    using Both = typename ap_bits<W + N>::type;
    return ap_uint<W + N>(static_cast<Both>(static_cast<Both>(bits_) << N) | static_cast<Both>(low.bits()));
  }

  AP_INLINE ap_uint operator~() const { return ap_uint(static_cast<Bits>(~bits_)); }
  template <class T>
  AP_INLINE ap_uint operator<<(const T& by) const {
    Bits shifted = bits_;  // by powers of two: bambu has no unit for a shift as wide as these
    for (unsigned step = 1; step < W; step <<= 1) {
      if ((static_cast<unsigned>(by) & step) != 0) shifted = static_cast<Bits>(shifted << step);
    }
    return ap_uint(shifted);
  }
  template <class T>
  AP_INLINE ap_uint operator>>(const T& by) const {
    return ap_uint(static_cast<Bits>(bits_ >> static_cast<unsigned>(by)));
  }
  AP_INLINE ap_uint& operator<<=(unsigned by) { return *this = *this << by; }
  AP_INLINE ap_uint& operator|=(const ap_uint& b) {
    return *this = ap_uint(static_cast<Bits>(bits_ | b.bits_));
  }
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
  AP_INLINE operator std::uint64_t() const { return to_uint64(); }

 private:
  Bits bits_ = 0;
};

#endif  // CLARION_SYNTH_BAMBU_AP_INT_H
