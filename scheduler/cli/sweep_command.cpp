// `replay sweep`: all simulations of a study, on all cores, as tasks of any engine.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>

#include "scheduler/base/file/full_disk.hpp"
#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/base/terminal/progress_line.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/base/text/say_on_stderr.hpp"
#include "scheduler/base/text/shell_words.hpp"
#include "scheduler/cli/command.hpp"
#include "scheduler/sweep/answer/answer.hpp"
#include "scheduler/sweep/engine/run_shard.hpp"
#include "scheduler/sweep/estimate.hpp"
#include "scheduler/sweep/plan.hpp"
#include "scheduler/sweep/read_results.hpp"
#include "scheduler/sweep/study_folder.hpp"

namespace replay::cli {
namespace fs = std::filesystem;
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostReasons = 10, kMostIds = 20;

constexpr DurationRange kCellTime{.least = std::chrono::milliseconds{1},
                                  .expected = "a duration such as 90s, 5min or 2h"};

struct SweepGiven {
  std::string study, out, cell, shard;
  bool dry_run = false, list = false, status = false, json = false, repeats_failed = false, folders = false,
       gather = false, mixed = false;
  int jobs = 0;
  std::optional<Duration> time;
  std::uint64_t memory = 0;  // bytes; 0: as much as there is
};

// "512M", "2G"; bytes.
std::uint64_t memory_of(const std::string& text) {
  constexpr std::string_view kUnits = "KMGT";
  const std::size_t unit = text.empty() ? std::string_view::npos : kUnits.find(text.back());
  const auto number = parse_number<double>(std::string_view{text}.substr(0, text.size() - 1));
  if (unit == std::string_view::npos || !number || !(*number > 0) || *number > 1e6)
    throw UsageError(fmt::format("--cell-memory: expected a size such as 512M or 2G, found '{}'", text));
  return static_cast<std::uint64_t>(*number * static_cast<double>(std::uint64_t{1} << (10 * (unit + 1))));
}

std::string command_for(const SweepGiven& given, std::string_view more) {
  std::string text = "replay sweep " + quoted_word(given.study);
  if (!given.out.empty()) text += " -o " + quoted_word(given.out);
  return text + std::string{more};
}

// ---- --list ----

int list(const sweep::Plan& plan, const SweepGiven& given) {
  for (std::size_t cell = 0; cell < plan.count(); ++cell) {
    const auto id = plan.id(cell);
    if (!id) continue;
    const std::string command = command_for(given, " --cell " + sweep::id_text(*id));
    if (given.json)
      fmt::print("{{\"id\":\"{}\",\"cell\":{},\"command\":{}}}\n", sweep::id_text(*id), plan.parameters(cell),
                 ordered_json(command).dump());
    else
      fmt::print("{} {}\n", sweep::id_text(*id), command);
  }
  return 0;
}

// ---- --status ----

int status_of(const sweep::SweepStatus& status) {
  return status.missing() > 0 ? sweep::kTryAgainStatus : status.failed > 0 ? 1 : 0;
}

void print_failures(const std::map<std::string, std::vector<sweep::CellId>>& failures) {
  std::vector<std::pair<std::string_view, const std::vector<sweep::CellId>*>> by_count;
  for (const auto& [reason, ids] : failures) by_count.emplace_back(reason, &ids);
  std::ranges::stable_sort(by_count, std::greater{}, [](const auto& one) { return one.second->size(); });
  for (std::size_t i = 0; i < std::min(by_count.size(), kMostReasons); ++i)
    fmt::print("  {}: {}; the first is {}\n", counted(by_count[i].second->size(), "cell"),
               clean_line(std::string{by_count[i].first}), sweep::id_text(by_count[i].second->front()));
  if (by_count.size() > kMostReasons) fmt::print("  and {} for other reasons\n", by_count.size() - kMostReasons);
}

int show_status(const sweep::Plan& plan, const SweepGiven& given) {
  std::vector<sweep::CellId> missing;
  const sweep::SweepStatus status =
      sweep::read_status(plan, given.out, [&](std::size_t, sweep::CellId id) { missing.push_back(id); });
  if (given.json) {
    ordered_json json{{"cells", status.cells},           {"done", status.done},
                      {"failed", status.failed},         {"missing", status.missing()},
                      {"damaged_lines", status.damaged}, {"lines_of_other_versions", status.other_versions},
                      {"running", status.running},       {"seconds", status.seconds}};
    json["failures"] = ordered_json::array();
    for (const auto& [reason, ids] : status.failures) {
      ordered_json& one =
          json["failures"].emplace_back(ordered_json{{"reason", reason}, {"ids", ordered_json::array()}});
      for (const sweep::CellId id : ids) one["ids"].push_back(sweep::id_text(id));
    }
    json["missing_ids"] = ordered_json::array();
    for (const sweep::CellId id : missing) json["missing_ids"].push_back(sweep::id_text(id));
    print_json(json);
    return status_of(status);
  }
  fmt::print("{}: {} of {} done, {} failed, {} missing\n", plan.study().name, status.done,
             counted(status.cells, "cell"), status.failed, status.missing());
  print_failures(status.failures);
  if (!status.running.empty()) fmt::print("running: {}\n", fmt::join(status.running, ", "));
  if (status.damaged > 0)
    fmt::print("{} cut off or damaged: the cells count as missing\n", counted(status.damaged, "line is", "lines are"));
  if (status.other_versions > 0)
    fmt::print("{} of other versions of replay\n", counted(status.other_versions, "line is", "lines are"));
  for (std::size_t i = 0; i < std::min(missing.size(), kMostIds); ++i)
    fmt::print("missing {}\n", sweep::id_text(missing[i]));
  if (missing.size() > kMostIds) fmt::print("and {} more: --json has them all\n", missing.size() - kMostIds);
  return status_of(status);
}

// ---- --gather ----

int gather(const sweep::Plan& plan, const SweepGiven& given) {
  const sweep::StudyResults results =
      sweep::read_results(plan, given.out, given.mixed ? sweep::Versions::kMixed : sweep::Versions::kOne);
  if (results.cells.empty())
    throw sweep::TryAgain(fmt::format("{}: expected cells of {}, found none: {} computes them", given.out, given.study,
                                      command_for(given, "")));
  const std::string table = sweep::write_answer(given.out, results);
  const auto failed = std::ranges::count_if(results.cells, [](const auto& cell) { return !cell.failure.empty(); });
  if (given.json)
    print_json({{"cells", results.planned},
                {"done", results.cells.size() - static_cast<std::size_t>(failed)},
                {"failed", failed},
                {"missing", results.planned - results.cells.size()},
                {"folder", given.out}});
  else
    fmt::print("{}\nsweep.csv, table.txt and report.html are in {}\n", table, given.out);
  return 0;
}

// ---- --dry-run ----

int dry_run(const sweep::Plan& plan, const SweepGiven& given) {
  const sweep::Estimate estimate = sweep::estimate(plan, given.out);
  if (stops_asked() > 0) {
    say_on_stderr("replay: interrupted: nothing is known yet of the time");
    return exit_status_after_stop();
  }
  const int jobs = given.jobs > 0 ? given.jobs : sweep::cores_for_this_process(sweep::environment_variable);
  if (given.json) {
    print_json({{"cells", estimate.cells},
                {"done", estimate.done},
                {"missing", estimate.missing},
                {"jobs", jobs},
                {"cpu_seconds", estimate.seconds},
                {"seconds", estimate.seconds / jobs},
                {"bytes", estimate.bytes},
                {"tried", estimate.tried},
                {"tried_failed", estimate.failed}});
    return 0;
  }
  fmt::print("{}: {}, {} done, {} to compute\n", plan.study().name, counted(estimate.cells, "cell"), estimate.done,
             estimate.missing);
  if (estimate.missing == 0) return 0;
  fmt::print("expected: {} on {}, {} of CPU time; {}\n", length_text(from_seconds(estimate.seconds / jobs)),
             counted(jobs, "core"), length_text(from_seconds(estimate.seconds)), size_text(estimate.bytes));
  fmt::print("{}\n", estimate.tried == 0 ? std::string{"by the cells that are done"}
                                         : fmt::format("by {} that {} tried now", counted(estimate.tried, "cell"),
                                                       estimate.tried == 1 ? "was" : "were"));
  if (estimate.failed > 0)
    fmt::print("{} of these failed, the first: {}\n", estimate.failed, clean_line(estimate.failure));
  return 0;
}

// ---- cells ----

void print_end(const sweep::ShardEnd& end, const SweepGiven& given) {
  const std::size_t done = end.cells == 0 ? end.done : end.cells - end.failed - end.left;
  if (given.json) {
    ordered_json json{{"cells", end.cells},
                      {"done", done},
                      {"done_before", end.done_before},
                      {"failed", end.failed},
                      {"missing", end.left},
                      {"of_other_shards", end.helped},
                      {"interrupted", end.interrupted},
                      {"seconds", end.elapsed.count()}};
    json["failures"] = ordered_json::object();
    for (const auto& [reason, count] : end.failures) json["failures"][reason] = count;
    json["try_again"] = end.try_again;
    print_json(json);
    return;
  }
  if (end.cells == 0 && end.interrupted)
    fmt::print("{} done now\n", counted(end.done, "cell"));
  else
    fmt::print("{} of {} done{}, {} failed, {} missing\n", done, counted(end.cells, "cell"),
               end.done_before > 0 ? fmt::format(" ({} before)", end.done_before) : "", end.failed, end.left);
  if (end.helped > 0) fmt::print("{} of other shards\n", counted(end.helped, "cell"));
  std::vector<std::pair<std::size_t, std::string_view>> reasons;
  for (const auto& [reason, count] : end.failures) reasons.emplace_back(count, reason);
  std::ranges::stable_sort(reasons, std::greater{}, [](const auto& one) { return one.first; });
  for (std::size_t i = 0; i < std::min(reasons.size(), kMostReasons); ++i)
    fmt::print(stderr, "replay: {} failed: {}\n", counted(reasons[i].first, "cell"), reasons[i].second);
  if (reasons.size() > kMostReasons)
    fmt::print(stderr, "replay: and {} for other reasons: --status\n", reasons.size() - kMostReasons);
  for (std::size_t i = 0; i < std::min(end.try_again.size(), kMostReasons); ++i)
    fmt::print(stderr, "replay: cell {}\n", end.try_again[i]);
}

void say_how_to_go_on(const sweep::ShardEnd& end, const SweepGiven& given) {
  if (end.failed > 0)
    fmt::print(stderr, "replay: --status says why cells have failed, --repeat-failed computes them again\n");
  if (!end.interrupted && end.left == 0) return;
  std::string more;
  if (!given.shard.empty()) more += " --shard " + given.shard;
  if (!given.cell.empty()) more += " --cell " + given.cell;
  fmt::print(stderr, "replay: {}: {} computes what is missing; what is done is kept\n",
             end.interrupted ? "interrupted" : "cells are missing", command_for(given, more));
}

int run(const sweep::Plan& plan, const SweepGiven& given) {
  sweep::ShardOptions options;
  options.folder = given.out;
  options.version = sweep::Plan::version();
  if (!given.shard.empty()) options.shard = sweep::parse_shard(given.shard, sweep::environment_variable);
  if (!given.cell.empty()) {
    const auto id = sweep::parse_id(given.cell);
    options.only = id ? plan.find(*id) : std::nullopt;
    if (!options.only)
      throw UsageError(fmt::format("--cell: expected the id of a cell of {}, as --list has it, found '{}'", given.study,
                                   given.cell));
  }
  options.jobs = given.jobs > 0 ? given.jobs : sweep::cores_for_this_process(sweep::environment_variable);
  if (given.time) options.limits.time = std::chrono::ceil<std::chrono::milliseconds>(*given.time);
  options.limits.memory = given.memory;
  options.repeats_failed = given.repeats_failed;
  const HeedStops heeding;
  std::optional<terminal::ProgressLine> progress{std::in_place};
  const sweep::ShardEnd end = sweep::run_shard(plan, options, [&](std::string_view line) { progress->show(line); });
  progress.reset();
  print_end(end, given);
  say_how_to_go_on(end, given);
  return end.exit_status();
}

int sweep_with(const SweepGiven& given) {
  const int kinds =
      int{given.dry_run} + int{given.list} + int{given.status} + int{given.gather} + int{!given.cell.empty()};
  if (kinds > 1) throw UsageError("expected one of --dry-run, --list, --status, --gather and --cell, found several");
  if (!given.cell.empty() && !given.shard.empty()) throw UsageError("--cell: expected without --shard");
  if (given.mixed && !given.gather) throw UsageError("--mixed-versions: expected with --gather");
  if (given.out.empty() && !given.dry_run)
    throw UsageError(fmt::format("-o is missing: expected the folder of the sweep{}",
                                 given.list ? ", which the commands of --list name" : ""));
  sweep::Plan plan{given.study};
  if (!given.out.empty()) sweep::expect_folder_of(plan.study().name, given.out);
  if (given.list) return list(plan, given);
  if (given.status) return show_status(plan, given);
  if (given.gather) return gather(plan, given);
  if (given.dry_run) return dry_run(plan, given);
  sweep::name_folder(plan.study().name, given.out);
  if (!given.folders) return run(plan, given);
  plan.keep_runs(given.out);
  plan.remove_unfinished_runs();
  const int status = run(plan, given);
  plan.remove_unfinished_runs();  // of cells that were interrupted
  return status;
}

}  // namespace

