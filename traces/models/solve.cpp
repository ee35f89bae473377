// A bracket is grown around the target by doubling and halving, then narrowed, taking turns between the line through
// its ends (quick where the figure is nearly proportional to the factor) and its middle (safe).
#include "traces/models/solve.hpp"

#include <cmath>

namespace replay {
namespace {

constexpr int kMostDoublings = 100;
constexpr int kMostSteps = 100;

class Search {
 public:
  Search(const std::function<double(double)>& figure, double target) : figure_(figure), target_(target) {}

  double evaluate(double factor) {
    const double value = figure_(factor);
    if (!found_ || std::abs(value - target_) < std::abs(best_.value - target_)) best_ = {factor, value};
    found_ = true;
    return value;
  }
  [[nodiscard]] bool is_done(double tolerance) const { return std::abs(best_.value - target_) <= tolerance * target_; }
  [[nodiscard]] const Solution& best() const { return best_; }

 private:
  const std::function<double(double)>& figure_;
  double target_;
  Solution best_;
  bool found_ = false;
};

}  // namespace

Solution solve_factor(const std::function<double(double factor)>& figure, double target, double tolerance) {
  Search search(figure, target);
  Solution low{1, search.evaluate(1)};
  Solution high = low;
  for (int i = 0; i < kMostDoublings && high.value < target; ++i) {
    low = high;
    high.factor *= 2;
    high.value = search.evaluate(high.factor);
  }
  for (int i = 0; i < kMostDoublings && low.value > target; ++i) {
    high = low;
    low.factor /= 2;
    low.value = search.evaluate(low.factor);
  }
  for (int step = 0; step < kMostSteps && !search.is_done(tolerance) && low.value < target && target < high.value;
       ++step) {
    const double share = step % 2 == 0 ? (target - low.value) / (high.value - low.value) : 0.5;
    const double middle = low.factor + share * (high.factor - low.factor);
    if (!(low.factor < middle && middle < high.factor)) {
      if (step % 2 == 1) break;  // no number lies between them
      continue;
    }
    const double value = search.evaluate(middle);
    (value < target ? low : high) = {middle, value};
  }
  return search.best();
}

}  // namespace replay
