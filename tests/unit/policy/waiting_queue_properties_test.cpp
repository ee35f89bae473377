// Properties of the search in the queue of waiting jobs, compared with a scan of all of them.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "scheduler/policy/view/view.hpp"
#include "tests/support/properties.hpp"

namespace replay::test {
namespace {

std::vector<const Job*> naive(const std::vector<const Job*>& jobs, const Wanted& wanted) {
  std::vector<const Job*> found;
  std::ranges::copy_if(jobs, std::back_inserter(found),
                       [&](const Job* job) { return wanted.admits(cores_needed(*job), job->estimate); });
  return found;
}

std::vector<const Job*> searched(const WaitingQueue& queue, const Wanted& wanted) {
  std::vector<const Job*> found;
  for (auto at = queue.find(queue.begin(), wanted); at != queue.end(); at = queue.find(++at, wanted))
    found.push_back(*at);
  return found;
}

// Around all powers of two, also beyond the largest that the queue distinguishes.
int processes() { return std::max(0, (1 << *rc::gen::inRange(0, 14)) + *rc::gen::inRange(-1, 2)); }

// Jobs are added, mostly last in the order, and removed anywhere; `jobs` is the expected queue.
void walk(int operations) {
  std::vector<std::unique_ptr<Job>> all;
  std::vector<const Job*> jobs;
  WaitingQueue queue;
  for (int i = 0; i < operations; ++i) {
    const int what = *rc::gen::inRange(0, 20);
    if (what < 12) {
      Job job;
      job.id = JobId{i};
      job.submitted = Instant{std::chrono::seconds{what == 0 ? *rc::gen::inRange(0, i + 1) : i}};
      job.processes = std::max(1, processes());
      job.estimate = std::chrono::seconds{*rc::gen::inRange(1, 100)};
      all.push_back(std::make_unique<Job>(job));
      queue.insert(*all.back());
      const auto place = std::ranges::upper_bound(jobs, std::tuple{job.submitted, job.id}, {}, [](const Job* other) {
        return std::tuple{other->submitted, other->id};
      });
      jobs.insert(place, all.back().get());
    } else if (what < 17 && !jobs.empty()) {
      const auto which = *rc::gen::inRange(std::size_t{0}, jobs.size());
      const auto place = std::ranges::find(all, jobs[which], [](const auto& job) { return job.get(); });
      queue.remove(*jobs[which]);
      all.erase(place);  // the queue may not read it any more
      jobs.erase(jobs.begin() + static_cast<std::ptrdiff_t>(which));
    } else {
      const Wanted wanted{processes(), std::chrono::seconds{*rc::gen::inRange(0, 110)}, processes()};
      RC_ASSERT(searched(queue, wanted) == naive(jobs, wanted));
    }
    RC_ASSERT(queue.size() == jobs.size());
  }
}

TEST(WaitingQueueProperties, ASearchFindsWhatAPassOverTheQueueFinds) {
  EXPECT_TRUE(rc::check([] { walk(*rc::gen::inRange(1, 600)); }));
}

}  // namespace
}  // namespace replay::test
