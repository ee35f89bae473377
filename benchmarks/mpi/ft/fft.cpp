// A pass of radix 4 over transforms of length n, of which there are s = length / n side by side, with m = n / 4:
// y[q + s (4 p + k)] = w^(k p) * sum over j of x[q + s (p + j m)] (-i)^(j k), where w = exp(-2 pi i / n), for p < m and
// q < s. The inverse has +i in both places. The next pass has n / 4 and 4 s.
#include "benchmarks/mpi/ft/fft.hpp"

#include <cmath>
#include <cstring>
#include <numbers>

namespace replay::bench {
namespace {

constexpr std::size_t kColumns = ColumnFft::kColumns;
constexpr std::size_t kRow = 2 * kColumns;

struct Factor {
  double re;
  double im;
};

/// Two columns side by side; arithmetic works on each. An explicit vector type, since compilers do not vectorise a loop
/// that writes four rows when they cannot tell that the rows are distinct.
using Pair [[gnu::vector_size(2 * sizeof(double))]] = double;

inline Pair load(const double* at) {
  Pair pair;
  std::memcpy(&pair, at, sizeof pair);
  return pair;
}
inline void store(const Pair& pair, double* at) { std::memcpy(at, &pair, sizeof pair); }

/// Stores (re, im) times `w` at column `i` of `row`.
inline void store_product(const Pair& re, const Pair& im, const Factor& w, double* row, std::size_t i) {
  store(re * w.re - im * w.im, row + i);
  store(re * w.im + im * w.re, row + i + kColumns);
}

/// One butterfly of radix 4 on a row of columns. Rows of `in` are `in_stride` doubles apart, those of `out` likewise.
template <bool kInverse, bool kTwiddled>
inline void butterfly4(const double* in, std::size_t in_stride, double* out, std::size_t out_stride, const Factor& w1,
                       const Factor& w2, const Factor& w3) {
  const double* const b = in + in_stride;
  const double* const c = in + 2 * in_stride;
  const double* const d = in + 3 * in_stride;
  for (std::size_t i = 0; i < kColumns; i += 2) {
    const std::size_t im = i + kColumns;
    const Pair even_re = load(in + i) + load(c + i);
    const Pair even_im = load(in + im) + load(c + im);
    const Pair even_difference_re = load(in + i) - load(c + i);
    const Pair even_difference_im = load(in + im) - load(c + im);
    const Pair odd_re = load(b + i) + load(d + i);
    const Pair odd_im = load(b + im) + load(d + im);
    // (b - d) times -i, or i
    const Pair turned_re = kInverse ? load(d + im) - load(b + im) : load(b + im) - load(d + im);
    const Pair turned_im = kInverse ? load(b + i) - load(d + i) : load(d + i) - load(b + i);
    store(even_re + odd_re, out + i);
    store(even_im + odd_im, out + im);
    double* row = out;
    if constexpr (kTwiddled) {
      store_product(even_difference_re + turned_re, even_difference_im + turned_im, w1, row += out_stride, i);
      store_product(even_re - odd_re, even_im - odd_im, w2, row += out_stride, i);
      store_product(even_difference_re - turned_re, even_difference_im - turned_im, w3, row += out_stride, i);
    } else {
      row += out_stride;
      store(even_difference_re + turned_re, row + i);
      store(even_difference_im + turned_im, row + im);
      row += out_stride;
      store(even_re - odd_re, row + i);
      store(even_im - odd_im, row + im);
      row += out_stride;
      store(even_difference_re - turned_re, row + i);
      store(even_difference_im - turned_im, row + im);
    }
  }
}

/// The last pass where the length is no power of 4: transforms of length 2, without twiddle factors.
void pass2(const double* __restrict in, double* __restrict out, std::size_t transforms) {
  const std::size_t half = transforms * kRow;
  for (std::size_t i = 0; i < half; ++i) {
    out[i] = in[i] + in[i + half];
    out[i + half] = in[i] - in[i + half];
  }
}

}  // namespace

ColumnFft::ColumnFft(std::size_t length, Direction direction) : length_(length), direction_(direction) {
  const double sign = direction == Direction::kForward ? -1 : 1;
  for (std::size_t n = length; n >= 4; n /= 4) {
    for (std::size_t p = 0; p < n / 4; ++p) {
      const double angle = sign * 2 * std::numbers::pi * static_cast<double>(p) / static_cast<double>(n);
      twiddles_.push_back({std::polar(1.0, angle), std::polar(1.0, 2 * angle), std::polar(1.0, 3 * angle)});
    }
  }
  for (std::vector<double>& buffer : buffers_) buffer.resize(length * kRow);
}

void ColumnFft::run() {
  if (direction_ == Direction::kInverse) {
    run_passes<true>();
  } else {
    run_passes<false>();
  }
}

template <bool kInverse>
void ColumnFft::run_passes() {
  result_ = 0;
  const Twiddles* twiddles = twiddles_.data();
  std::size_t s = 1;
  std::size_t n = length_;
  for (; n >= 4; n /= 4, s *= 4) {
    const double* const in = buffers_[result_].data();
    double* const out = buffers_[1 - result_].data();
    const std::size_t m = n / 4;
    for (std::size_t q = 0; q < s; ++q) {  // p = 0, where all factors are 1
      butterfly4<kInverse, false>(in + q * kRow, s * m * kRow, out + q * kRow, s * kRow, {}, {}, {});
    }
    for (std::size_t p = 1; p < m; ++p) {
      const auto [first, second, third] = twiddles[p];
      const Factor w1{first.real(), first.imag()};
      const Factor w2{second.real(), second.imag()};
      const Factor w3{third.real(), third.imag()};
      for (std::size_t q = 0; q < s; ++q) {
        butterfly4<kInverse, true>(in + (q + s * p) * kRow, s * m * kRow, out + (q + 4 * s * p) * kRow, s * kRow, w1,
                                   w2, w3);
      }
    }
    twiddles += m;
    result_ = 1 - result_;
  }
  if (n == 2) {
    pass2(buffers_[result_].data(), buffers_[1 - result_].data(), s);
    result_ = 1 - result_;
  }
}

}  // namespace replay::bench
