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

// The time of a run, by the wall clock and the log's header; by its records where the header does not say.
Instant now_of(const history::Follower& run) {
  const Instant last = run.now().value_or(Instant{});
  const auto zero = parse_number<double>(run.of_run().value("unix-start-time"));  // of the run, unix time
  if (!zero) return last;
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  return std::max(last, Instant{std::chrono::duration_cast<Duration>(wall) - from_seconds(*zero)});
}

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
  history::Follower run;
  report::LiveView view{stdout, plain ? report::LiveView::Mode::kPlain : report::LiveView::Mode::kAuto, std::nullopt,
                        viewing(service, is_leaving)};
  log::Tee sinks{{&run, &view}};
  log::TextFollower log{std::filesystem::path{service.run_folder} / "events.log", sinks};
  while (!is_leaving && stops_asked() == 0) {
    has_gone = client.has_service_gone();  // before the log is read: then it is read to its end
    while (log.read() && stops_asked() == 0) view.draw(now_of(run));
    view.draw(now_of(run));
    if (has_gone) break;
    wait_for_news(client);
  }
  view.finish();
  if (has_gone) fmt::print("the service at {} has ended\n", folder.path().string());
  return stops_asked() > 0 ? exit_status_after_stop() : 0;
}

}  // namespace replay::cli
