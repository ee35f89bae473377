#include "scheduler/validate/paper.hpp"

#include <fmt/core.h>
#include <sys/utsname.h>

#include <algorithm>
#include <string_view>
#include <thread>
#include <utility>

#include "scheduler/experiment/profile_use.hpp"

namespace replay::validate {
namespace {

constexpr double kAimEmulated = 3, kAimPhysical = 5;  // %, of the mean relative error

std::string computer() {
  std::string text = fmt::format("a computer with {} CPUs", std::thread::hardware_concurrency());
  utsname host{};
  if (::uname(&host) != 0) return text;
  const std::string_view release{host.release};  // "6.1.0-18-amd64": what is behind the version is the distributor's
  return fmt::format("{}, {} {}", text, host.sysname, release.substr(0, release.find('-')));
}

}  // namespace

PaperExperiment prepare_paper(ValidationSetting& setting, bool is_physical, bool keeps_seed, CoreCount cores,
                              const std::filesystem::path& traces) {
  PaperExperiment paper;
  paper.is_physical = is_physical;
  paper.workload = is_physical ? physical_workload(cores, experiment::profile_path(setting.run)) : emulated_workload();
  paper.seeds = simulate_paper_seeds(traces, paper.workload, setting);
  if (!keeps_seed) {
    paper.typical = typical_seed(paper.seeds, kFaintWait / setting.run.time_scale);
    setting.run.seed = paper.typical->seed;
  }
  return paper;
}

std::vector<CellResult> finished_cells(const ValidationSetting& setting, const std::vector<ValidationCell>& all,
                                       const std::filesystem::path& out) {
  std::vector<CellResult> results;
  for (const ValidationCell& cell : all)
    if (auto result = finished_cell(out / "cells" / cell.name, cell.name, cell_inputs(setting, cell)))
      results.push_back(std::move(*result));
  return results;
}

ValidationPage page_of(const PaperExperiment& paper, const ValidationSetting& setting,
                       const std::vector<ValidationCell>& all, const std::filesystem::path& out, std::string command) {
  ValidationPage page;
  page.command = std::move(command);
  page.machine = computer();
  page.cores = setting.machine_text;
  page.time_scale = setting.run.time_scale;
  page.seed = setting.run.seed;
  page.typical = paper.typical;
  page.workload = paper.workload;
  page.aim_percent = paper.is_physical ? kAimPhysical : kAimEmulated;
  page.results = finished_cells(setting, all, out);
  for (const ValidationCell& cell : all)
    if (std::ranges::find(page.results, cell.name, &CellResult::cell) == page.results.end())
      page.missing.push_back(cell.name);
  page.seeds = seed_means(paper.seeds);
  return page;
}

}  // namespace replay::validate
