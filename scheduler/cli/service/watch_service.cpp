#include "scheduler/cli/service/watch_service.hpp"

#include <fmt/core.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <optional>

#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/history/follower.hpp"
#include "scheduler/log/text.hpp"
#include "scheduler/report/terminal/live_view.hpp"
#include "scheduler/service/client.hpp"

namespace replay::cli {
namespace {

constexpr int kTick = 100;  // ms

// The time of the run, by the wall clock and the log's header; by its records where the header does not say.
class RunClock final : public history::Observer {
 public:
  void on_begin(const log::Header& header, const Machine& /*machine*/) override {
    zero_ = parse_number<double>(header.value("unix-start-time"));
  }
  void on_record(const log::Record& record, const history::JobState* /*job*/) override { last_ = record.at; }
  [[nodiscard]] log::Kinds records() const override { return log::Kinds{}.set(); }
  [[nodiscard]] Instant now() const {
    if (!zero_) return last_;
    const auto wall = std::chrono::system_clock::now().time_since_epoch();
    return std::max(last_, Instant{std::chrono::duration_cast<Duration>(wall) - from_seconds(*zero_)});
  }

 private:
  std::optional<double> zero_;  // of the run, unix time
  Instant last_{};
};

report::LiveViewOptions viewing(const service::ServiceStatus& service, bool& is_leaving) {
  report::LiveViewOptions options;
  if (service.page) options.address = "live page: " + *service.page;
  options.quit = [&is_leaving] { is_leaving = true; };
  options.is_watching = true;
  return options;
}

void wait_for_news(const service::Client& client) {
  std::array<pollfd, 2> news{{{client.descriptor(), POLLIN, 0}, {stop_descriptor(), POLLIN, 0}}};
  static_cast<void>(::poll(news.data(), news.size(), kTick));
}

}  // namespace

int watch_service(const service::ServiceFolder& folder, bool plain) {
  service::Client client{folder};
  const service::ServiceStatus service = client.get<service::Service>(service::ShowService{}).service;
  const HeedStops heeding;  // the terminal is given back first
  bool is_leaving = false, has_gone = false;
  RunClock clock;
  report::LiveView view{stdout, plain ? report::LiveView::Mode::kPlain : report::LiveView::Mode::kAuto, std::nullopt,
                        viewing(service, is_leaving)};
  history::Follower follower{{&clock}};
  log::Tee sinks{{&follower, &view}};
  log::TextFollower log{std::filesystem::path{service.run_folder} / "events.log", sinks};
  while (!is_leaving && stops_asked() == 0) {
    has_gone = client.has_service_gone();  // before the log is read: then it is read to its end
    while (log.read() && stops_asked() == 0) view.draw(clock.now());
    view.draw(clock.now());
    if (has_gone) break;
    wait_for_news(client);
  }
  view.finish();
  if (has_gone) fmt::print("the service at {} has ended\n", folder.path().string());
  return stops_asked() > 0 ? exit_status_after_stop() : 0;
}

}  // namespace replay::cli
