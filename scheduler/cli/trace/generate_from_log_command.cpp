// `replay generate from-log`: synthetic job sets made of the days of a log.

#include <fmt/core.h>

#include <filesystem>
#include <system_error>

#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/cli/command.hpp"
#include "scheduler/cli/trace/trace_io.hpp"
#include "traces/models/logged_days.hpp"

namespace replay::cli {
namespace {

namespace fs = std::filesystem;

struct FromLogGiven : TraceFiles {
  std::string folder;
  std::optional<std::uint64_t> sets, set;
  std::uint64_t jobs = kUsualSetJobs, seed = 1;
  std::vector<double> factors{1.0};
  double tolerance = kUsualTolerance;  // per cent
};

void check(const FromLogGiven& given) {
  if (given.folder.empty()) {
    if (given.sets) throw UsageError("--sets: expected --output-folder for several sets, or --set N for one of them");
    if (given.factors.size() != 1) throw UsageError("--factors: expected one factor, or --output-folder for several");
  } else {
    if (given.set) throw UsageError("--set: goes without --output-folder; --sets N makes sets 1 to N");
    if (given.output.output != "-" || !given.output.jobs_to.empty())
      throw UsageError("--output-folder: expected no --output and no --jobs-to beside it");
  }
}

LoggedDays read_log(const TraceInput& from) {
  LoggedDays log = read_logged_days(open_trace(from));
  if (log.report.kept < log.report.read)
    fmt::print(stderr, "{}: {} of {} records are jobs; trace info says what becomes of the others\n", log.report.file,
               log.report.kept, log.report.read);
  report_odd_lines(log.odd_lines);
  return log;
}

void write_set(const LoggedDays& log, const ResampledSet& set, std::uint64_t number, double factor,
               const FromLogGiven& given, const std::string& path) {
  const std::string command =
      fmt::format("replay generate from-log --set {} --jobs {} --factors {} --tolerance {} --seed {}", number,
                  given.jobs, factor, given.tolerance, given.seed);
  TraceWriter writer = create_trace(given.output, path);
  write_set(log, set, factor, command, writer);
  writer.close();
}

std::string means_text(const Means& means) {
  return fmt::format(
      "size {:.2f}, run time {:.0f} s, estimate {:.0f} s, work {:.0f} processor-s, inter-arrival {:.1f} s", means[0],
      means[1], means[2], means[3], means[4]);
}

int generate(const FromLogGiven& given) {
  check(given);
  const LoggedDays log = read_log(given.input);
  fmt::print(stderr, "log: {}, {}, {}\n", counted(log.resampler.jobs().size(), "job"),
             counted(log.resampler.days(), "whole day"), means_text(log.resampler.means()));
  std::error_code error;
  if (!given.folder.empty()) fs::create_directories(given.folder, error);
  if (error) throw InputError(fmt::format("{}: cannot be created: {}", given.folder, error.message()));
  const std::uint64_t first = given.set.value_or(1), last = given.set.value_or(given.sets.value_or(1));
  for (std::uint64_t number = first; number <= last; ++number) {
    const ResampledSet set = log.resampler.make_set(Seed{given.seed}, number, given.jobs, given.tolerance / 100);
    for (const double factor : given.factors) {
      const fs::path in_folder = fs::path(given.folder) / fmt::format("set{:02}-f{}.swf", number, factor);
      write_set(log, set, number, factor, given, given.folder.empty() ? given.output.output : in_folder.string());
    }
    fmt::print(stderr, "set {:2}: {}, {}\n", number, counted(set.jobs.size(), "job"), means_text(set.means));
  }
  return 0;
}

}  // namespace

Command add_generate_from_log(CLI::App& generate_group) {
  CLI::App& command = add_command(
      generate_group, "from-log", "synthetic job sets that keep what is typical of a log",
      "Examples:\n"
      "  replay generate from-log KTH-SP2.swf.gz --sets 10 --factors 1.0,0.9,0.8,0.7,0.6 --output-folder kth\n"
      "  replay generate from-log KTH-SP2.swf.gz --set 3 | replay trace info -\n"
      "docs/resampling.md says how the days are drawn. Holds the log's jobs in memory.");
  auto given = std::make_shared<FromLogGiven>();
  add_trace_files(command, *given);
  add_text(command, "--output-folder", given->folder, "DIR", "where sets 1 to --sets go, as setNN-fFACTOR.swf");
  add_count(command, "--sets", given->sets, 1, 100'000, "how many sets, with --output-folder [1]");
  add_count(command, "--set", given->set, 1, 100'000, "which set of the seed, without --output-folder [1]");
  add_count(command, "--jobs", given->jobs, 2, 100'000'000, "jobs of a set");
  add_factors(command, given->factors, "shrinking factors on the submit times, a file each [1]");
  command.add_option("--tolerance", given->tolerance, "how far means may be from the log's, in per cent")
      ->capture_default_str()
      ->check(CLI::Range(kLeastTolerance, kMostTolerance));
  add_seed(command, given->seed, "another seed, other sets");
  return [given] { return generate(*given); };
}

}  // namespace replay::cli
