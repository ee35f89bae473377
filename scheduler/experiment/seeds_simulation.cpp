// `--seeds`: simulates every policy with every seed, in parallel on all cores. The first policy of a seed reads its
// trace and the last one frees it; the output does not depend on the order in which they end.

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/json/write_json.hpp"
#include "scheduler/base/process/parallel.hpp"
#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/base/text/placeholders.hpp"
#include "scheduler/cli/commands.hpp"
#include "scheduler/experiment/one_simulation.hpp"
#include "scheduler/experiment/progress_line.hpp"
#include "scheduler/experiment/seeds.hpp"
#include "scheduler/results/event_log_file.hpp"
#include "scheduler/results/output_names.hpp"
#include "scheduler/results/run_folder.hpp"
#include "scheduler/runtime_model/profile.hpp"

namespace replay::experiment {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kFewestToTrim = 4;  // two have to be left for an interval

constexpr const char* kHowToMakeTraces =
    "write {seed} where the trace's name has its number, and make the traces with `replay generate`: "
    "for s in 1 2 3; do replay generate lublin --jobs 1000 --seed $s -o t-$s.swf; done, then --trace 't-{seed}.swf'";

bool traces_depend_on_seeds(const CommonOptions& options) {
  return mentions_seed(options.trace) || mentions_seed(options.jobs_from);
}

void check_options(const SimulateOptions& options, const std::vector<std::uint64_t>& seeds) {
  if (options.common.trace == "-")
    throw UsageError("--seeds: the trace is read once for each seed, and standard input cannot be: name a file");
  if (options.trim && seeds.size() < kFewestToTrim)
    throw UsageError(
        fmt::format("--trim: expected at least {} seeds, so that two are left, found {}", kFewestToTrim, seeds.size()));
  if (traces_depend_on_seeds(options.common)) return;
  const std::string model = options.common.runtime_model.empty() ? "utrera" : options.common.runtime_model;
  const Profile none;  // a profile draws no random numbers either
  if (!make_runtime_model(model, &none)->uses_network_overhead())
    throw UsageError(
        fmt::format("--seeds: nothing in this run depends on the seed: the trace is the same for each, and "
                    "runtime model {} draws nothing; {}",
                    model, kHowToMakeTraces));
}

// One seed's trace, kept as long as one of its policies needs it.
class SeedInputs {
 public:
  SeedInputs(const SimulateOptions& options, std::uint64_t seed, std::size_t uses)
      : options_(options.common), flat_(options.flat), uses_left_(uses) {
    options_.seed = seed;
    options_.trace = with_seed(options_.trace, seed);
    options_.jobs_from = with_seed(options_.jobs_from, seed);
  }

  const PreparedSimulation& prepared() {
    std::call_once(once_, [this] {
      prepared_.emplace(prepare_simulation(options_, flat_));
      machine_ = prepared_->machine.to_text();
      notes_ = prepared_->scenario.notes;
      const CleaningReport& report = prepared_->scenario.loaded.report;
      if (report.broken == 0 && report.skipped == 0 && report.findings.empty()) return;
      for (const std::string& line : report.to_lines()) notes_.push_back(line);
    });
    return *prepared_;
  }
  void release() {
    if (--uses_left_ == 0) prepared_.reset();
  }
  [[nodiscard]] const std::string& machine() const { return machine_; }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  CommonOptions options_;
  bool flat_;
  std::atomic<std::size_t> uses_left_;
  std::once_flag once_;
  std::optional<PreparedSimulation> prepared_;
  std::string machine_;
  std::vector<std::string> notes_;
};

class SeedStudy {
 public:
  SeedStudy(const SimulateOptions& options, const std::string& command_line)
      : options_(options), command_line_(command_line), seeds_(parse_seeds(options.seeds)) {
    check_options(options, seeds_);
    if (options.common.policies.empty())
      throw UsageError("--policy is missing: expected a policy such as fcfs-malleable; `replay policies` lists them");
    for (std::string& policy : split_policies(options.common.policies)) {
      (void)make_policy(policy);
      results_.push_back({std::move(policy), std::vector<metrics::Summary>(seeds_.size())});
    }
    (void)results::parse_outputs(options.common.outputs);
    for (const std::uint64_t seed : seeds_)
      inputs_.push_back(std::make_unique<SeedInputs>(options, seed, results_.size()));
    for (const std::uint64_t seed : seeds_)
      if (const std::string trace = with_seed(options.common.trace, seed); !trace.empty() && !fs::exists(trace))
        throw InputError(fmt::format("{}: is the trace of seed {}, and is not there", trace, seed));
    (void)inputs_.front()->prepared();  // an error in the first trace is reported before a folder is made
  }