Command add_sweep(CLI::App& app) {
  CLI::App& command = add_command(
      app, "sweep", "all simulations of a study: policies x loads x seeds, on any number of cores",
      "Examples: replay sweep study.toml -o out --dry-run\n"
      "          replay sweep study.toml -o out\n"
      "          replay sweep study.toml -o out --gather\n"
      "          mpiexec -n 4 replay sweep study.toml -o out --shard auto\n"
      "Exit status: 0 done, 1 cells have failed, 75 cells are missing: try again. docs/sweep.md has plans and "
      "engines.");
  auto given = std::make_shared<SweepGiven>();
  command.add_option("STUDY", given->study, "the plan, in TOML")->required();
  command.add_option("-o,--output", given->out, "folder of the sweep; what is there already is not computed again")
      ->type_name("DIR");
  command.add_flag("--dry-run", given->dry_run,
                   "print how many cells there are, and the time and space that they will take");
  command.add_flag("--list", given->list, "print each cell's id and command");
  command.add_flag("--status", given->status, "print what is done, what has failed and why, and what is missing");
  command.add_flag("--gather", given->gather,
                   "write DIR/sweep.csv, table.txt and report.html: means, differences, intervals");
  command.add_flag("--mixed-versions", given->mixed, "with --gather: cells may be of several versions of replay");
  add_text(command, "--cell", given->cell, "ID", "compute this cell only");
  command.add_option("--shard", given->shard, "compute cells I, I+N ...; auto: as Slurm or mpiexec says")
      ->type_name("I/N|auto");
  add_count(command, "--jobs", given->jobs, 1, 100'000,
            "cells at the same time (default: the cores that this process may use)");
  add_duration(command, "--cell-time", "T", given->time, kCellTime, "a cell that takes longer fails");
  add_read(
      command, "--cell-memory", "SIZE", [given](const std::string& text) { given->memory = memory_of(text); },
      "a cell that needs more fails");
  command.add_flag("--repeat-failed", given->repeats_failed, "compute cells that have failed again");
  command.add_flag("--folders", given->folders, "leave each cell's whole run in DIR/runs/ID, as replay simulate does");
  command.add_flag("--json", given->json, "print JSON");
  return [given] {
    try {
      return sweep_with(*given);
    } catch (const InputError& error) {
      const bool may_go_well = dynamic_cast<const sweep::TryAgain*>(&error) != nullptr || is_disk_full(given->out);
      if (!may_go_well) throw;
      say_on_stderr(fmt::format("replay: {}", error.what()));
      return sweep::kTryAgainStatus;
    }
  };
}

}  // namespace replay::cli
