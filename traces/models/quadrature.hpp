// Integrals of smooth functions by the five-point rule of Gauss and Legendre on equal pieces: additions and
// multiplications only, so the value is the same on every machine.
#pragma once

namespace replay {

/// The integral of `f` from `from` to `to`. Exact for polynomials up to degree 9 on each piece. REQUIRES: pieces >= 1.
template <class Function>
[[nodiscard]] double integrate(double from, double to, int pieces, const Function& f) {
  constexpr double kNodes[] = {0.0, 0.53846931010568309104, 0.90617984593866399280};
  constexpr double kWeights[] = {0.56888888888888888889, 0.47862867049936646804, 0.23692688505618908751};
  const double half = (to - from) / (2.0 * pieces);
  double sum = 0;
  for (int piece = 0; piece < pieces; ++piece) {
    const double middle = from + half * (2 * piece + 1);
    sum += kWeights[0] * f(middle);
    for (int i = 1; i <= 2; ++i) sum += kWeights[i] * (f(middle - half * kNodes[i]) + f(middle + half * kNodes[i]));
  }
  return sum * half;
}

}  // namespace replay