  int run() {
    const HeedStops heeding;
    const std::string& outputs = options_.common.outputs;
    writes_runs_ = !outputs.empty() && outputs != "none";
    if (writes_runs_ || !options_.common.out.empty()) folder_ = make_folder();
    const std::size_t policies = results_.size(), count = policies * seeds_.size();
    for_each_in_parallel(count, options_.threads, [&](std::size_t i) { simulate(i / policies, i % policies); });
    if (stops_asked() > 0) {
      std::error_code ignored;
      if (!folder_.empty()) fs::remove(folder_, ignored);  // only if it is empty
      fmt::print(stderr, "replay: interrupted: there is no result over all seeds\n");
      return exit_status_after_stop();
    }
    if (!traces_depend_on_seeds(options_.common) && std::ranges::all_of(results_, all_seeds_agree)) {
      std::error_code ignored;
      if (!folder_.empty() && !writes_runs_) fs::remove(folder_, ignored);
      throw UsageError(
          fmt::format("--seeds: every seed gives the same result: the trace is the same for each, and none "
                      "of the policies shrinks jobs, which is all that the drawn network overheads change; {}",
                      kHowToMakeTraces));
    }
    report();
    return 0;
  }

 private:
  fs::path make_folder() const {
    std::vector<std::string> policies;
    for (const SeededResult& result : results_) policies.push_back(result.policy);
    return results::make_run_folder(options_.common.out, policies, options_.common.force);
  }

  void simulate(std::size_t seed, std::size_t policy) {
    if (stops_asked() > 0) return;
    SeedInputs& inputs = *inputs_[seed];
    const std::string& name = results_[policy].policy;
    const fs::path where =
        writes_runs_ ? folder_ / fmt::format("seed-{}", seeds_[seed]) / results::folder_name(name) : fs::path{};
    const results::PolicyRun run =
        simulate_policy(inputs.prepared(), policy, where, command_line_, [&](std::size_t jobs) {
          progress_.show(fmt::format("{} of {} runs; seed {}, {}: {} jobs", done_.load(),
                                     results_.size() * seeds_.size(), seeds_[seed], name, jobs));
        });
    if (!run.fault.empty()) throw PolicyError(fmt::format("seed {}, {}: {}", seeds_[seed], name, run.fault));
    results_[policy].by_seed[seed] = run.summary;
    inputs.release();
    ++done_;
  }

  // The machine of all seeds, or a note that they differ.
  [[nodiscard]] std::string machine_text() const {
    const std::string& first = inputs_.front()->machine();
    const bool same = std::ranges::all_of(inputs_, [&](const auto& inputs) { return inputs->machine() == first; });
    return same ? first : "of each trace (they differ)";
  }

  void report() const {
    const std::string model = options_.common.runtime_model.empty() ? "utrera" : options_.common.runtime_model;
    nlohmann::ordered_json json = to_json(results_, seeds_, options_.trim);
    json["trace"] = options_.common.trace;
    json["machine"] = machine_text();
    json["runtime_model"] = model;
    json["command"] = command_line_;
    for (std::size_t i = 0; i < seeds_.size(); ++i) json["notes"][fmt::format("{}", seeds_[i])] = inputs_[i]->notes();
    if (!folder_.empty()) write_json(folder_ / "seeds.json", json);
    if (options_.common.json) {
      fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
      return;
    }
    print_notes();
    fmt::print("{}, machine {}, runtime model {}; 95 % confidence intervals (Student's t){}\n\n{}",
               results::count_text(seeds_.size(), "seed"), machine_text(), model,
               options_.trim ? ", the smallest and the largest value of each metric dropped" : "",
               seeds_table(results_, options_.trim));
    if (!traces_depend_on_seeds(options_.common))
      for (const SeededResult& result : results_)
        if (all_seeds_agree(result)) fmt::print("{}: the same for each seed\n", result.policy);
    if (!folder_.empty()) fmt::print("results in {}\n", folder_.string());
  }

  // Prints the notes of the first seed; those of the others are usually much the same.
  void print_notes() const {
    for (const std::string& note : inputs_.front()->notes()) fmt::print("seed {}: {}\n", seeds_.front(), note);
    const auto others = std::ranges::count_if(inputs_, [](const auto& inputs) { return !inputs->notes().empty(); }) -
                        (inputs_.front()->notes().empty() ? 0 : 1);
    if (others > 0)
      fmt::print("{} too: --json has them\n", results::count_text(static_cast<std::size_t>(others), "other seed") +
                                                  (others == 1 ? " has notes" : " have notes"));
  }

  const SimulateOptions& options_;
  const std::string& command_line_;
  std::vector<std::uint64_t> seeds_;
  std::vector<SeededResult> results_;
  std::vector<std::unique_ptr<SeedInputs>> inputs_;
  fs::path folder_;
  bool writes_runs_ = false;
  std::atomic<std::size_t> done_{0};
  ProgressLine progress_;
};

}  // namespace

int simulate_seeds(const SimulateOptions& options, const std::string& command_line) {
  return SeedStudy{options, command_line}.run();
}

}  // namespace replay::experiment
