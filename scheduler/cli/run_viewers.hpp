// What the user sees of real runs while they go on: the live view on a terminal, and the live page where one is open.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>

#include "scheduler/experiment/run.hpp"
#include "scheduler/report/live/live_page.hpp"
#include "scheduler/report/live/live_page_address.hpp"
#include "scheduler/report/terminal/live_view.hpp"

namespace replay::cli {

class RunViewers {
 public:
  RunViewers(std::FILE* out, bool is_plain) : out_(out), is_plain_(is_plain) {}

  /// Opens the page at this port (0: any), if one is given, and returns its address. Throws InputError.
  std::string open_page(const std::optional<std::uint16_t>& port, const std::string& title);
  /// Tells the user the address of the page, if there is one: in `file` where `out` is no terminal. Until the last run is
  /// over.
  void tell_address(const std::filesystem::path& file);

  /// For the next run, into `folder`; this must outlive it. `jobs`: how many will come, if that is known.
  [[nodiscard]] experiment::Viewers begin_run(const std::filesystem::path& folder,
                                              const std::optional<std::size_t>& jobs);
  void forget_address() { address_.reset(); }
  /// No further run comes: what the page says then.
  void finish(std::string_view text);

 private:
  std::FILE* out_;
  bool is_plain_;
  std::optional<report::LivePage> page_;
  std::optional<report::LivePageAddress> address_;
  std::optional<report::LiveView> view_;
};

}  // namespace replay::cli
