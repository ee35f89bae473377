#include "scheduler/validate/page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <set>
#include <string_view>

#include "scheduler/base/text/add_item.hpp"
#include "scheduler/metrics/estimate_text.hpp"
#include "scheduler/validate/paper_numbers.hpp"
#include "scheduler/validate/table.hpp"

namespace replay::validate {
namespace {

using PageRow = std::vector<std::string>;

constexpr int kPageDecimals[] = {1, 1, 2};  // of wait, response, slowdown

std::string row_text(const PageRow& cells) { return fmt::format("| {} |\n", fmt::join(cells, " | ")); }

std::string head_text(const PageRow& cells) { return row_text(cells) + row_text(PageRow(cells.size(), "---")); }

std::vector<CellResult> of_arrivals(const std::vector<CellResult>& results, std::string_view arrivals) {
  std::vector<CellResult> some;
  std::ranges::copy_if(results, std::back_inserter(some), [&](const CellResult& r) { return r.arrivals == arrivals; });
  return some;
}

PageRow head_of_figures(std::string_view first) {
  PageRow head = {std::string{first}};
  for (const char* figure : {"wait s", "response s", "slowdown"})
    head.insert(head.end(), {fmt::format("{} S", figure), "R", "error %"});
  return head;
}

void add_figures(PageRow& row, const compare::FigurePair& pair, int decimals) {
  row.push_back(value_text(pair.simulated, decimals));
  row.push_back(value_text(pair.real, decimals));
  row.push_back(percent_text(compare::relative_error(pair) * 100));
}

std::string our_table(const std::vector<CellResult>& results) {
  std::string text = head_text(head_of_figures("load %, policy"));
  for (const CellResult& result : results) {
    PageRow row = {fmt::format("{:g} {}{}{}", result.load_percent.value_or(100), result.policy,
                               result.disturbed.value_or(false) ? " *" : "", result.real.failed > 0 ? " !" : "")};
    for (std::size_t i = 0; i < compare::kFigureCount; ++i) add_figures(row, result.pair(i), kPageDecimals[i]);
    text += row_text(row);
  }
  return text;
}

std::string paper_table() {
  std::string text = head_text(head_of_figures("the paper"));
  for (const PaperCell& cell : kPaperTable1) {
    PageRow row = {fmt::format("{} {}", cell.load_percent, cell.policy)};
    for (const compare::FigurePair& pair : cell.figures) add_figures(row, pair, 1);
    text += row_text(row);
  }
  return text;
}

std::string errors_table(const ValidationPage& page) {
  const auto row_of = [](std::string name, const std::vector<CellResult>& results) {
    std::vector<compare::FigurePair> run_times, timing;
    for (const CellResult& result : results)
      for (std::size_t i = 0; result.measured && i < compare::kFigureCount; ++i) {
        run_times.push_back(result.run_time_pair(i));
        timing.push_back(result.timing_pair(i));
      }
    return row_text(
        {std::move(name), mean_error_text(pairs_of(results)), mean_error_text(run_times), mean_error_text(timing)});
  };
  std::string text = head_text({"cells", "S against R", "S against P: run times", "P against R: the rest"});
  text += row_of("all", page.results);
  for (const std::string_view arrivals : kPaperArrivals)
    text += row_of(std::string{arrivals}, of_arrivals(page.results, arrivals));
  for (const std::string_view policy : kPaperPolicies) {
    std::vector<CellResult> some;
    std::ranges::copy_if(page.results, std::back_inserter(some),
                         [&](const CellResult& result) { return result.policy == policy; });
    text += row_of(std::string{policy}, some);
  }
  return text;
}

// The figures beyond the aim, and the first divergence of their cell's runs.
std::string misses_text(const ValidationPage& page) {
  std::string text;
  for (const CellResult& result : page.results) {
    std::string figures;
    for (std::size_t i = 0; i < compare::kFigureCount; ++i) {
      const double error = compare::relative_error(result.pair(i)) * 100;
      if (result.pair(i).is_nothing() || (std::isfinite(error) && std::abs(error) <= page.aim_percent)) continue;
      add_item(figures, ", ", "{} {} %", compare::kFigureNames[i], percent_text(error));
    }
    if (figures.empty()) continue;
    text +=
        fmt::format("- {}{}: {}. {}\n", result.cell, result.disturbed.value_or(false) ? " (disturbed)" : "", figures,
                    result.divergence ? *result.divergence : "Both decide the same; the jobs' own times differ.");
  }
  return text.empty() ? "None.\n" : text;
}

const SeedMeans* seed_mean(const ValidationPage& page, const Gain& gain) {
  for (const SeedMeans& mean : page.seeds)
    if (fmt::format("{}/{}", mean.load_percent, mean.arrivals) == gain.place && mean.policy == gain.policy)
      return &mean;
  return nullptr;
}

std::string paper_gain(const std::string& place, const std::string& policy) {
  const int load = std::atoi(place.c_str());
  const PaperCell *first = paper_cell(load, "easy"), *here = paper_cell(load, policy);
  if (first == nullptr || here == nullptr) return "-";
  return percent_text(
      compare::percent_more(first->figures[compare::kResponse].real, here->figures[compare::kResponse].real));
}

std::string gains_table(const ValidationPage& page) {
  std::string text =
      head_text({"response, % to EASY", "S, 20 seeds [95 %]", "S, this seed", "R", "same sign", "paper's Table 1, R"});
  for (const Gain& gain : gains_of(page.results)) {
    if (gain.first != kPaperPolicies[0]) continue;
    const SeedMeans* const mean = seed_mean(page, gain);
    text += row_text({fmt::format("{} {}", gain.place, gain.policy),
                      mean == nullptr ? "-" : metrics::difference_text(mean->gains[compare::kResponse], 1),
                      percent_text(gain.simulated[compare::kResponse]), percent_text(gain.real[compare::kResponse]),
                      gain.signs_agree(compare::kResponse) ? "yes" : "NO", paper_gain(gain.place, gain.policy)});
  }
  return text;
}

// Means over all seeds, also of cells that were not run.
std::string seeds_table(const ValidationPage& page) {
  std::string text = head_text(
      {"load %, arrivals", "policy", "wait s", "response s", "slowdown", "wait %", "response %", "slowdown %"});
  for (const SeedMeans& mean : page.seeds) {
    PageRow row = {fmt::format("{} {}", mean.load_percent, mean.arrivals), mean.policy};
    for (std::size_t i = 0; i < compare::kFigureCount; ++i)
      row.push_back(value_text(mean.figures[i].mean, kPageDecimals[i]));
    const bool is_first = mean.policy == kPaperPolicies[0];
    for (std::size_t i = 0; i < compare::kFigureCount; ++i)
      row.push_back(is_first ? "" : metrics::difference_text(mean.gains[i], 1));
    text += row_text(row);
  }
  return text;
}

std::string without_gain(const ValidationPage& page) {
  std::string text;
  for (const Gain& gain : gains_of(page.results))
    if (gain.first == kPaperPolicies[0] && !(gain.real[compare::kResponse] < 0))
      add_item(text, ", ", "{} under {}", gain.place, gain.policy);
  return text.empty() ? "" : fmt::format("Without a gain in response in the real run: {}.\n\n", text);
}

std::string about(const ValidationPage& page) {
  const PaperWorkload& w = page.workload;
  std::string text = fmt::format(
      "What Utrera et al. 2012 do in section 4.1 and Table 1, here on {} ({}): the same jobs simulated (S) and run for "
      "real "
      "(R), under\nEASY, FCFS-malleable and easy-malleable. Made by\n\n```\n{}\n```\n\n",
      page.cores, page.machine, page.command);
  text += fmt::format(
      "**Jobs**: {} of the Lublin-Feitelson model over {} s, 1 to {} processes, run times scaled to the load, {} s at "
      "least; estimates {:g}\ntimes the run time; seed {}. They arrive once as a Poisson process and once as the model "
      "has it, in bursts; the paper does not\nsay which. **Time scale** {:g}: one second of the trace takes {:g} ms. "
      "All times here are those of the trace.\n",
      w.jobs, w.duration_s, w.cores, w.min_runtime_s, kEstimateFactor, page.seed, page.time_scale,
      page.time_scale * 1000);
  if (page.typical)
    text += fmt::format(
        "**Seed {}** is, of the seeds 1 to {}, the one whose simulated gains in response over EASY are nearest to the "
        "means "
        "over all (root mean\nsquare over the cells {:.1f} points), of those with {} mean waits above 0 and below {:g} "
        "real ms, "
        "of which relative errors say nothing.\n",
        page.typical->seed, kPaperSeeds, page.typical->distance, page.typical->faint_waits == 0 ? "no" : "the fewest",
        kFaintWait * 1000);
  text += w.profile.empty() ? "Jobs run `phases`, which takes launching and ending off its own work "
                              "([emulation.md](../emulation.md)).\n\n"
                            : "The model's times are whole seconds, so its jobs are made ten times as long; each runs "
                              "the benchmark of the profile that is nearest in size\nand in a tenth of the run time, "
                              "and submit times are scaled so that the load holds.\n\n";
  if (!page.results.empty()) {
    std::string first = page.results[0].started, last = page.results[0].ended;
    std::set<std::string> versions;
    for (const CellResult& result : page.results) {
      first = std::min(first, result.started);
      last = std::max(last, result.ended);
      versions.insert(result.version);
    }
    text += fmt::format("{} of {} cells, run from {} to {}, version {}.", page.results.size(),
                        page.results.size() + page.missing.size(), first, last, fmt::join(versions, ", "));
  }
  if (!page.missing.empty()) text += fmt::format(" Not run yet: {}.", fmt::join(page.missing, ", "));
  const bool disturbed =
      std::ranges::any_of(page.results, [](const CellResult& result) { return result.disturbed.value_or(false); });
  if (disturbed) text += " * marks runs during which others used the machine.";
  for (const CellResult& result : page.results)
    if (result.real.failed > 0)
      text += fmt::format("\n\n! {}: {} of {} jobs failed, or were killed, in the real run; they are in the means.",
                          result.cell, result.real.failed, result.real.jobs);
  return text + "\n\n";
}

}  // namespace

std::string to_markdown(const ValidationPage& page) {
  std::string text = "# The simulator beside real runs\n\n";
  text += "<!-- written by the command below; edits are lost -->\n\n" + about(page);
  text += fmt::format("## Errors\n\nMean relative error over all figures: **{}**; aim: {:g} %. The paper: {:g} %.\n\n",
                      mean_error_text(pairs_of(page.results)), page.aim_percent, kPaperMeanError);
  text += errors_table(page) +
          "\nP is the simulator with the submit instants and run times that the real run measured: S - P is what the "
          "run-time model gets\nwrong, P - R what the real body adds, the policy's timing. The mean is over the "
          "sizes of (S - R) / R: the one definition that gives the\npaper's 7 % on its own table. A mean wait of at "
          "most a real millisecond is nothing: where both have none, or R has, there is no "
          "relative error.\n\n";
  for (const std::string_view arrivals : kPaperArrivals) {
    const auto results = of_arrivals(page.results, arrivals);
    if (!results.empty()) text += fmt::format("## Table 1, {} arrivals\n\n{}\n", arrivals, our_table(results));
  }
  text += "## Table 1 of the paper\n\n" + paper_table() + '\n';
  text += fmt::format("## Figures beyond {:g} %\n\n{}\n", page.aim_percent, misses_text(page));
  text += fmt::format(
      "## Gains over EASY\n\nThe paper's gains of FCFS-malleable, over logs of the archive: {:g} % in response, {:g} % "
      "in "
      "slowdown. Negative is better.\n\n{}\n{}",
      kPaperResponseGain, kPaperSlowdownGain, gains_table(page), without_gain(page));
  if (!page.seeds.empty())
    text += fmt::format(
        "## The simulator over {} seeds\n\nMeans, and the difference to EASY seed by seed with its 95 % "
        "confidence interval.\n\n{}\n",
        kPaperSeeds, seeds_table(page));
  text += "## Where simulator and real run part\n\n";
  for (const CellResult& result : page.results)
    text += fmt::format(
        "- {}: {}\n", result.cell,
        result.divergence ? *result.divergence : fmt::format("They decide the same, to {:g} s.", result.tolerance_s));
  return text;
}

}  // namespace replay::validate
