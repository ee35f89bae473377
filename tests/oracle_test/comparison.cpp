#include "tests/oracle_test/comparison.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <numeric>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "scheduler/log/text.hpp"
#include "scheduler/policy/registry.hpp"
#include "scheduler/runtime_model/pair_table.hpp"
#include "scheduler/runtime_model/runtime_model.hpp"
#include "scheduler/sim/simulator.hpp"

namespace replay::test {
namespace {

using oracle::Cores;
using oracle::Job;
using oracle::kNever;
using oracle::Schedule;
using oracle::Span;
using oracle::Time;

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr || *value == '\0' ? otherwise : std::strtoull(value, nullptr, 10);
}

// A broken invariant aborts; the handler then prints the workload that broke it.
std::string
    workload_under_test;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): a signal handler reads it
void print_workload(int) {
  if (::write(STDERR_FILENO, workload_under_test.data(), workload_under_test.size()) < 0) return;
}

Time micros(Instant instant) { return instant == replay::kNever ? kNever : instant.time_since_epoch().count(); }

std::vector<Cores> cores_of(JobId job, const MemoryLog& log, const oracle::Workload& workload) {
  const Machine machine = machine_of(workload);
  std::vector<Cores> all;
  const auto add = [&](Instant since, const Allocation& allocation) {
    Cores cores{micros(since), std::vector<int>(static_cast<std::size_t>(machine.nodes()), 0)};
    if (!machine.names_cores()) cores.on_node.front() = allocation.cores;
    for (const CoreLoad& load : allocation.named) ++cores.on_node[index_of(machine.node_of(load.core))];
    all.push_back(cores);
  };
  for (const log::Record& record : log.records()) {
    const auto* const launched = std::get_if<log::Launched>(&record.what);
    if (launched != nullptr && launched->job == job) add(record.at, launched->allocation);
    const auto* const resized = std::get_if<log::ResizeDone>(&record.what);
    if (resized != nullptr && resized->job == job) add(record.at, resized->allocation);
  }
  return all;
}

// Its starts and ends.
Span span_of(JobId job, const MemoryLog& log) {
  Span span;
  for (const log::Record& record : log.records()) {
    if (const auto* launched = std::get_if<log::Launched>(&record.what); launched != nullptr && launched->job == job)
      span.start = micros(record.at);
    if (const auto* again = std::get_if<log::Requeued>(&record.what); again != nullptr && again->job == job)
      span.lost.emplace_back(std::exchange(span.start, kNever), micros(record.at));
    if (const auto* finished = std::get_if<log::Finished>(&record.what); finished != nullptr && finished->job == job) {
      span.end = micros(record.at);
      if (finished->end.outcome == Outcome::kLost) span.ending = oracle::Ending::kLost;
      if (finished->end.outcome == Outcome::kCancelled) span.ending = oracle::Ending::kCancelled;
    }
  }
  return span;
}

int processes_of(const Job& job, const MemoryLog& log) {
  for (const log::Record& record : log.records()) {
    const auto* const start = std::get_if<log::StartDecided>(&record.what);
    if (start != nullptr && start->job == static_cast<JobId>(job.number))
      return processes_on(start->allocation, job.processes);
  }
  return 0;
}

// Only those of its cores that are others than before.
std::vector<Cores> changes(const Span& span) {
  std::vector<Cores> all = span.cores;
  const auto again = std::ranges::unique(all, {}, &Cores::on_node);
  all.erase(again.begin(), again.end());
  return all;
}

bool are_alike(const Span& a, const Span& b, bool with_cores) {
  return a.start == b.start && a.end == b.end && a.processes == b.processes && a.ending == b.ending &&
         a.lost == b.lost && (!with_cores || changes(a) == changes(b));
}

bool differ(const oracle::Workload& workload, const Variant& variant) {
  try {
    return !std::ranges::equal(program_schedule(workload, variant), variant.oracle(workload),
                               [&](const Span& a, const Span& b) { return are_alike(a, b, variant.with_cores); });
  } catch (const std::exception&) {
    return true;
  }
}

char letter(std::size_t job) { return static_cast<char>('A' + job); }

Allocation cores_of_a_pool(int cores) {
  Allocation allocation;
  allocation.cores = cores;
  return allocation;
}

