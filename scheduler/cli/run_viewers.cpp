#include "scheduler/cli/run_viewers.hpp"

#include <csignal>

namespace replay::cli {

std::string RunViewers::open_page(const std::optional<std::uint16_t>& port, const std::string& title) {
  return port ? page_.emplace(*port, title).url() : "";
}

void RunViewers::tell_address(const std::filesystem::path& file) {
  if (page_) address_.emplace(out_, page_->url(), file);
}

experiment::Viewers RunViewers::begin_run(const std::filesystem::path& folder, const std::optional<std::size_t>& jobs) {
  using Mode = report::LiveView::Mode;
  report::LiveViewOptions options;
  options.quit = [] { static_cast<void>(::raise(SIGINT)); };  // as Ctrl-C does
  if (page_) {
    options.address = "live page: " + page_->url();
    page_->begin_run(folder / "events.log");
  }
  view_.emplace(out_, is_plain_ ? Mode::kPlain : Mode::kAuto, jobs, std::move(options));
  experiment::Viewers viewers{.sinks = {&*view_}};
  if (page_) viewers.sinks.push_back(&*page_);
  viewers.tick = [this](Instant now) {
    view_->draw(now);
    if (page_) page_->tick(now);
  };
  viewers.written = [this] {
    if (page_) page_->end_run();
    view_->finish();  // after the files: it may wait for its reader
  };
  return viewers;
}

void RunViewers::finish(std::string_view text) {
  if (page_) page_->finish(text);
}

}  // namespace replay::cli
