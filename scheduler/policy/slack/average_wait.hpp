// AWT, the unit of slack in slack-based backfilling: a job's average wait on the machine, given or learnt.
// Source: Talby and Feitelson 1999, section 4.3, where it is "usually known for every production system".
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/model/job.hpp"
#include "scheduler/policy/view/parameters.hpp"
#include "scheduler/policy/view/policy_entry.hpp"

namespace replay {

/// The least AWT, in seconds, that is learnt or found: a machine without waits still allows delays of that order.
inline constexpr double kLeastAverageWait = 60;

/// PolicyEntry::prepare of the slack policy: numbers in place of `awt=conservative` or `awt=conservative-by-size`, which
/// are the average waits of the same jobs under conservative backfilling, each at least 60 s; a size without jobs gets
/// the mean of all.
[[nodiscard]] std::optional<std::string> with_average_waits(const PolicyText& written, const TrialRun& trial);

/// The average wait of all jobs, or of each size class: of 1, 2, up to 4, up to 8, ... processors.
class AverageWait {
 public:
  /// As `awt` of the slack policy says.
  explicit AverageWait(const Parameters& parameters);

  /// Notes that `job` starts after it has waited `wait`.
  void add(const Job& job, Duration wait);
  /// In seconds, > 0. Throws PolicyError for a word that with_average_waits() has to replace first.
  [[nodiscard]] double seconds_of(const Job& job) const;

 private:
  // The mean wait of the last 1000 starts.
  class Recent {
   public:
    void add(Duration wait);
    [[nodiscard]] bool is_empty() const { return waits_.empty(); }
    [[nodiscard]] double mean_s() const;

   private:
    std::deque<double> waits_;
    double sum_ = 0;
  };

  std::vector<double> given_;  // by size class, the last one for all that are larger; empty: learn
  bool by_size_ = false;
  std::string unknown_;  // a word that with_average_waits() has not replaced
  Recent all_;
  std::vector<Recent> of_size_;
};

}  // namespace replay