// Draws jobs as letters in the order of the file; empty where a column for each unit of time would make lines too long.
std::string picture(const oracle::Workload& workload, const Schedule& schedule) {
  MemoryLog log;
  std::vector<log::Record> records;
  Time unit = 0;
  Time last = 0;
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    const Time start = schedule[i].start;
    const Time end = schedule[i].end;
    if (start == kNever || end == kNever || start == end) continue;
    unit = std::gcd(unit, std::gcd(start, end));
    last = std::max(last, end);
    const auto id = static_cast<JobId>(letter(i));
    const int size = schedule[i].processes == 0 ? workload.jobs[i].processes : schedule[i].processes;
    records.push_back({Instant{Duration{start}}, log::Launched{id, cores_of_a_pool(size)}});
    records.push_back({Instant{Duration{end}}, log::Finished{id, {}}});
  }
  constexpr Time kWidest = 150;
  if (unit == 0 || last / unit > kWidest || workload.jobs.size() > 50) return "";
  std::ranges::stable_sort(records, {}, [](const log::Record& record) {
    return std::pair{record.at, std::holds_alternative<log::Launched>(record.what)};
  });
  for (const log::Record& record : records) log.record(record);
  return fmt::format("a column is {} s\n{}", to_text(Duration{unit}), gantt(log, workload.cores(), Duration{unit}));
}

std::string time_text(Time time) { return time == kNever ? "never" : to_text(Duration{time}); }

// "0 s: 2+1, 5 s: 4+2": cores on each node.
std::string cores_text(const Span& span) {
  std::vector<std::string> parts;
  for (const Cores& cores : span.cores)
    parts.push_back(fmt::format("{} s: {}", time_text(cores.since), fmt::join(cores.on_node, "+")));
  return fmt::format("{}", fmt::join(parts, ", "));
}

// "  oracle: lost 5..7, cancelled; program: lost"; empty if both say that it ran once, to its own end.
std::string ending_text(const Span& expected, const Span& found) {
  const auto text = [](const Span& span) {
    std::string all;
    for (const auto& [start, end] : span.lost) all += fmt::format("lost {}..{}, ", time_text(start), time_text(end));
    constexpr std::array kEndings{"ended", "cancelled", "lost"};
    return all + kEndings.at(static_cast<std::size_t>(span.ending));
  };
  if (text(expected) == "ended" && text(found) == "ended") return "";
  return fmt::format("  oracle: {}; program: {}", text(expected), text(found));
}

// The event log of a small run.
std::string log_text(const oracle::Workload& workload, const Variant& variant) {
  if (workload.jobs.size() > 8) return "";
  std::string text = "the program's log:\n";
  try {
    const MemoryLog log = simulated(workload, variant.policy, variant.model);
    for (const log::Record& record : log.records()) text += log::to_line(record) + '\n';
  } catch (const std::exception& error) {
    text += fmt::format("none: {}\n", error.what());
  }
  return text;
}

std::string difference_text(const oracle::Workload& workload, const Variant& variant) {
  std::string text = as_command(workload, variant.policy, variant.model);
  const Schedule expected = variant.oracle(workload);
  Schedule found(workload.jobs.size());
  try {
    found = program_schedule(workload, variant);
  } catch (const std::exception& error) {
    text += fmt::format("the program says: {}\n", error.what());
  }
  text += "      job    oracle: start, end                 program: start, end\n";
  for (std::size_t i = 0; i < found.size(); ++i)
    text += fmt::format("{} {} {:5} {:>16} {:>16}  {:>16} {:>16}{}\n",
                        are_alike(expected[i], found[i], false) ? "  " : "->", letter(i), workload.jobs[i].number,
                        time_text(expected[i].start), time_text(expected[i].end), time_text(found[i].start),
                        time_text(found[i].end), ending_text(expected[i], found[i]));
  for (std::size_t i = 0; variant.with_cores && i < found.size(); ++i)
    text += fmt::format("{} {} cores: oracle {}; program {}\n", expected[i].cores == found[i].cores ? "  " : "->",
                        letter(i), cores_text(expected[i]), cores_text(found[i]));
  for (std::size_t i = 0; variant.with_sizes && i < found.size(); ++i)
    text +=
        fmt::format("{} {} size: oracle {}, program {}\n", expected[i].processes == found[i].processes ? "  " : "->",
                    letter(i), expected[i].processes, found[i].processes);
  if (variant.model == "rigid")
    text += "oracle: " + picture(workload, expected) + "program: " + picture(workload, found);
  return text + log_text(workload, variant);
}

