// Discrete Fourier transforms of eight columns at once, for lengths that are powers of two. The algorithm is
// Stockham's: each pass reads one buffer and writes the other, in natural order at the end, so that there is no bit
// reversal. Passes have radix 4, with one of radix 2 where the length is not a power of 4. Columns lie side by side,
// real parts apart from imaginary ones: one twiddle factor serves a row of eight, as vectors without any shuffling. Two
// buffers of 256 elements take 64 KiB and stay in the caches of a core. Source: Van Loan, Computational Frameworks for
// the Fast Fourier Transform, SIAM 1992. Nothing is scaled.
#pragma once

#include <complex>
#include <cstddef>
#include <vector>

namespace replay::bench {

using Complex = std::complex<double>;

/// Which exponential: forward is the sum over j of x_j exp(-2 pi i j k / n), inverse the one with +, without 1 / n.
enum class Direction { kForward, kInverse };

/// Transforms of one length in one direction, with the two buffers that they take. One thread at a time.
class ColumnFft {
 public:
  static constexpr std::size_t kColumns = 8;

  /// REQUIRES: `length` is a power of two from 2 up.
  ColumnFft(std::size_t length, Direction direction);

  std::size_t length() const { return length_; }

  /// Element `i` of the columns for the next run(): the eight real parts, then the eight imaginary ones. A run
  /// overwrites them.
  double* input(std::size_t i) { return buffers_[0].data() + i * kRow; }

  /// Transforms all columns; O(n log n) each. The largest error is some log2(n) * 1e-16 of the root mean square.
  void run();

  /// Element `i` of the columns of the last run(), as input() has them; until the next one.
  const double* output(std::size_t i) const { return buffers_[result_].data() + i * kRow; }

  /// Input element `i` from eight values side by side.
  void load(std::size_t i, const Complex* values) {
    double* const row = input(i);
    for (std::size_t column = 0; column < kColumns; ++column) {
      row[column] = values[column].real();
      row[column + kColumns] = values[column].imag();
    }
  }
  /// Output element `i` to eight values side by side.
  void store(std::size_t i, Complex* values) const {
    const double* const row = output(i);
    for (std::size_t column = 0; column < kColumns; ++column) {
      values[column] = Complex{row[column], row[column + kColumns]};
    }
  }

 private:
  static constexpr std::size_t kRow = 2 * kColumns;

  /// The powers w, w^2 and w^3 of a butterfly's twiddle factor.
  struct Twiddles {
    Complex first;
    Complex second;
    Complex third;
  };

  template <bool kInverse>
  void run_passes();

  std::size_t length_;
  Direction direction_;
  std::vector<Twiddles> twiddles_;  // of the passes of radix 4, one after the other
  std::vector<double> buffers_[2];
  std::size_t result_ = 0;
};

}  // namespace replay::bench
