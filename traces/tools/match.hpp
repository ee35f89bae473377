// The choice of a program for a traced job: among those measured at the job's size, the one with the nearest run time,
// on a log scale; where none was measured at that size, among those at the nearest one. The FCFS-malleable paper
// (section 4.1) chooses NAS benchmarks and classes for its trace in this way.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "scheduler/model/units.hpp"
#include "traces/swf_header.hpp"
#include "traces/trace_stream.hpp"

namespace replay {

/// A program at one size, as measured.
struct MatchCandidate {
  std::string command;         ///< in one line; the same for all sizes of a program
  ProcessCount processes = 1;  ///< >= 1
  double runtime_s = 1;        ///< > 0
};

struct MatchOptions {
  double time_scale = 1;  ///< a job of an hour is matched to what runs an hour times this
};

struct BadMatch {
  std::int64_t job = -1;
  ProcessCount processes = 1, matched_processes = 1;
  double wanted_s = 0, runtime_s = 0;
  double factor = 1;  ///< the larger of the two run times over the smaller
  std::int32_t program = -1;
};

/// How well the programs match the jobs. Factors are counted in bins 1 % wide, so that memory does not grow.
struct MatchReport {
  std::uint64_t records = 0;
  std::uint64_t matched = 0;
  std::uint64_t without_runtime = 0, without_size = 0;  ///< unmatched
  std::uint64_t at_other_size = 0;                      ///< matched, but measured at another size than the job's
  std::uint64_t zero_runtimes = 0;                      ///< matched to the shortest program; in no figure below
  double mean_relative_error = 0;                       ///< of (program - job) / job
  double mean_absolute_error = 0;                       ///< of |program - job| / job
  double total_wanted_s = 0, total_runtime_s = 0;
  std::vector<std::uint64_t> jobs_of_program;  ///< by number, from 0
  std::vector<BadMatch> worst;                 ///< at most ten, the worst first

  /// The factor that this share (0..1) of the jobs does not exceed, to 1 %; 1 if there is none.
  [[nodiscard]] double factor_at(double share) const;
  /// The share of jobs with a relative error |program - job| / job of at most that.
  [[nodiscard]] double share_within(double relative_error) const;

  static constexpr std::size_t kBins = 2400;  // 1.01^2400 = 2e10
  static constexpr std::array<double, 7> kErrors = {0.01, 0.05, 0.1, 0.25, 0.5, 1, 2};
  std::vector<std::uint64_t> factors = std::vector<std::uint64_t>(kBins);  ///< by factor
  std::array<std::uint64_t, kErrors.size()> within{};                      ///< of kErrors
};

class Matcher {
 public:
  /// Throws InputError if there is no candidate. Programs get numbers from 0 in the order of their first candidate.
  explicit Matcher(const std::vector<MatchCandidate>& candidates, MatchOptions options = {});

  /// Replaces the table of programs by ours.
  void set_programs(SwfHeader& header) const;
  /// Writes the program's number into field 14, or -1 where the job has no size or run time.
  void apply(TraceEntry& entry);

  [[nodiscard]] const std::vector<std::string>& programs() const { return programs_; }
  [[nodiscard]] const MatchReport& report() const { return report_; }

 private:
  struct Choice {
    double runtime_s;
    std::int32_t program;
  };
  [[nodiscard]] ProcessCount nearest_size(ProcessCount wanted) const;
  [[nodiscard]] static const Choice& nearest(const std::vector<Choice>& ascending, double wanted_s);
  void count(const BadMatch& match);

  MatchOptions options_;
  std::vector<std::string> programs_;
  std::map<ProcessCount, std::vector<Choice>> by_size_;  // ascending by run time; equal ones as in the profile
  double sum_relative_ = 0, sum_absolute_ = 0;
  std::uint64_t measured_ = 0;
  MatchReport report_;
};

}  // namespace replay