constexpr std::array kOverruns{"kill", "extend", "policy"};

}  // namespace

std::uint64_t first_seed() { return from_environment("REPLAY_ORACLE_FIRST", 1); }
std::uint64_t runs() { return from_environment("REPLAY_ORACLE_RUNS", 300); }

void expect_same_schedules(const Variant& variant) {
  for (std::uint64_t seed = first_seed(); seed < first_seed() + runs(); ++seed) {
    const oracle::Workload workload = drawn_workload(seed, variant.draw);
    const auto differs = [&](const oracle::Workload& one) { return differ(one, variant); };
    if (!differs(workload)) continue;
    const oracle::Workload small = minimised(workload, differs);
    FAIL() << "seed " << seed << "; as small as it gets:\n"
           << difference_text(small, variant) << "as drawn:\n"
           << difference_text(workload, variant);
  }
}

void expect_promise(const Variant& variant,
                    const std::function<std::string(const oracle::Workload&, const Schedule&)>& broken) {
  expect_no_error(
      variant, [&](const oracle::Workload& workload) { return broken(workload, program_schedule(workload, variant)); });
}

void expect_no_error(const Variant& variant, const std::function<std::string(const oracle::Workload&)>& error) {
  const auto what = [&](const oracle::Workload& workload) {
    try {
      return error(workload);
    } catch (const std::exception& thrown) {
      return fmt::format("the program says: {}", thrown.what());
    }
  };
  for (std::uint64_t seed = first_seed(); seed < first_seed() + runs(); ++seed) {
    const oracle::Workload workload = drawn_workload(seed, variant.draw);
    if (what(workload).empty()) continue;
    const oracle::Workload small =
        minimised(workload, [&](const oracle::Workload& smaller) { return !what(smaller).empty(); });
    FAIL() << "seed " << seed << "; as small as it gets:\n"
           << as_command(small, variant.policy, variant.model) << what(small) << '\n'
           << log_text(small, variant) << "as drawn:\n"
           << as_command(workload, variant.policy, variant.model) << what(workload);
  }
}

Schedule program_schedule(const oracle::Workload& workload, const Variant& variant) {
  const MemoryLog log = simulated(workload, variant.policy, variant.model);
  Schedule schedule;
  for (const Job& job : workload.jobs) {
    const auto id = static_cast<JobId>(job.number);
    schedule.push_back(span_of(id, log));
    if (variant.with_cores) schedule.back().cores = cores_of(id, log, workload);
    if (variant.with_sizes) schedule.back().processes = processes_of(job, log);
  }
  return schedule;
}

std::string as_text(const oracle::Workload& workload, const Schedule& schedule) {
  std::string text;
  for (std::size_t i = 0; i < schedule.size(); ++i)
    text += fmt::format("{} {:5} {:>16} {:>16}\n", letter(i), workload.jobs[i].number, time_text(schedule[i].start),
                        time_text(schedule[i].end));
  return text;
}

MemoryLog simulated(const oracle::Workload& workload, const std::string& policy, const std::string& model) {
  return simulated(workload, *make_policy(policy).policy, policy, model);
}

MemoryLog simulated(const oracle::Workload& workload, Policy& policy, const std::string& name,
                    const std::string& model) {
  workload_under_test = as_command(workload, name, model);
  const auto before = std::signal(SIGABRT, print_workload);
  SimulationOptions options;
  options.overrun = static_cast<Overrun>(workload.overrun);
  options.nodes = node_events_of(workload);
  options.requeues_lost = workload.requeues_lost;
  PairTable pairs;
  for (const auto& [pair, slowdown] : workload.pairs)
    pairs.add(static_cast<JobId>(pair.first), static_cast<JobId>(pair.second), slowdown);
  const auto runtime_model = make_runtime_model(model, {.pairs = workload.pairs.empty() ? nullptr : &pairs});
  constexpr int kManyInstants = 200'000;
  options.interrupted = [instants = 0]() mutable { return ++instants > kManyInstants; };
  MemoryLog log;
  const bool is_endless =
      replay::simulate(machine_of(workload), read_back(workload), policy, *runtime_model, log, options).interrupted;
  std::signal(SIGABRT, before);
  if (is_endless) throw std::runtime_error("the run comes to no end");
  return log;
}

