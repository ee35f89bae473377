#include "scheduler/compare/first_difference.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>
#include <span>

#include "scheduler/base/percentile.hpp"

namespace replay::compare {
namespace {

constexpr Duration kBound = std::chrono::seconds{10};  // of the bounded slowdown

bool says_the_same(const Decision& a, const Decision& b, bool placements) {
  return a.kind == b.kind && a.reason == b.reason && a.shareable == b.shareable && a.cores == b.cores &&
         a.mpl == b.mpl && a.estimate == b.estimate && (!placements || a.places == b.places);
}

// The decisions by job, each job's in their order.
std::vector<std::uint32_t> by_job(std::span<const Decision> decisions) {
  std::vector<std::uint32_t> order(decisions.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return decisions[i].job; });
  return order;
}

struct Side {
  explicit Side(const DecisionList& list) : decisions(list.decisions()), order(by_job(decisions)) {
    has_equal.resize(decisions.size(), false);
  }
  // The number of decisions on `job`, which begin at `next`.
  [[nodiscard]] std::size_t count(JobId job) const {
    std::size_t end = next;
    while (end < order.size() && decisions[order[end]].job == job) ++end;
    return end - next;
  }
  [[nodiscard]] const Decision& nth(std::size_t k) const { return decisions[order[next + k]]; }
  [[nodiscard]] bool at_end() const { return next == order.size(); }
  [[nodiscard]] JobId job() const { return decisions[order[next]].job; }

  std::span<const Decision> decisions;
  std::vector<std::uint32_t> order;
  std::vector<bool> has_equal;
  std::size_t next = 0;
};

// Walks through both runs job by job.
class Matching {
 public:
  Matching(const DecisionList& a, const DecisionList& b, const ComparisonOptions& options)
      : a_(a), b_(b), options_(options) {
    while (!a_.at_end() || !b_.at_end()) {
      const JobId job = a_.at_end() ? b_.job() : b_.at_end() ? a_.job() : std::min(a_.job(), b_.job());
      match(job);
    }
  }

  [[nodiscard]] std::optional<Parting> earliest() && {
    if (!earliest_) return std::nullopt;
    complete(earliest_->a, a_);
    complete(earliest_->b, b_);
    return std::move(earliest_);
  }

 private:
  void match(JobId job) {
    const std::size_t of_a = a_.count(job), of_b = b_.count(job);
    std::size_t k = 0;
    for (; k < std::min(of_a, of_b); ++k) {
      if (!says_the_same(a_.nth(k), b_.nth(k), options_.placements)) break;
      if (apart(a_.nth(k).at, b_.nth(k).at) > options_.tolerance) break;
      a_.has_equal[a_.order[a_.next + k]] = true;
      b_.has_equal[b_.order[b_.next + k]] = true;
    }
    if (k < std::max(of_a, of_b)) note(job, k < of_a ? &a_.nth(k) : nullptr, k < of_b ? &b_.nth(k) : nullptr);
    a_.next += of_a;
    b_.next += of_b;
  }

  // Keeps the earliest; of several at one instant, the one that was decided first.
  void note(JobId job, const Decision* a, const Decision* b) {
    const auto at_of = [](const Decision* decision) { return decision == nullptr ? kNever : decision->at; };
    const Instant at = std::min(at_of(a), at_of(b));
    const std::uint64_t record = at_of(a) <= at_of(b) ? a->record : b->record;
    if (earliest_ && (at > earliest_->at || (at == earliest_->at && record >= first_record_))) return;
    first_record_ = record;
    earliest_ = Parting{at, job, {}, {}};
    if (a != nullptr) earliest_->a.decision = *a;
    if (b != nullptr) earliest_->b.decision = *b;
  }

  void complete(PartingSide& side, const Side& run) const {
    const Instant at = earliest_->at;
    const Instant last = at + options_.tolerance;
    const auto first = std::ranges::lower_bound(run.decisions, at, {}, &Decision::at);
    for (auto i = first; i != run.decisions.end() && i->at <= last; ++i)
      if (!run.has_equal[static_cast<std::size_t>(i - run.decisions.begin())]) side.did.push_back(*i);
    side.record = side.did.empty() ? std::numeric_limits<std::uint64_t>::max() : side.did.front().record;
  }

