#include "scheduler/report/terminal/live_view.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "scheduler/base/text/clean_text.hpp"

namespace replay::report {
namespace {

constexpr std::size_t kPipeAtOnce = 4096;  // a pipe that poll() reports as writable takes at least this
constexpr std::size_t kFarewellEvents = 5;
constexpr char kControlL = '\f';

}  // namespace

LiveView::LiveView(std::FILE* out, Mode mode, std::optional<std::size_t> jobs, LiveViewOptions options)
    : descriptor_(::fileno(out)),
      abilities_(options.abilities ? *options.abilities : terminal::abilities_of(descriptor_)),
      pictures_(mode == Mode::kTerminal || (mode == Mode::kAuto && abilities_.has_pictures)),
      options_(std::move(options)),
      painter_(abilities_.colours) {
  std::fflush(out);  // the view writes to the descriptor directly
  choice_.all_jobs = jobs;
  choice_.utf8 = abilities_.has_utf8;
  if (pictures_ && ::isatty(descriptor_) == 1) terminal_.emplace(descriptor_);
  choice_.has_keys = terminal_ && terminal_->has_keys();
  choice_.is_watching = options_.is_watching;
}

LiveView::~LiveView() { finish(); }

void LiveView::header(const log::Header& header) { watcher_.follower().header(header); }

void LiveView::record(const log::Record& record) {
  const std::size_t told = run().told();
  watcher_.follower().record(record);
  if (run().told() == told) return;
  const WatchedRun::Event& event = run().events().back();
  if (!pictures_) {
    push(event.text + '\n');
    drain(false);
  } else if (event.is_bad) {
    bad_events_.push_back(event);
    if (bad_events_.size() > kFarewellEvents) bad_events_.pop_front();
  }
}

void LiveView::draw(Instant now) {
  watcher_.advance(now);
  if (finished_ || !pictures_) return drain(false);
  if (terminal_) {
    const terminal::BorrowedTerminal::Place place = terminal_->take();
    if (place == terminal::BorrowedTerminal::Place::kAway) return;
    if (place != terminal::BorrowedTerminal::Place::kOurs) {
      waiting_bytes_.clear();  // of a picture that was cut off
      painter_.forget();
      is_stale_ = true;
      push(place == terminal::BorrowedTerminal::Place::kAnew ? terminal::kEnter : terminal::kHideCursor);
    }
    obey_keys();
  } else if (!std::exchange(has_entered_, true)) {
    push(terminal::kEnter);
  }
  drain(false);
  const auto clock = std::chrono::steady_clock::now();
  if (drawn_at_ && clock - *drawn_at_ < options_.shortest_wait) return;
  const terminal::Size size = options_.size ? *options_.size : terminal::size_of(descriptor_);
  if (size != terminal::Size{choice_.columns, choice_.rows}) is_stale_ = true;
  if (!waiting_bytes_.empty() || (frozen_ && !is_stale_)) return;
  drawn_at_ = clock;
  draw_now(size);
}

void LiveView::draw_now(terminal::Size size) {
  is_stale_ = false;
  choice_.columns = size.columns;
  choice_.rows = size.rows;
  choice_.notice = notice();
  choice_.address = options_.address;
  const RunFrame picture = run_frame(frozen_ ? *frozen_ : run(), choice_);
  map_rows_ = picture.map_rows;
  most_scroll_ = picture.most_scroll;
  choice_.scroll = std::clamp(choice_.scroll, 0, most_scroll_);
  push(painter_.paint(picture.frame));
  drain(false);
}

std::string LiveView::notice() const {
  if (quit_ == Quit::kAsked) return "end the run? q: yes, other keys: no";
  if (frozen_) return "paused, the run goes on; p: show it";
  if (quit_ == Quit::kYes) return "run is being ended; Ctrl-C kills jobs";
  return is_untouched_ ? options_.address : "";
}

// ---- Keys ----

void LiveView::obey_keys() {
  for (const terminal::Key key : keys_.read(terminal_->typed())) press(key);
}

void LiveView::press(terminal::Key key) {
  using Kind = terminal::Key::Kind;
  is_stale_ = true;
  is_untouched_ = false;
  if (quit_ == Quit::kAsked) return answer(key.kind == Kind::kCharacter ? key.character : '\0');
  const int page = std::max(1, map_rows_);
  switch (key.kind) {
    case Kind::kUp: return scroll_to(choice_.scroll - 1);
    case Kind::kDown: return scroll_to(choice_.scroll + 1);
    case Kind::kPageUp: return scroll_to(choice_.scroll - page);
    case Kind::kPageDown: return scroll_to(choice_.scroll + page);
    case Kind::kHome: return scroll_to(0);
    case Kind::kEnd: return scroll_to(most_scroll_);
    case Kind::kEscape: choice_.has_help = false; return;
    case Kind::kCharacter: return press_letter(key.character);
  }
}

void LiveView::press_letter(char letter) {
  switch (letter) {
    case 'f':
      if (run().machine()) choice_.fold = next_fold(*run().machine(), choice_.fold);
      choice_.scroll = 0;
      return;
    case 'p':
    case ' ':
      if (frozen_)
        frozen_.reset();
      else
        frozen_ = run();
      return;
    case '?':
    case 'h': choice_.has_help = !choice_.has_help; return;
    case 'q':
      if (choice_.has_help)
        choice_.has_help = false;
      else if (options_.is_watching)
        options_.quit();
      else if (options_.quit && quit_ == Quit::kNo)
        quit_ = Quit::kAsked;
      return;
    case kControlL: painter_.forget(); return;
    default: return;
  }
}

void LiveView::answer(char letter) {
  const bool is_yes = letter == 'q' || letter == 'y';
  quit_ = is_yes ? Quit::kYes : Quit::kNo;
  if (!is_yes) return;
  frozen_.reset();
  options_.quit();
}

void LiveView::scroll_to(int row) { choice_.scroll = std::clamp(row, 0, most_scroll_); }

// ---- The end ----

void LiveView::finish() {
  if (std::exchange(finished_, true)) return;
  if (pictures_) {
    waiting_bytes_.clear();  // of a picture that would not be seen
    if (terminal_) {
      terminal_->leave();
      terminal_.reset();
    } else if (has_entered_) {
      push(terminal::kLeave);
    }
    push_farewell();
  }
  drain(true);
}

void LiveView::push_farewell() {
  push(fmt::format("{}, {:.1f} s, jobs: {}\n", run().short_title(), seconds(run().now()),
                   progress_text(run(), choice_.all_jobs)));
  for (const WatchedRun::Event& event : bad_events_) push(event.text + '\n');
}

// ---- Bytes ----

void LiveView::push(std::string_view text) { waiting_bytes_ += text; }

// Writes what the output takes now, or everything if it may block. On a write error, such as a closed pipe, the rest is
// dropped: that is no reason to end the run.
void LiveView::drain(bool may_block) {
  std::size_t written = 0;
  while (written < waiting_bytes_.size() && (!terminal_ || terminal_->is_ours())) {
    pollfd ready{output(), POLLOUT, 0};
    const int found = ::poll(&ready, 1, may_block ? -1 : 0);
    if (found < 0 && errno == EINTR) continue;
    if (found == 0) break;
    const std::size_t piece = std::min(kPipeAtOnce, waiting_bytes_.size() - written);
    const ssize_t taken = ::write(output(), waiting_bytes_.data() + written, piece);
    if (taken >= 0)
      written += static_cast<std::size_t>(taken);
    else if (errno == EAGAIN && !may_block)
      break;
    else if (errno != EINTR && errno != EAGAIN)
      written = waiting_bytes_.size();
  }
  waiting_bytes_.erase(0, written);
}

}  // namespace replay::report
