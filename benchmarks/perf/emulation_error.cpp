// Measures how far jobs on emulated cores are from the traced jobs: reads the event log of a real run and compares each
// job's measured run time, from its cores being given to its processes being gone, with its expected run time.
//   never resized       the traced run time
//   shrunk or expanded  the instant at which the traced run time is used up at the rates of the model `isolated`,
//                       formula (3), over the job's own allocations, each from the instant when its ranks were there
// Jobs shorter than --shortest (real seconds, default 3) are left out: there launching and ending are most of the job.
// Exit status: 0 the project's criteria are met, 1 they are not, 2 wrong usage.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/log/text.hpp"
#include "scheduler/model/progress.hpp"
#include "scheduler/runtime_model/runtime_model.hpp"

namespace replay::bench {
namespace {

struct Comparison {
  JobId job{};
  ProcessCount processes = 0;
  double traced = 0;    // s, trace time
  double expected = 0;  // s
  double measured = 0;  // s
  bool resized = false;
  [[nodiscard]] double error() const { return (measured - expected) / expected; }
};

// Follows each job through the log.
class Comparer final : public log::Sink {
 public:
  void header(const log::Header& header) override { header_ = header; }
  void record(const log::Record& record) override {
    std::visit([&](const auto& what) { on(record.at, what); }, record.what);
  }
  [[nodiscard]] const log::Header& header() const { return header_; }
  [[nodiscard]] const std::vector<Comparison>& jobs() const { return done_; }

 private:
  struct Followed {
    JobTruth truth;
    ProcessCount processes = 0;
    Allocation allocation;
    Instant launched{};
    Progress work;
    bool resized = false;
  };

  template <class Other>
  void on(Instant, const Other&) {}
  void on(Instant, const log::Submitted& what) {
    jobs_[what.job.id] = {what.truth, what.job.processes, {}, {}, {}, false};
  }
  void on(Instant at, const log::Launched& what) {
    Followed& job = jobs_.at(what.job);
    job.allocation = what.allocation;
    job.launched = at;
    job.work = Progress{job.truth.runtime, at, rate(job)};
    job.resized = !what.allocation.is_expanded();
  }
  void on(Instant at, const log::ResizeDone& what) {
    Followed& job = jobs_.at(what.job);
    job.allocation = what.allocation;
    job.resized = true;
    change(job, at, rate(job));
  }
  void on(Instant at, const log::SuspendDone& what) { change(jobs_.at(what.job), at, 0); }
  void on(Instant at, const log::ResumeDone& what) { change(jobs_.at(what.job), at, rate(jobs_.at(what.job))); }
  void on(Instant at, const log::Finished& what) {
    const Followed& job = jobs_.at(what.job);
    if (what.end.outcome != Outcome::kCompleted) return;
    done_.push_back({what.job, job.processes, seconds(job.truth.runtime), seconds(job.work.end() - job.launched),
                     seconds(at - job.launched), job.resized});
  }

  // A change after the job should have ended does not move that end.
  static void change(Followed& job, Instant at, double rate) {
    if (job.work.end() > at) job.work.change_rate(at, rate);
  }
  [[nodiscard]] double rate(const Followed& job) const {
    return model_->rate({.behaviour = job.truth.behaviour}, job.allocation, {});
  }

  log::Header header_;
  std::unique_ptr<RuntimeModel> model_ = make_runtime_model("isolated");
  std::map<JobId, Followed> jobs_;
  std::vector<Comparison> done_;
};

double share_within(const std::vector<Comparison>& jobs, double limit) {
  const auto within = std::ranges::count_if(jobs, [=](const Comparison& c) { return std::abs(c.error()) <= limit; });
  return jobs.empty() ? 1 : static_cast<double>(within) / static_cast<double>(jobs.size());
}

void print_row(const char* title, const std::vector<Comparison>& jobs) {
  double sum = 0;
  double largest = 0;
  for (const Comparison& job : jobs) {
    sum += job.error();
    largest = std::max(largest, std::abs(job.error()));
  }
  const auto count = static_cast<double>(std::max<std::size_t>(1, jobs.size()));
  fmt::print("{:<20} {:>5} {:>+8.2f} {:>9.1f} {:>9.1f} {:>9.1f} {:>9.1f} {:>10.2f}\n", title, jobs.size(),
             sum / count * 100, share_within(jobs, 0.01) * 100, share_within(jobs, 0.03) * 100,
             share_within(jobs, 0.05) * 100, share_within(jobs, 0.10) * 100, largest * 100);
}

void print_worst(std::vector<Comparison> jobs) {
  constexpr std::size_t kShown = 5;
  std::ranges::sort(jobs, std::ranges::greater{}, [](const Comparison& c) { return std::abs(c.error()); });
  jobs.resize(std::min(jobs.size(), kShown));
  for (const Comparison& job : jobs)
    fmt::print("  job {:>4}  {:>3} processes  traced {:>6.2f} s  expected {:>6.2f} s  measured {:>6.2f} s  {:+.2f} %\n",
               static_cast<std::int64_t>(job.job), job.processes, job.traced, job.expected, job.measured,
               job.error() * 100);
}

bool judge(const char* rule, bool is_met) {
  fmt::print("{}: {}\n", rule, is_met ? "met" : "NOT MET");
  return is_met;
}

bool report(const Comparer& log, double shortest) {
  const auto scale = parse_seconds(log.header().value("time-scale"));
  const double shortest_traced = shortest / (scale ? seconds(*scale) : 1);
  std::vector<Comparison> whole;
  std::vector<Comparison> resized;
  for (const Comparison& job : log.jobs())
    if (job.traced >= shortest_traced) (job.resized ? resized : whole).push_back(job);

  fmt::print("{} jobs completed on {} under {}; {} of at least {:g} s\n\n", log.jobs().size(),
             log.header().value("machine"), log.header().value("policy"), whole.size() + resized.size(), shortest);
  fmt::print("{:<20} {:>5} {:>8} {:>9} {:>9} {:>9} {:>9} {:>10}\n", "error in %", "jobs", "mean", "within 1",
             "within 3", "within 5", "within 10", "largest");
  print_row("never resized", whole);
  print_row("shrunk or expanded", resized);
  fmt::print("\nworst, never resized:\n");
  print_worst(whole);
  fmt::print("worst, shrunk or expanded:\n");
  print_worst(resized);
  fmt::print("\n");
  const bool first = judge("never resized: 95 % within 3 %, none beyond 10 %",
                           share_within(whole, 0.03) >= 0.95 && share_within(whole, 0.10) >= 1);
  const bool second = judge("shrunk or expanded: 90 % within 5 % of the model", share_within(resized, 0.05) >= 0.90);
  return first && second;
}

int run(const std::vector<std::string>& arguments) {
  const bool has_limit = arguments.size() == 3 && arguments[1] == "--shortest";
  const auto shortest = has_limit ? parse_duration(arguments[2]) : parse_seconds("3");
  if ((arguments.size() != 1 && !has_limit) || !shortest) {
    fmt::print(stderr, "usage: emulation_error EVENTS.LOG [--shortest SECONDS]\n");
    return 2;
  }
  Comparer comparer;
  if (!log::read_text(arguments[0], comparer)) fmt::print("the log is cut off: the run was killed\n");
  return report(comparer, seconds(*shortest)) ? 0 : 1;
}

}  // namespace
}  // namespace replay::bench

int main(int argc, char** argv) {
  try {
    return replay::bench::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "emulation_error: {}\n", error.what());
    return 2;
  }
}
