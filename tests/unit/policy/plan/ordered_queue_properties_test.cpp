// Properties of the queue of planning policies and of sets of job shapes, compared with a sorted vector and a list of
// the shapes that were excluded.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "scheduler/policy/plan/ordered_queue.hpp"
#include "scheduler/policy/plan/shapes.hpp"
#include "tests/support/properties.hpp"

namespace replay::test {
namespace {

using Shape = std::pair<CoreCount, Duration>;

// Around all powers of two, also beyond the largest that the queue distinguishes.
CoreCount drawn_cores() { return std::max(1, (1 << *rc::gen::inRange(0, 14)) + *rc::gen::inRange(-1, 2)); }
Duration drawn_estimate() { return Duration{*rc::gen::inRange(1, 60)}; }

Shapes all_but(const std::vector<Shape>& excluded) {
  Shapes shapes;
  for (const auto& [cores, estimate] : excluded) shapes.exclude(cores, estimate);
  return shapes;
}

std::vector<Shape> drawn_shapes() {
  std::vector<Shape> shapes;
  const int count = *rc::gen::inRange(0, 8);
  for (int i = 0; i < count; ++i) shapes.emplace_back(drawn_cores(), drawn_estimate());
  return shapes;
}

std::vector<JobId> found_in(const OrderedQueue& queue, const Shapes& shapes) {
  std::vector<JobId> found;
  for (auto at = queue.find(queue.begin(), shapes); at != queue.end(); at = queue.find(queue.after(at), shapes))
    found.push_back(queue.at(at).id);
  return found;
}

std::vector<JobId> sorted_and_filtered(const std::vector<std::unique_ptr<Job>>& jobs, JobOrder order,
                                       const Shapes& shapes) {
  std::vector<const Job*> sorted;
  for (const auto& job : jobs) sorted.push_back(job.get());
  std::ranges::sort(sorted, {}, [](const Job* job) { return std::tuple{job->submitted, job->id}; });
  sort_by(order, sorted);
  std::vector<JobId> found;
  for (const Job* job : sorted)
    if (shapes.admits(cores_needed(*job), job->estimate)) found.push_back(job->id);
  return found;
}

void queue_walk(JobOrder order, int operations) {
  std::vector<std::unique_ptr<Job>> jobs;
  OrderedQueue queue{order};
  for (int i = 0; i < operations; ++i) {
    const int what = *rc::gen::inRange(0, 20);
    if (what < 12) {
      Job job;
      job.id = JobId{i};
      job.submitted = Instant{Duration{*rc::gen::inRange(0, i + 1)}};
      job.processes = processes_on(job, drawn_cores());
      job.estimate = drawn_estimate();
      jobs.push_back(std::make_unique<Job>(job));
      queue.insert(*jobs.back());
      queue.insert(*jobs.back());  // changes nothing
    } else if (what < 17 && !jobs.empty()) {
      const auto which = *rc::gen::inRange(std::size_t{0}, jobs.size());
      queue.remove(*jobs[which]);
      queue.remove(*jobs[which]);  // changes nothing
      jobs.erase(jobs.begin() + static_cast<std::ptrdiff_t>(which));
    } else {
      const Shapes shapes = all_but(drawn_shapes());
      RC_ASSERT(found_in(queue, shapes) == sorted_and_filtered(jobs, order, shapes));
    }
    RC_ASSERT(queue.size() == jobs.size());
  }
}

TEST(OrderedQueue, FindsEveryJobOfASetInOrder) {
  EXPECT_TRUE(rc::check([] {
    const auto order =
        *rc::gen::element(JobOrder::kArrival, JobOrder::kShortest, JobOrder::kLongest, JobOrder::kNarrowest);
    queue_walk(order, 300);
  }));
}

TEST(Shapes, HaveAllShapesButThoseExcludedAndGreaterOnes) {
  EXPECT_TRUE(rc::check([] {
    const std::vector<Shape> excluded = drawn_shapes();
    const Shapes shapes = all_but(excluded);
    for (int i = 0; i < 50; ++i) {
      const CoreCount cores = drawn_cores();
      const Duration estimate = drawn_estimate();
      const bool is_excluded = std::ranges::any_of(
          excluded, [&](const Shape& shape) { return cores >= shape.first && estimate >= shape.second; });
      RC_ASSERT(shapes.admits(cores, estimate) == !is_excluded);
    }
    RC_ASSERT(std::ranges::is_sorted(shapes.steps(), std::ranges::less_equal{}, &Shapes::Step::estimate));
    RC_ASSERT(std::ranges::is_sorted(shapes.steps(), std::ranges::greater_equal{}, &Shapes::Step::cores));
  }));
}

TEST(Shapes, OfAPlanAreThoseThatFitFromAnInstantOn) {
  EXPECT_TRUE(rc::check([] {
    constexpr CoreCount kCores = 12;
    Availability plan{kCores, Instant{}};
    for (int i = *rc::gen::inRange(0, 30); i > 0; --i) {
      const CoreCount cores = *rc::gen::inRange<int>(1, kCores + 1);
      const Duration length = drawn_estimate();
      const Instant start = plan.earliest_fit(cores, length, Instant{Duration{*rc::gen::inRange(0, 60)}});
      plan.reserve(start, start + length, cores);
    }
    const Instant from{Duration{*rc::gen::inRange(0, 80)}};
    Shapes shapes;
    shapes.assign_fitting(plan, from);
    for (CoreCount cores = 1; cores <= kCores; ++cores)
      for (int length = 1; length < 200; length += 3)
        RC_ASSERT(shapes.admits(cores, Duration{length}) == plan.fits(cores, from, Duration{length}));
  }));
}

}  // namespace
}  // namespace replay::test
