// The jobs of a run, packed: 72 bytes each and one entry for each kind of job, so that ten million jobs take about 0.7
// GB. A job is assembled when it is read, and is a copy.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "scheduler/base/large_pages.hpp"
#include "scheduler/model/job.hpp"
#include "scheduler/model/units.hpp"

namespace replay {

/// A sequence of jobs. Elements are values: change() and change_each() change a job.
class TracedJobs {
 public:
  class iterator {
   public:
    using value_type = TracedJob;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::forward_iterator_tag;
    iterator() = default;
    iterator(const TracedJobs* jobs, std::size_t at) : jobs_(jobs), at_(at) {}
    TracedJob operator*() const { return (*jobs_)[at_]; }
    iterator& operator++() {
      ++at_;
      return *this;
    }
    iterator operator++(int) {
      iterator old = *this;
      ++*this;
      return old;
    }
    bool operator==(const iterator& other) const { return at_ == other.at_; }

   private:
    const TracedJobs* jobs_ = nullptr;
    std::size_t at_ = 0;
  };
  using const_iterator = iterator;
  using value_type = TracedJob;

  TracedJobs() = default;
  TracedJobs(std::initializer_list<TracedJob> jobs) {
    for (const TracedJob& job : jobs) push_back(job);
  }
  TracedJobs(const std::vector<TracedJob>& jobs) {  // NOLINT(google-explicit-constructor): the same thing
    for (const TracedJob& job : jobs) push_back(job);
  }

  [[nodiscard]] bool empty() const { return jobs_.empty(); }
  [[nodiscard]] std::size_t size() const { return jobs_.size(); }
  void reserve(std::size_t jobs) { jobs_.reserve(jobs); }
  void push_back(const TracedJob& job) {
    jobs_.push_back(packed(job));
    set_logged_start(jobs_.size() - 1, job.job.logged_start);
  }

  /// REQUIRES: i < size(), likewise below. const, so that a copy is not changed by mistake.
  [[nodiscard]] const TracedJob operator[](std::size_t i) const {  // NOLINT(readability-const-return-type)
    TracedJob job;
    get(i, job);
    return job;
  }
  [[nodiscard]] const TracedJob front() const { return (*this)[0]; }          // NOLINT(readability-const-return-type)
  [[nodiscard]] const TracedJob back() const { return (*this)[size() - 1]; }  // NOLINT(readability-const-return-type)
  [[nodiscard]] iterator begin() const { return {this, 0}; }
  [[nodiscard]] iterator end() const { return {this, size()}; }

  /// As operator[], into `job`.
  void get(std::size_t i, TracedJob& job) const {
    unpack(jobs_[i], job);
    job.job.logged_start = logged_start(i);
  }
  /// Single fields of a job, without assembling it.
  [[nodiscard]] JobId id(std::size_t i) const { return jobs_[i].id; }
  [[nodiscard]] CoreCount cores_needed(std::size_t i) const { return replay::cores_needed({}, jobs_[i].processes); }
  [[nodiscard]] Instant submitted(std::size_t i) const { return jobs_[i].submitted; }
  [[nodiscard]] Instant logged_start(std::size_t i) const {
    return logged_starts_.empty() ? kNever : logged_starts_[i];
  }
  [[nodiscard]] std::optional<JobId> follows(std::size_t i) const { return kinds_[jobs_[i].kind].follows; }

  /// Whether some job has a Declaration, or had one before it was changed. O(kinds of jobs).
  [[nodiscard]] bool declare_anything() const {
    return std::ranges::any_of(kinds_, [](const Kind& kind) { return kind.declaration != nullptr; });
  }

  /// Whether some job follows another, or did before it was changed. O(kinds of jobs).
  [[nodiscard]] bool follow_others() const {
    return std::ranges::any_of(kinds_, [](const Kind& kind) { return kind.follows.has_value(); });
  }

  /// Calls change(TracedJob&) with job `i` and stores the result.
  template <class Change>
  void change(std::size_t i, Change change) {
    TracedJob job = (*this)[i];
    change(job);
    jobs_[i] = packed(job);
    set_logged_start(i, job.job.logged_start);
  }
  template <class Change>
  void change_each(Change change) {
    for (std::size_t i = 0; i < size(); ++i) this->change(i, change);
  }

  /// overhead(JobId) becomes the network overhead, declared and true, of each job of which the trace states none.
  template <class Overhead>
  void set_network_overheads(Overhead overhead) {
    for (std::size_t i = 0; i < size(); ++i) {
      const Kind& kind = kinds_[jobs_[i].kind];
      if (kind.has_network_overhead) continue;
      jobs_[i].network_overhead = overhead(jobs_[i].id);
      if (kind.declared_network_overhead == kAsTrue) continue;
      change(i, [](TracedJob& job) { job.job.declared.network_overhead = job.truth.behaviour.network_overhead; });
    }
  }

  /// By (submitted, job number); stable.
  void sort_by_submission();

 private:
  static constexpr double kAsTrue = -std::numeric_limits<double>::infinity();  // not a valid share

  // Fields with the same values for many jobs of a log, stored once for all of them.
  struct Kind {
    Flexibility flexibility = Flexibility::kMalleable;
    bool cut_at_request = false;
    bool has_network_overhead = false;
    std::int32_t declared_application = -1;
    std::int32_t application = -1;
    double declared_cpu_use = kAsTrue;  // kAsTrue: the true value
    double declared_network_overhead = kAsTrue;
    double user_priority = 0;
    double political_priority = 0;
    std::shared_ptr<const Declaration> declaration;
    float speedup_power = 1;
    float slowdown_power = 1;
    std::optional<JobId> follows;
    Duration think_time{};
    std::optional<Duration> cancelled_after;

    [[nodiscard]] bool fits(const TracedJob& job) const;
  };
  struct Packed {
    JobId id;
    Instant submitted;
    Duration estimate;
    Duration runtime;
    double cpu_use;
    double network_overhead;
    ProcessCount processes;
    std::int32_t user;
    std::int32_t group;
    std::int32_t queue;
    std::int32_t executable;
    std::uint32_t kind;  // in kinds_
  };

  void set_logged_start(std::size_t i, Instant start) {
    if (start == kNever && logged_starts_.empty()) return;
    logged_starts_.resize(jobs_.size(), kNever);
    logged_starts_[i] = start;
  }
  [[nodiscard]] Packed packed(const TracedJob& job);
  void unpack(const Packed& packed, TracedJob& job) const;
  [[nodiscard]] std::uint32_t kind_of(const TracedJob& job);

  std::vector<Packed, LargePages<Packed>> jobs_;
  std::vector<Instant> logged_starts_;  // by job; empty: no job has one, as in nearly every run
  std::vector<Kind> kinds_;
  std::uint32_t last_kind_ = 0;  // the last one that kind_of() returned
};

/// Jobs in submission order: by (submitted, position in the file).
struct Workload {
  TracedJobs jobs;
  Duration zero_time_of_day{};  ///< UTC at the trace's zero; 0 where the log does not say
};

}  // namespace replay
