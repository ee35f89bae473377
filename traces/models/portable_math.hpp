// exp, log and pow made of additions, multiplications and divisions only, so that a workload is the same bit for bit on
// every machine: the C library has several of each and picks one by the CPU it runs on. Within 2 units in the last
// place.
#pragma once

namespace replay::portable {

/// e^x; 0 below -745, infinity above 709.78.
[[nodiscard]] double exp(double x);
/// Natural logarithm. -infinity at 0, NaN below.
[[nodiscard]] double log(double x);
[[nodiscard]] double log2(double x);
/// 2^x.
[[nodiscard]] double exp2(double x);
/// base^exponent. REQUIRES: base >= 0. The relative error grows with |exponent * log(base)|: below 1e-13 for results
/// between 1e-150 and 1e150.
[[nodiscard]] double pow(double base, double exponent);

}  // namespace replay::portable
