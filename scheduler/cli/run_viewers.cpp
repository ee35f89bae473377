#include "scheduler/cli/run_viewers.hpp"

#include <csignal>

namespace replay::cli {
namespace {

report::LiveViewOptions options_for(const report::LivePage* page) {
  report::LiveViewOptions options;
  if (page != nullptr) options.address = "live page: " + page->url();
  options.quit = [] { static_cast<void>(::raise(SIGINT)); };  // as Ctrl-C does
  return options;
}

}  // namespace

RunViewers::RunViewers(std::FILE* out, bool is_plain, std::optional<std::size_t> jobs, report::LivePage* page,
                       const std::filesystem::path& folder)
    : view_(out, is_plain ? report::LiveView::Mode::kPlain : report::LiveView::Mode::kAuto, jobs, options_for(page)),
      page_(page) {
  if (page_ != nullptr) page_->begin_run(folder / "events.log");
}

experiment::Viewers RunViewers::viewers() {
  experiment::Viewers viewers{.sinks = {&view_}};
  if (page_ != nullptr) viewers.sinks.push_back(page_);
  viewers.tick = [this](Instant now) {
    view_.draw(now);
    if (page_ != nullptr) page_->tick(now);
  };
  viewers.written = [this] {
    if (page_ != nullptr) page_->end_run();
    view_.finish();  // after the files: it may wait for its reader
  };
  return viewers;
}

}  // namespace replay::cli
