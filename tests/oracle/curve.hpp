// Speedup curves of an oracle, in fractions of whole numbers: nothing is rounded before the last division, so that a
// time that is whole is whole. Parameters are hundredths for that reason. Sources: Downey 1997; SCOJO-P, section 5.2.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace replay::oracle {

struct Curve {
  enum class Law : std::uint8_t { kLinear, kDowney, kThreePoint };
  Law law = Law::kLinear;
  int a = 100;                                ///< Downey's average parallelism, in hundredths; >= 100
  int sigma = 0;                              ///< Downey's variance, in hundredths
  int optimum = 1;                            ///< three-point: N
  std::array<int, 3> efficiency{80, 65, 40};  ///< three-point: at N/2, N and 2N, in percent

  bool operator==(const Curve&) const = default;
};

/// The curve as a cell of the side file.
[[nodiscard]] std::string as_cell(const Curve& curve);

/// What takes `time` microseconds with `from` processes, with `to` of them: time S(from) / S(to), rounded up. A quotient that is
/// whole but for the noise of floating point is that number.
[[nodiscard]] std::int64_t time_at(const Curve& curve, std::int64_t time, int from, int to);

/// The processor working set: the size of 1..cores with the least n / S(n)^2, the smallest of several.
[[nodiscard]] int working_set(const Curve& curve, int cores);

/// S(to) / S(from).
[[nodiscard]] long double speed_ratio(const Curve& curve, int from, int to);

}  // namespace replay::oracle
