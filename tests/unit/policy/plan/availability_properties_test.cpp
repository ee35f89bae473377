// Properties of the availability profile, compared with the simplest one: a row of counts, one for each second.

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "scheduler/policy/plan/availability.hpp"
#include "tests/support/properties.hpp"

namespace replay::test {
namespace {

constexpr int kSeconds = 600;
constexpr CoreCount kCores = 12;

Instant second(int s) { return Instant{std::chrono::seconds{s}}; }

class Naive {
 public:
  void add(int from, int to, CoreCount cores) {
    for (int s = std::max(from, begin_); s < to; ++s) free_[static_cast<std::size_t>(s)] += cores;
  }
  void forget_before(int now) { begin_ = now; }
  [[nodiscard]] int begin() const { return begin_; }
  [[nodiscard]] CoreCount at(int s) const { return free_[static_cast<std::size_t>(s)]; }
  [[nodiscard]] CoreCount least(int from, int to) const {
    return *std::min_element(free_.begin() + from, free_.begin() + to);
  }
  [[nodiscard]] CoreCount most(int from, int to) const {
    return *std::max_element(free_.begin() + from, free_.begin() + to);
  }
  [[nodiscard]] int earliest_fit(CoreCount cores, int length, int from) const {
    for (int start = from;; ++start)
      if (least(start, start + std::max(length, 1)) >= cores) return start;
  }
  [[nodiscard]] Instant first_below(CoreCount cores, int from) const {
    const auto found = std::find_if(free_.begin() + from, free_.end(), [=](CoreCount free) { return free < cores; });
    return found == free_.end() ? kNever : second(static_cast<int>(found - free_.begin()));
  }
  [[nodiscard]] std::size_t steps() const {
    std::size_t count = 1;
    for (std::size_t s = static_cast<std::size_t>(begin_) + 1; s < free_.size(); ++s) count += free_[s] != free_[s - 1];
    return count;
  }

 private:
  int begin_ = 0;
  std::vector<CoreCount> free_ = std::vector<CoreCount>(3 * kSeconds, kCores);
};

struct Reservation {
  int from, to;
  CoreCount cores;
};

// A random walk: reserve what fits, take some of it back, let time pass; after each step both must agree.
void walk(int operations, int longest, int longest_of_few = 0) {
  Availability fast{kCores, second(0)};
  Naive naive;
  std::vector<Reservation> held;
  for (int i = 0; i < operations; ++i) {
    const int what = *rc::gen::inRange(0, 10);
    if (what < 6) {
      const CoreCount cores = *rc::gen::inRange<int>(1, kCores + 1);
      const bool is_long = longest_of_few > 0 && *rc::gen::inRange(0, 8) == 0;
      const int length = *rc::gen::inRange(1, is_long ? longest_of_few : longest);
      const int from = *rc::gen::inRange(naive.begin(), kSeconds);
      const int start = naive.earliest_fit(cores, length, from);
      RC_ASSERT(fast.earliest_fit(cores, std::chrono::seconds{length}, second(from)) == second(start));
      const int before = *rc::gen::inRange(from, kSeconds);
      RC_ASSERT(fast.earliest_fit_before(cores, std::chrono::seconds{length}, second(from), second(before)) ==
                (start < before ? second(start) : kNever));
      if (start + length > 2 * kSeconds) continue;
      naive.add(start, start + length, -cores);
      if (is_long || i % 2 == 0)
        fast.reserve(second(start), second(start + length), cores);
      else
        RC_ASSERT(fast.place(cores, std::chrono::seconds{length}, second(from)) == second(start));
      held.push_back({start, start + length, cores});
    } else if (what < 9 && !held.empty()) {
      const auto which = static_cast<std::size_t>(*rc::gen::inRange(0, static_cast<int>(held.size())));
      const Reservation back = held[which];
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(which));
      naive.add(back.from, back.to, back.cores);
      fast.release(second(back.from), second(back.to), back.cores);
    } else if (naive.begin() < kSeconds - 1) {
      const int now = naive.begin() + *rc::gen::inRange(0, 3);
      naive.forget_before(now);
      fast.forget_before(second(now));
    }
    if (*rc::gen::inRange(0, 20) == 0) {  // goes on in a copy that has held something else
      Availability copy{3, second(7)};
      copy.reserve(second(8), second(9), 2);
      copy.assign(fast);
      fast.assign(copy);
    }
    const int at = *rc::gen::inRange(naive.begin(), kSeconds);
    const int to = at + *rc::gen::inRange(1, kSeconds);
    RC_ASSERT(fast.free_at(second(at)) == naive.at(at));
    RC_ASSERT(fast.least_free(second(at), second(to)) == naive.least(at, to));
    RC_ASSERT(fast.most_free(second(at), second(to)) == naive.most(at, to));
    const CoreCount few = *rc::gen::inRange<int>(1, kCores + 1);
    const Instant below = fast.first_below(few, second(at));
    RC_ASSERT(below == naive.first_below(few, at));
    RC_ASSERT(fast.steps() == naive.steps());
  }
}

TEST(Availability, AgreesWithARowOfCounts) {
  EXPECT_TRUE(rc::check([] { walk(80, 60); }));
}

TEST(Availability, AgreesWhenItHasManyBlocks) {
  // Many short reservations: several hundred steps, so that blocks are split, emptied and removed.
  EXPECT_TRUE(rc::check([] { walk(600, 4); }));
}

TEST(Availability, AgreesWhenReservationsSpanBlocks) {
  EXPECT_TRUE(rc::check([] { walk(600, 4, kSeconds); }));
}

TEST(Availability, IsOneStepAgainWhenAllIsGivenBack) {
  Availability profile{1'000'000, second(0)};
  for (int i = 0; i < 20'000; ++i) profile.reserve(second(2 * i), second(2 * i + 1), 1 + i % 7);
  EXPECT_EQ(profile.steps(), 40'000u);
  EXPECT_EQ(profile.earliest_fit(1'000'000, std::chrono::seconds{2}, second(0)), second(39'999));
  EXPECT_EQ(profile.earliest_fit(999'999, std::chrono::seconds{2}, second(15)), second(27))
      << "28..29 has one in use, and so do 0..1, 14..15";
  for (int i = 0; i < 20'000; ++i) profile.release(second(2 * i), second(2 * i + 1), 1 + i % 7);
  EXPECT_EQ(profile.steps(), 1u);
  EXPECT_EQ(profile.free_at(second(0)), 1'000'000);
}

TEST(Availability, FitsExactlyBetweenTwoReservations) {
  Availability profile{4, second(0)};
  profile.reserve(second(0), second(10), 3);
  profile.reserve(second(15), second(20), 4);
  EXPECT_EQ(profile.earliest_fit(2, std::chrono::seconds{5}, second(0)), second(10));
  EXPECT_EQ(profile.earliest_fit(2, std::chrono::seconds{6}, second(0)), second(20));
  EXPECT_EQ(profile.earliest_fit(1, std::chrono::seconds{15}, second(0)), second(0));
  EXPECT_TRUE(profile.fits(4, second(10), std::chrono::seconds{5}));
  EXPECT_FALSE(profile.fits(4, second(10), std::chrono::microseconds{5'000'001}));
}

}  // namespace
}  // namespace replay::test
