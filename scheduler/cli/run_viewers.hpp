// What the user sees of a real run while it goes on: the live view on a terminal, and the live page where one is open.
#pragma once

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "scheduler/experiment/run.hpp"
#include "scheduler/report/live/live_page.hpp"
#include "scheduler/report/terminal/live_view.hpp"

namespace replay::cli {

class RunViewers {
 public:
  /// `jobs`: how many will come, if that is known. `page`: null where there is none; follows the event log in `folder`.
  RunViewers(std::FILE* out, bool is_plain, std::optional<std::size_t> jobs, report::LivePage* page,
             const std::filesystem::path& folder);

  /// For the run; this must outlive it.
  [[nodiscard]] experiment::Viewers viewers();

 private:
  report::LiveView view_;
  report::LivePage* page_;
};

}  // namespace replay::cli
