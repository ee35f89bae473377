// The page of one run or of several: one HTML file that needs no other file and no network.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/base/file/byte_sink.hpp"
#include "scheduler/report/page/run_data.hpp"

namespace replay::report {

/// Where a run parts from another one, in the words of `replay diff`, and what that does to its jobs.
struct PageDifference {
  std::size_t run = 0, against = 0;
  double tolerance = 0;   ///< seconds
  bool parts = false;     ///< a decision differs; else what follows is not set
  double at = 0;          ///< seconds
  std::int32_t job = -1;  ///< row in `run`
  std::string first{};    ///< what the two, A and B, decide there
  std::string text{};     ///< all of it, several lines
  std::vector<std::string> remarks{};
  std::vector<std::int32_t> jobs{};       ///< rows in `run` of jobs that start or end otherwise
  std::vector<double> wait_difference{};  ///< theirs, seconds: in `run` less in `against`; NaN: one of them has none
};

/// Writes the page. Throws InputError when `out` does.
void write_page(ByteSink& out, std::string_view title, std::span<const RunData> runs,
                std::span<const PageDifference> differences);

/// The page of a run that goes on: without data of runs; it gets them from `events`, a path on the server that it came from.
[[nodiscard]] std::string live_page(std::string_view title, std::string_view events);

}  // namespace replay::report
