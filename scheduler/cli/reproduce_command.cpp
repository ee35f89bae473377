// `replay reproduce PAPER`: runs every simulation that a paper's tables and figures need and shows the paper's numbers
// beside ours: a page, a CSV, and the same tables on the terminal.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/process/parallel.hpp"
#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/base/terminal/progress_line.hpp"
#include "scheduler/base/text/add_item.hpp"
#include "scheduler/cli/commands.hpp"
#include "scheduler/cli/options.hpp"
#include "scheduler/study/archive.hpp"
#include "scheduler/study/dynp/study.hpp"
#include "scheduler/study/fcfs_malleable/study.hpp"
#include "scheduler/study/g_lomarc_ts/study.hpp"
#include "scheduler/study/reproduction.hpp"
#include "scheduler/study/scojo_p/study.hpp"
#include "scheduler/study/slack/study.hpp"
#include "scheduler/study/text.hpp"

namespace replay::cli {
namespace fs = std::filesystem;
namespace {

struct ReproduceGiven {
  std::string traces, out;
  int threads = 0;
  bool force = false, json = false, quick = false;
};

fs::path traces_folder(const ReproduceGiven& given) {
  if (!given.traces.empty()) return given.traces;
  const char* const variable = std::getenv("REPLAY_TRACES");
  return variable != nullptr && *variable != '\0' ? fs::path{variable} : fs::path{"traces/pwa"};
}

// Without wanted logs the study makes its jobs itself.
int reproduce(const ReproduceGiven& given, std::string_view paper, const std::vector<const study::ArchiveLog*>& wanted,
              const study::Study& study) {
  const study::LogSearch logs = study::find_logs(traces_folder(given), wanted);
  std::string missing;
  for (const std::string& line : logs.missing) add_item(missing, "\n        ", "{}", line);
  if (logs.found.empty() && !wanted.empty())
    throw InputError(missing + "\n        --traces DIR says where the logs are");
  if (!missing.empty()) fmt::print(stderr, "replay: left out: {}\n", missing);
  const fs::path folder = given.out.empty() ? fs::path{fmt::format("reproduce-{}", paper)} : fs::path{given.out};
  const HeedStops heeding;
  study::Reproduction made;
  try {
    terminal::ProgressLine progress;
    made = study::reproduce(paper, logs, study, folder, given.force,
                            {.for_each =
                                 [&](std::size_t count, const std::function<void(std::size_t)>& work) {
                                   for_each_in_parallel(count, given.threads, work);
                                 },
                             .show_progress = [&](std::string_view text) { progress.show(text); },
                             .interrupted = [] { return stops_asked() > 0; }});
  } catch (const study::Interrupted&) {
    fmt::print(stderr, "replay: interrupted: nothing was written\n");
    return exit_status_after_stop();
  }
  if (given.json)
    print_json(to_json(made.result));
  else
    fmt::print("{}\n{}\n{}\n", to_text(made.result), made.page.string(), made.numbers.string());
  return 0;
}

// The options that all have, and the help's example with `example`.
void add_common(CLI::App& command, ReproduceGiven& given, std::string_view example, bool reads_logs = true) {
  const std::string& paper = command.get_name();
  command.footer(fmt::format("Example: replay reproduce {} {}", paper, example));
  if (reads_logs)
    command.add_option("--traces", given.traces, "where the logs are (default: $REPLAY_TRACES, else traces/pwa)")
        ->type_name("DIR");
  command
      .add_option("--out", given.out, fmt::format("where the page and numbers.csv go (default reproduce-{})", paper))
      ->type_name("DIR");
  command.add_flag("--force", given.force, "write into a folder that exists");
  add_count(command, "--jobs", given.threads, 1, std::numeric_limits<int>::max(),
            "cores to use (default: all); the results do not depend on it");
  command.add_flag("--quick", given.quick, "a part of the study, which the page says");
  command.add_flag("--json", given.json, "print all numbers as JSON");
}

Command add_slack(CLI::App& group) {
  auto* command =
      group.add_subcommand("slack", "slack-based backfilling (Talby and Feitelson 1999): Tables 1 to 3, Figures 9, 10");
  auto given = std::make_shared<ReproduceGiven>();
  add_common(*command, *given, "--traces ~/pwa");
  return [given] {
    return reproduce(*given, "slack", {&study::kKthLog}, [given](const auto& logs, const auto& surroundings) {
      return study::reproduce_slack(logs, given->quick, surroundings);
    });
  };
}

Command add_fcfs_malleable(CLI::App& group) {
  auto* command =
      group.add_subcommand("fcfs-malleable", "FCFS-malleable (Utrera et al. 2012): Figures 2 and 3, Tables 2 and 3");
  auto given = std::make_shared<ReproduceGiven>();
  add_common(*command, *given, "--traces ~/pwa --quick");
  return [given] {
    return reproduce(*given, "fcfs-malleable", {&study::kSdscSp2Log, &study::kCtcLog, &study::kSdscBlueLog},
                     [given](const auto& logs, const auto& surroundings) {
                       return study::reproduce_fcfs_malleable(logs, given->quick, surroundings);
                     });
  };
}

struct DynpGiven : ReproduceGiven {
  std::optional<std::uint64_t> sets;
  std::vector<double> factors;
  std::vector<std::string> logs;
};

study::DynpOptions dynp_options(const DynpGiven& given) {
  study::DynpOptions options = given.quick ? study::quick_dynp_options() : study::DynpOptions{};
  options.sets = given.sets.value_or(options.sets);
  if (!given.factors.empty()) options.factors = given.factors;
  return options;
}

std::vector<const study::ArchiveLog*> dynp_logs(const DynpGiven& given) {
  std::vector<const study::ArchiveLog*> all{&study::kCtcLog, &study::kKthLog, &study::kLanlLog, &study::kSdscSp2Log};
  if (given.logs.empty()) return all;
  std::vector<const study::ArchiveLog*> chosen;
  for (const std::string& name : given.logs) {
    const auto log = std::ranges::find(all, name, &study::ArchiveLog::name);
    if (log == all.end()) throw UsageError(fmt::format("--logs: expected some of CTC,KTH,LANL,SDSC, found '{}'", name));
    if (std::ranges::find(chosen, *log) != chosen.end())
      throw UsageError(fmt::format("--logs: {} is there twice", name));
    chosen.push_back(*log);
  }
  return chosen;
}

Command add_dynp(CLI::App& group) {
  auto* command = group.add_subcommand("dynp", "self-tuning dynP (Streit): Tables 3 to 5, Figures 1 to 4");
  auto given = std::make_shared<DynpGiven>();
  add_common(*command, *given, "--traces ~/pwa --logs KTH --sets 3");
  add_count(*command, "--sets", given->sets, 1, 1000, "job sets of each log [10; 3 with --quick]");
  add_factors(*command, given->factors, "on the submit times [1,0.9,0.8,0.7,0.6; 1,0.7 with --quick]");
  command->add_option("--logs", given->logs, "some of CTC,KTH,LANL,SDSC [all]")->type_name("LIST")->delimiter(',');
  return [given] {
    const study::DynpOptions options = dynp_options(*given);
    return reproduce(*given, "dynp", dynp_logs(*given), [options](const auto& logs, const auto& surroundings) {
      return study::reproduce_dynp(logs, options, surroundings);
    });
  };
}

// Of papers whose jobs the study makes itself.
struct SeedsGiven : ReproduceGiven {
  std::optional<std::uint64_t> seeds;
};

Command add_seeded(CLI::App& group, const std::string& name, const std::string& about,
                   const study::SeededOptions& whole,
                   study::Result (*study)(const study::SeededOptions&, const study::Surroundings&)) {
  auto* command = group.add_subcommand(name, about + "; it makes its jobs itself");
  auto given = std::make_shared<SeedsGiven>();
  add_common(*command, *given, "--quick", false);
  add_count(*command, "--seeds", given->seeds, 1, 1000,
            fmt::format("workloads of each kind [{}; 1 with --quick]", whole.seeds));
  return [given, name, whole, study] {
    study::SeededOptions options = given->quick ? study::kQuickOptions : whole;
    options.seeds = given->seeds.value_or(options.seeds);
    return reproduce(*given, name, {},
                     [&](const auto&, const auto& surroundings) { return study(options, surroundings); });
  };
}

Command add_scojo_p(CLI::App& group) {
  return add_seeded(group, "scojo-p", "SCOJO-P and Cirne-Berman (Barsanti and Sodan 2006): Figures 4 to 14",
                    study::kScojoOptions, study::reproduce_scojo);
}

Command add_g_lomarc_ts(CLI::App& group) {
  return add_seeded(group, "g-lomarc-ts", "G-LOMARC-TS (Zeng and Sodan 2009): Figures 6 to 9", study::kGlomarcOptions,
                    study::reproduce_glomarc);
}

}  // namespace

Command add_reproduce(CLI::App& app) {
  auto* group = app.add_subcommand("reproduce", "a paper's tables and figures, its numbers beside ours");
  group->footer("`replay reproduce PAPER --help` says more.");
  group->require_subcommand(1);
  return add_group(*group, {add_slack, add_dynp, add_fcfs_malleable, add_scojo_p, add_g_lomarc_ts});
}

}  // namespace replay::cli
