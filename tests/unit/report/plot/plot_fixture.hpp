// Event logs made by hand, for tests of figures.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/report/plot/figure.hpp"
#include "tests/support/shell.hpp"

namespace replay::test {

class Plots : public testing::Test {
 protected:
  /// A log of a run of `policy`, in a folder of its own.
  std::filesystem::path log(const std::string& policy, const std::string& machine, const std::string& records) {
    const std::filesystem::path folder = folder_ / policy.substr(0, policy.find(':'));
    std::filesystem::create_directories(folder);
    write_text(folder / "events.log",
               "#replay-events 1\n#body sim\n#machine " + machine + "\n#policy " + policy + "\n#seed 1\n" + records);
    return folder / "events.log";
  }
  /// The figure without the outlines of its characters, [words] where a text is, and without the lines of hatches.
  static std::string drawn(const std::vector<std::filesystem::path>& logs, const report::FigureOptions& options) {
    std::string svg = report::figure_of(logs, options, "a.svg");
    svg = std::regex_replace(svg, std::regex("<path id=\"c[^>]*>\n"), "");
    svg = std::regex_replace(svg, std::regex("(<use[^>]*>)+"), "");
    svg = std::regex_replace(svg, std::regex("<path [^>]*stroke-width=\"0.35\" d=\"[^>]*>"), "[hatch]");
    return std::regex_replace(svg, std::regex("<g aria-label=\"([^\"]*)\"[^>]*translate\\(([^)]*)\\)[^>]*></g>"),
                              "[$1] $2");
  }
  TemporaryFolder folder_;
};

/// Two cores: job 1 on both from 0 s, shrunk to core 0 from 2 s to 6 s while job 2 has core 1, until 8 s.
inline constexpr const char* kShrunkRun =
    "0 submit job=1 processes=2 estimate=16 runtime=8 flexibility=malleable\n"
    "0 start job=1 cores=2 mpl=1 on=0-1:1\n"
    "0 launch job=1 cores=2 mpl=1 on=0-1:1\n"
    "1 submit job=2 processes=1 estimate=8 runtime=4 flexibility=rigid\n"
    "2 resize job=1 cores=1 mpl=2 on=0:2\n"
    "2 start job=2 cores=1 mpl=1 on=1:1\n"
    "2 resized job=1 cores=1 mpl=2 on=0:2\n"
    "2 launch job=2 cores=1 mpl=1 on=1:1\n"
    "6 finish job=2 outcome=completed\n"
    "6 resize job=1 cores=2 mpl=1 on=0-1:1\n"
    "6 resized job=1 cores=2 mpl=1 on=0-1:1\n"
    "8 finish job=1 outcome=completed\n";

}  // namespace replay::test
