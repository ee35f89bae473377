#include "tests/oracle/work.hpp"

#include <cmath>

namespace replay::oracle {

void Work::add(Time amount) {
  all += static_cast<long double>(amount);
  left += static_cast<long double>(amount);
}

void Work::set_slowdown(Time now, long double given) {
  if (given == slowdown) return;
  if (now >= end())
    left = 0;
  else if (slowdown > 0)
    left -= static_cast<long double>(now - as_of) / slowdown;
  as_of = now;
  slowdown = given;
}

Time Work::end() const {
  if (left <= 0) return as_of;
  if (slowdown <= 0) return kNever;
  const long double exact = left * slowdown;
  const long double whole = std::floor(exact);
  return as_of + static_cast<Time>(whole) + (exact - whole > all * slowdown * 1e-14L ? 1 : 0);
}

}  // namespace replay::oracle