  Side a_, b_;
  const ComparisonOptions& options_;
  std::optional<Parting> earliest_;
  std::uint64_t first_record_ = 0;
};

// Calls visit(row of a, row of b) for each job; null where a run does not have it. `a` in its order, then what only b
// has.
template <class Visit>
void for_each_job(const metrics::JobTable& a, const metrics::JobTable& b, Visit visit) {
  for (const metrics::JobRow& row : a.rows()) visit(&row, b.find(row.job));
  for (const metrics::JobRow& row : b.rows())
    if (a.find(row.job) == nullptr) visit(nullptr, &row);
}

bool outcomes_differ(const metrics::JobRow& a, const metrics::JobRow& b) {
  return a.has_ended() != b.has_ended() || (a.has_ended() && a.outcome != b.outcome);
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// The means over the jobs that ran in both.
struct Column {
  std::vector<double> a, b;
  void add(double of_a, double of_b) {
    a.push_back(of_a);
    b.push_back(of_b);
  }
  [[nodiscard]] MeanPair means() const { return {mean_of(a), mean_of(b)}; }
};

std::vector<JobDifference> largest_of(std::vector<JobDifference> all, std::size_t most) {
  const auto before = [](const JobDifference& x, const JobDifference& y) {
    const Duration of_x = apart(x.a, x.b), of_y = apart(y.a, y.b);
    return of_x != of_y ? of_x > of_y : x.job < y.job;
  };
  const auto kept = static_cast<std::ptrdiff_t>(std::min(most, all.size()));
  std::ranges::partial_sort(all, all.begin() + kept, before);
  all.resize(static_cast<std::size_t>(kept));
  return all;
}

}  // namespace

std::optional<Parting> first_difference(const DecisionList& a, const DecisionList& b,
                                        const ComparisonOptions& options) {
  return Matching{a, b, options}.earliest();
}

std::optional<EventDifference> first_event_difference(const metrics::JobTable& a, const metrics::JobTable& b,
                                                      Duration tolerance) {
  std::optional<EventDifference> first;
  const auto note = [&first](EventDifference::Kind kind, JobId job, Instant in_a, Instant in_b) {
    if (!first || std::min(in_a, in_b) < std::min(first->a, first->b)) first = EventDifference{kind, job, in_a, in_b};
  };
  for_each_job(a, b, [&](const metrics::JobRow* in_a, const metrics::JobRow* in_b) {
    using Kind = EventDifference::Kind;
    if (in_a == nullptr) return note(Kind::kSubmission, in_b->job, kNever, in_b->submitted);
    if (in_b == nullptr) return note(Kind::kSubmission, in_a->job, in_a->submitted, kNever);
    if (apart(in_a->submitted, in_b->submitted) > tolerance)
      return note(Kind::kSubmission, in_a->job, in_a->submitted, in_b->submitted);
    if (apart(in_a->finished, in_b->finished) > tolerance)
      return note(Kind::kEnd, in_a->job, in_a->finished, in_b->finished);
    if (outcomes_differ(*in_a, *in_b)) note(Kind::kOutcome, in_a->job, in_a->finished, in_b->finished);
  });
  return first;
}

JobDifferences job_differences(const metrics::JobTable& a, const metrics::JobTable& b, Duration tolerance,
                               std::size_t most) {
  JobDifferences result;
  Column wait, response, bounded;
  std::vector<double> later, sizes;
  std::vector<JobDifference> moved;
  for_each_job(a, b, [&](const metrics::JobRow* in_a, const metrics::JobRow* in_b) {
    if (in_a == nullptr || in_b == nullptr) {
      ++(in_a == nullptr ? result.only_b : result.only_a);
      return;
    }
    ++result.shared;
    if (outcomes_differ(*in_a, *in_b)) ++result.other_outcome;
    if (!in_a->ran() || !in_b->ran()) return;
    ++result.ran;
    const Duration distance = apart(in_a->launched, in_b->launched);
    later.push_back(seconds(in_b->launched - in_a->launched));
    sizes.push_back(seconds(distance));
    if (distance > tolerance) moved.push_back({in_a->job, in_a->launched, in_b->launched});
    if (apart(in_a->finished, in_b->finished) > tolerance) ++result.ended_elsewhen;
    wait.add(seconds(in_a->wait()), seconds(in_b->wait()));
    response.add(seconds(in_a->response()), seconds(in_b->response()));
    bounded.add(in_a->times().bounded_slowdown(kBound), in_b->times().bounded_slowdown(kBound));
  });
  result.started_elsewhen = moved.size();
  result.mean = mean_of(later);
  result.mean_size = mean_of(sizes);
  result.max_size = sizes.empty() ? std::numeric_limits<double>::quiet_NaN() : std::ranges::max(sizes);
  result.median_size = percentile(sizes, 0.5);
  result.wait = wait.means();
  result.response = response.means();
  result.bounded_slowdown = bounded.means();
  result.largest = largest_of(std::move(moved), most);
  return result;
}

}  // namespace replay::compare
