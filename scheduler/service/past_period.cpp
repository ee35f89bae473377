#include "scheduler/service/past_period.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/history/follower.hpp"
#include "scheduler/results/output_names.hpp"
#include "scheduler/service/board.hpp"

namespace replay::service {
namespace {

namespace fs = std::filesystem;

class LastJob final : public history::Observer {
 public:
  void on_submit(Instant /*at*/, const history::JobState& job) override { note(replay::number(job.id)); }
  void note(std::int64_t job) {
    if (job <= kLargestJob) number = std::max(number, job);
  }
  std::int64_t number = 0;
};

}  // namespace

fs::path log_of(const fs::path& run) {
  std::error_code error;
  fs::path before = run / results::kLogBefore;
  return fs::exists(before, error) ? before : run / results::file_of("events");
}

fs::path newest_event_log(const ServiceFolder& folder) {
  fs::path newest;
  fs::file_time_type written = fs::file_time_type::min();
  std::error_code error;
  for (const auto& run : fs::directory_iterator(folder.runs(), error)) {
    const fs::path log = log_of(run.path());
    const auto at = fs::last_write_time(log, error);
    if (!error && at > written) newest = log, written = at;
  }
  return newest;
}

PastPeriod read_past_period(const ServiceFolder& folder) {
  PastPeriod past;
  Board board;
  LastJob last;
  if (const fs::path log = newest_event_log(folder); !log.empty()) {
    try {
      (void)history::follow(log, {&board, &last});
    } catch (const InputError& error) {
      past.unreadable_log = error.what();
    }
  }
  past.left = board.take_left();
  std::error_code error;
  for (const auto& job : fs::directory_iterator(folder.jobs(), error))
    if (const auto id = parse_number<std::int64_t>(job.path().filename().string())) last.note(*id);
  past.last_job = last.number;
  return past;
}

}  // namespace replay::service
