#include "scheduler/calibrate/program/output.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "scheduler/base/json/write_json.hpp"
#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/base/text/clean_text.hpp"

namespace replay::calibrate {
namespace fs = std::filesystem;
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{20};

}  // namespace

ProgramTerminal::ProgramTerminal(event_base* loop, const fs::path& folder, int out, ProgramRun& run)
    : loop_(loop),
      run_(run),
      out_(folder / "stdout", out),
      err_(folder / "stderr", STDERR_FILENO),
      look_event_(loop, -1, EV_PERSIST, [this] { pass_on(); }),
      stop_event_(loop, stop_descriptor(), EV_READ | EV_PERSIST, [this] { heed_stops(); }) {
  look_event_.arm_after(kBetweenLooks);
  stop_event_.arm();
}

void ProgramTerminal::pass_on() {
  const bool is_out_read = out_.pass_on();
  const bool is_err_read = err_.pass_on();
  if (is_out_read && is_err_read) return;
  if (!std::exchange(is_unread_, true)) run_.end();
}

void ProgramTerminal::heed_stops() {
  constexpr int kMostOrders = 2;  // the second order to end is SIGKILL
  clear_stop_descriptor();
  for (; stops_heeded_ < std::min(stops_asked(), kMostOrders); ++stops_heeded_) run_.end();
  if (stops_asked() > kMostOrders) event_base_loopbreak(loop_);
}

ReportOutput::ReportOutput(const std::string& file, bool is_json) : is_json_(is_json) {
  if (!file.empty()) file_.emplace(file);
}

int ReportOutput::program_output() const { return is_json_ && !file_ ? STDERR_FILENO : STDOUT_FILENO; }

void ReportOutput::write(const ProgramSettings& settings, const ProgramHistory& history) {
  const std::string text =
      is_json_ ? json_text(report_json(settings, history)) : clean_lines(report_text(settings, history));
  if (file_) {
    file_->write(text);
    return file_->finish();
  }
  std::FILE* const to = is_json_ ? stdout : stderr;
  if (std::fputs(text.c_str(), to) < 0 || std::fflush(to) != 0)
    throw std::system_error(errno, std::generic_category(), "the report cannot be written");
}

}  // namespace replay::calibrate
