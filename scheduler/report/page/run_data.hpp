// One run as the page shows it, read from its event log in one pass: tables of its jobs, of what they had on the machine and
// of its load, and its figures. Very large runs are thinned out, and `limits` says how.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "scheduler/log/record.hpp"
#include "scheduler/metrics/job_table.hpp"
#include "scheduler/metrics/summary.hpp"
#include "scheduler/model/event.hpp"
#include "scheduler/model/machine.hpp"
#include "scheduler/report/page/stretch_rows.hpp"

namespace replay::report {

/// How much of a run goes into a page. Changed by tests only.
struct PageLimits {
  std::size_t jobs = 100'000;       ///< rows of jobs; of more, those with the largest area
  std::size_t stretches = 600'000;  ///< of these jobs: of more, fewer jobs
  std::size_t merged = 150'000;     ///< stretches of the other jobs, merged: of more, larger cells
  std::size_t points = 200'000;     ///< of the load over time; more become means over `spans` equal spans
  std::size_t spans = 50'000;
  std::size_t groups = 20'000;           ///< groups, slices, and times in which nodes were closed: the first ones
  std::size_t wait_texts = 2'000;        ///< jobs with the words of `replay why`,
  std::size_t wait_steps = 150'000'000;  ///< and, summed over them, changes of the load while they waited
  std::size_t warnings = 20;             ///< of a kind
};

/// Marks what is absent in a column of bytes.
inline constexpr std::uint8_t kAbsent = 255;

/// The columns of the jobs; a row each, in the order of submission. Absent: NaN, -1 or kAbsent.
struct JobColumns {
  std::vector<JobId> id;
  std::vector<double> submit, start, end, estimate, runtime, wait, response, bounded_slowdown, shrunk_time,
      suspended_time,
      group_time;  ///< seconds
  std::vector<std::int32_t> user, queue, processes, given, optimal, cores, max_mpl;
  std::vector<std::uint8_t> job_class, outcome, node_share;
  std::vector<std::string> reason;  ///< why it ended as it did; empty vector: there is none

  [[nodiscard]] std::size_t size() const { return id.size(); }
};

/// The load over time: each value holds until the next time.
struct SeriesColumns {
  std::vector<double> time, waiting_processors, mpl, queued, busy, free_while_queued;
};

struct ResizeColumns {
  std::vector<std::int32_t> job, from, to, in_favour_of;
  std::vector<double> at;
};

struct PageWarning {
  std::string kind;  ///< disturbed, overrun, failed, cut, rejected or note
  std::string text;
  std::int32_t job = -1;  ///< row
  double at = 0;          ///< seconds; NaN: at no instant
};

struct PageGroup {
  double from = 0, to = 0;
  std::int32_t primary = -1;
  std::vector<std::int32_t> jobs;  ///< the primary first
};

struct PageSlice {
  std::uint8_t job_class = 0;
  double from = 0, to = 0;
};

/// A node that was not up.
struct PageClosed {
  double from = 0, to = 0;
  std::int32_t first = 0, last = 0;  ///< its cores, both included
  std::string text;                  ///< "fir drained until 90 s: new disk"
};

/// A coarser picture of the stretches.
struct Level {
  double cell_seconds = 0;  ///< width of a cell
  CoreCount cell_cores = 1;
  StretchColumns stretches;
};

/// Share of the jobs (y) with at most so much (x).
struct Distribution {
  std::string of, by, name;
  double median = 0;
  std::vector<double> x, y;
};

/// The mean over several seeds and its confidence interval, 95 %; NaN where there is none.
struct MetricInterval {
  std::string metric;
  double mean = 0, low = 0, high = 0;
};

/// The words of `replay why` for some jobs.
struct WaitTexts {
  std::vector<std::int32_t> job;
  std::vector<std::string> text;
};

struct RunData {
  std::string name;  ///< of its folder
  std::string path;  ///< as it was given
  log::Header header;
  Machine machine = Machine::pool(1);
  bool is_complete = true;
  double begin = 0, end = 0;  ///< seconds
  std::vector<PageWarning> warnings;
  metrics::Summary summary;
  std::vector<MetricInterval> intervals;
  std::size_t jobs_in_all = 0;
  JobColumns jobs;
  bool has_classes = false;  ///< the policy's; else they are made by run time
  WaitTexts why;
  ResizeColumns resizes;
  StretchColumns stretches;
  std::vector<Level> levels;  ///< finest first
  SeriesColumns series;
  std::vector<PageGroup> groups;
  std::vector<PageSlice> slices;
  std::vector<PageClosed> closed;
  std::vector<Distribution> distributions;
  std::vector<std::string> limits;  ///< what is left out, a sentence each
};

/// `given`: what the user calls the run; empty: by its path. Throws InputError naming file and line.
[[nodiscard]] RunData read_run(const std::filesystem::path& log, const PageLimits& limits = {},
                               const std::string& given = {});

}  // namespace replay::report
