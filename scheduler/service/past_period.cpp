#include "scheduler/service/past_period.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/log/text.hpp"
#include "scheduler/service/board.hpp"

namespace replay::service {
namespace {

namespace fs = std::filesystem;

// The board of a service that has gone.
class PastBoard final : public log::Sink {
 public:
  void header(const log::Header& header) override { board_.header(header); }
  void record(const log::Record& record) override {
    if (const auto* const submitted = std::get_if<log::Submitted>(&record.what))
      last_job_ = std::max(last_job_, number(submitted->job.id));
    board_.record(record);
  }
  [[nodiscard]] log::Kinds kinds() const override { return board_.kinds(); }
  [[nodiscard]] std::int64_t last_job() const { return last_job_; }
  [[nodiscard]] std::vector<LeftJob> take_left() { return board_.take_left(); }

 private:
  Board board_;
  std::int64_t last_job_ = 0;
};

fs::path newest_log(const fs::path& runs) {
  fs::path newest;
  fs::file_time_type written = fs::file_time_type::min();
  std::error_code error;
  for (const auto& run : fs::directory_iterator(runs, error)) {
    const fs::path log = run.path() / "events.log";
    const auto at = fs::last_write_time(log, error);
    if (!error && at > written) newest = log, written = at;
  }
  return newest;
}

}  // namespace

PastPeriod read_past_period(const ServiceFolder& folder) {
  PastPeriod past;
  PastBoard board;
  if (const fs::path log = newest_log(folder.runs()); !log.empty()) {
    try {
      (void)log::read_text(log, board);
    } catch (const InputError& error) {
      past.unreadable_log = error.what();
    }
  }
  past.left = board.take_left();
  past.last_job = board.last_job();
  std::error_code error;
  for (const auto& job : fs::directory_iterator(folder.jobs(), error))
    if (const auto id = parse_number<std::int64_t>(job.path().filename().string()))
      past.last_job = std::max(past.last_job, *id);
  return past;
}

}  // namespace replay::service