std::string as_command(const oracle::Workload& workload, const std::string& policy, const std::string& model) {
  return fmt::format(
      "case.swf\n{}case.jobs.csv\n{}{}{}replay simulate --trace case.swf --policy '{}' --machine {} --runtime-model {} "
      "--overrun {} --over-request {}{}{}\n",
      swf_text(workload), side_file_text(workload),
      workload.pairs.empty() ? "" : "case.pairs.csv\n" + pairs_text(workload),
      workload.node_events.empty() ? "" : "case.nodes.csv\n" + nodes_text(workload), policy,
      machine_of(workload).to_text(), model, kOverruns.at(static_cast<std::size_t>(workload.overrun)),
      workload.cut_at_request ? "cut" : "keep",
      std::ranges::any_of(workload.jobs, &Job::is_taken_back) ? " --cancelled honour" : "",
      workload.requeues_lost ? " --requeue-lost" : "");
}

oracle::Workload minimised(oracle::Workload workload, const std::function<bool(const oracle::Workload&)>& is_wrong) {
  bool smaller = true;
  const auto try_with = [&](auto change) {
    oracle::Workload tried = workload;
    change(tried);
    const bool sorted = std::ranges::is_sorted(tried.jobs, {}, &Job::submit) &&
                        std::ranges::is_sorted(tried.node_events, {}, &oracle::NodeEvent::at);
    if (!sorted || tried.jobs.empty() || !is_wrong(tried)) return;
    workload = std::move(tried);
    smaller = true;
  };
  const auto lower = [&](std::size_t i, auto member, auto least) {
    const auto value = workload.jobs[i].*member;
    using Value = std::remove_const_t<decltype(value)>;
    const auto whole =
        static_cast<Value>(std::is_same_v<Value, Time> ? value / oracle::kSecond * oracle::kSecond : value);
    for (const Value to :
         {static_cast<Value>(least), static_cast<Value>(whole / 2), whole, static_cast<Value>(value - 1)})
      if (to >= least && to < workload.jobs[i].*member) try_with([&](auto& tried) { tried.jobs[i].*member = to; });
  };
  for (int rounds = 0; smaller && rounds < 20; ++rounds) {
    smaller = false;
    for (std::size_t i = workload.node_events.size(); i-- > 0;)
      try_with(
          [&](auto& tried) { tried.node_events.erase(tried.node_events.begin() + static_cast<std::ptrdiff_t>(i)); });
    if (workload.requeues_lost) try_with([](auto& tried) { tried.requeues_lost = false; });
    for (std::size_t i = workload.jobs.size(); i-- > 0;)
      try_with([&](auto& tried) { tried.jobs.erase(tried.jobs.begin() + static_cast<std::ptrdiff_t>(i)); });
    for (std::size_t i = 0; i < workload.node_events.size(); ++i)
      for (const Time whole : {Time{0}, workload.node_events[i].at / 2, workload.node_events[i].at - 1}) {
        const Time by = workload.node_events[i].at - whole / oracle::kSecond * oracle::kSecond;
        if (by > 0 && by <= workload.node_events[i].at)
          try_with([&](auto& tried) {
            tried.node_events[i].at -= by;
            if (tried.node_events[i].until != kNever) tried.node_events[i].until -= by;
          });
      }
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
      lower(i, &Job::submit, Time{0});
      lower(i, &Job::run_time, Time{0});
      lower(i, &Job::request, workload.jobs[i].is_taken_back() ? Time{1} : Time{-1});
      if (workload.jobs[i].is_taken_back()) {
        try_with([&](auto& tried) { tried.jobs[i].taken_back_after = -1; });
        lower(i, &Job::taken_back_after, Time{0});
      }
      lower(i, &Job::processes, 1);
      if (const Job& job = workload.jobs[i]; job.curve || job.least + job.most > 0 || !job.sizes.empty()) {
        // All bounds at once: what they leave together may not fit the machine one by one.
        try_with([&](auto& tried) {
          tried.jobs[i].least = tried.jobs[i].most = 0;
          tried.jobs[i].sizes.clear();
        });
        try_with([&](auto& tried) { tried.jobs[i].curve.reset(); });
      }
    }
  }
  return workload;
}

std::string test_name(const std::string& policy) {
  std::string name;
  for (const char c : policy) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

}  // namespace replay::test
