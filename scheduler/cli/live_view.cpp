#include "scheduler/cli/live_view.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <variant>

#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/model/allocation.hpp"
#include "scheduler/model/event.hpp"

namespace replay::cli {
namespace {

constexpr std::string_view kSymbols = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::size_t kEventLines = 5;
constexpr std::size_t kNamedInALine = 8;   // jobs
constexpr std::size_t kCellWidth = 3;      // letter, level, blank
constexpr std::size_t kPipeAtOnce = 4096;  // a pipe that poll() reports as writable takes at least this
constexpr std::string_view kHideCursor = "\x1b[?25l";
constexpr std::string_view kShowCursor = "\x1b[?25h";

// Cut to `width` characters; those of UTF-8 count as one, and are never cut in two.
std::size_t clip(std::string& text, std::size_t width) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) == 0x80) continue;
    if (characters == width) {
      text.resize(i);
      break;
    }
    ++characters;
  }
  return characters;
}

std::string cores_in_brackets(const Allocation& allocation) {
  if (allocation.named.empty()) return "";
  return fmt::format(" ({} {})", noun_for(allocation.named.size(), "core"), cores_text(allocation));
}

std::string on_cores(const Allocation& allocation) {
  return counted(allocation.cores, "core") + cores_in_brackets(allocation);
}

std::string ending(const JobEnd& end) {
  std::string text{to_text(end.outcome)};
  if (end.exit_code != 0) text += fmt::format(", exit code {}", end.exit_code);
  if (end.verification == Verification::kFailed) text += ", verification failed";
  if (!end.reason.empty()) text += ": " + end.reason;
  return text;
}

bool is_bad(const JobEnd& end) { return end.outcome == Outcome::kFailed || end.verification == Verification::kFailed; }

}  // namespace

struct LiveView::OnRecord {
  LiveView& view;
  Instant at;

  void operator()(const log::Submitted& what) const {
    LiveJob& job = view.jobs_[number(what.job.id)];
    job.processes = what.job.processes;
    job.submitted = at;
    job.turn = view.next_turn_++;
    view.waiting_.emplace(job.turn, what.job.id);
  }
  void operator()(const log::Launched& what) const {
    LiveJob* job = view.find(what.job);
    if (job == nullptr) return;
    view.waiting_.erase(job->turn);
    job->turn = view.next_turn_++;
    view.on_cores_.emplace(job->turn, what.job);
    job->state = State::kRunning;
    job->launched = at;
    job->cores = what.allocation.cores;
    job->mpl = what.allocation.mpl;
    job->processes = processes_on(what.allocation, job->processes);
    take_symbol(*job);
    const std::string shrunk =
        what.allocation.is_expanded() ? "" : fmt::format(", shrunk: {} processes", job->processes);
    view.tell(at, fmt::format("job {} started on {}{}", number(what.job), on_cores(what.allocation), shrunk));
  }
  void operator()(const log::RanksSeen& what) const {
    if (!what.malleable) view.tell(at, fmt::format("job {} is rigid: {}", number(what.job), what.reason));
  }
  void operator()(const log::ResizeDone& what) const {
    LiveJob* job = view.find(what.job);
    if (job == nullptr) return;
    const CoreCount before = std::exchange(job->cores, what.allocation.cores);
    job->mpl = what.allocation.mpl;
    if (before == job->cores)
      view.tell(at, fmt::format("job {} moved, {}", number(what.job), on_cores(what.allocation)));
    else
      view.tell(at, fmt::format("job {} {} {} -> {}", number(what.job), job->cores < before ? "shrunk" : "expanded",
                                before, on_cores(what.allocation)));
  }
  void operator()(const log::SuspendDone& what) const {
    if (LiveJob* job = view.find(what.job)) job->state = State::kSuspended;
    view.tell(at, fmt::format("job {} suspended", number(what.job)));
  }
  void operator()(const log::ResumeDone& what) const {
    if (LiveJob* job = view.find(what.job)) job->state = State::kRunning;
    view.tell(at, fmt::format("job {} resumed", number(what.job)));
  }
  void operator()(const log::Extended& what) const {
    view.tell(at, fmt::format("job {} may run on: estimate {} s", number(what.job), to_text(what.estimate)));
  }
  void operator()(const log::Finished& what) const {
    LiveJob* job = view.find(what.job);
    ++view.done_;
    if (is_bad(what.end)) ++view.bad_;
    if (job == nullptr) return;
    if (job->state == State::kWaiting) {
      view.waiting_.erase(job->turn);
      view.tell(at, fmt::format("job {} {}, never started", number(what.job), ending(what.end)));
    } else {
      view.on_cores_.erase(job->turn);
      if (job->symbol >= 0) view.symbols_taken_[static_cast<std::size_t>(job->symbol)] = false;
      view.tell(at,
                fmt::format("job {} ended after {:.1f} s (waited {:.1f} s): {}", number(what.job),
                            seconds(at - job->launched), seconds(job->launched - job->submitted), ending(what.end)));
    }
    view.jobs_.erase(number(what.job));
    view.names_.forget(what.job);
  }
  void operator()(const log::Failed& what) const {
    view.tell(at, fmt::format("job {}: {} failed: {}", number(what.job), what.action, what.reason));
  }
  void operator()(const log::Note& what) const { view.tell(at, what.text); }
  // Decisions are not shown; their results are, when they occur.
  template <class Other>
  void operator()(const Other& /*what*/) const {}

 private:
  void take_symbol(LiveJob& job) const {
    const auto free = std::ranges::find(view.symbols_taken_, false);
    if (free == view.symbols_taken_.end()) return;
    *free = true;
    job.symbol = static_cast<int>(free - view.symbols_taken_.begin());
  }
};

LiveView::LiveView(std::FILE* out, Mode mode, std::size_t jobs, LiveViewOptions options)
    : out_(out),
      descriptor_(::fileno(out)),
      pictures_(mode == Mode::kTerminal || (mode == Mode::kAuto && ::isatty(descriptor_) == 1)),
      colour_(options.colour.value_or(std::getenv("NO_COLOR") == nullptr)),
      all_jobs_(jobs),
      options_(options),
      symbols_taken_(kSymbols.size(), false) {
  std::fflush(out_);  // the view writes to the descriptor directly
}

LiveView::~LiveView() { finish(); }

void LiveView::header(const log::Header& header) {
  title_ = fmt::format("{} on {}", header.value("policy"), header.value("machine"));
  machine_ = Machine::parse(header.value("machine"));
  names_.header(header);
}

void LiveView::record(const log::Record& record) {
  now_ = record.at;
  names_.record(record);
  std::visit(OnRecord{*this, record.at}, record.what);
}

void LiveView::draw(Instant now) {
  now_ = std::max(now_, now);
  drain(false);
  if (!pictures_ || finished_ || !waiting_bytes_.empty()) return;
  const auto clock = std::chrono::steady_clock::now();
  if (drawn_at_ && clock - *drawn_at_ < options_.shortest_wait) return;
  drawn_at_ = clock;
  draw_now();
}

void LiveView::finish() {
  if (finished_) return;
  finished_ = true;
  if (pictures_) {
    draw_now();
    push(kShowCursor);
  }
  drain(true);
}

LiveView::LiveJob* LiveView::find(JobId job) {
  const auto found = jobs_.find(number(job));
  return found == jobs_.end() ? nullptr : &found->second;
}

void LiveView::tell(Instant at, std::string_view event) {
  std::string line = clean_line(fmt::format("[{:8.1f} s] {}", seconds(at), event));
  if (pictures_) {
    events_.push_back(std::move(line));
    if (events_.size() > kEventLines) events_.pop_front();
  } else {
    push(line + '\n');
    drain(false);
  }
}

// ---- The picture ----

// Goes back to the first line of the last picture and writes over it. Lines of the last picture that a narrower window
// has wrapped take more rows now.
void LiveView::draw_now() {
  const auto [columns, rows] = terminal_size();
  const auto width = static_cast<std::size_t>(columns);
  std::size_t up = 0;
  for (const std::size_t drawn : drawn_widths_) up += std::max<std::size_t>(1, (drawn + width - 1) / width);
  up = std::min(up, static_cast<std::size_t>(rows) - 1);
  std::string frame{kHideCursor};
  if (up > 0) frame += fmt::format("\x1b[{}A\r", up);
  drawn_widths_.clear();
  for (const TextLine& line : picture(width, static_cast<std::size_t>(rows))) {
    frame += line.text + "\x1b[K\n";
    drawn_widths_.push_back(line.width);
  }
  frame += "\x1b[J";
  push(frame);
  drain(false);
}

// At most rows - 1 lines, none wider than columns - 1: nothing scrolls and nothing wraps.
std::vector<LiveView::TextLine> LiveView::picture(std::size_t columns, std::size_t rows) const {
  std::vector<TextLine> lines;
  const auto add = [&lines, columns](std::string text) {
    const std::size_t width = clip(text, columns - 1);
    lines.push_back({std::move(text), width});
  };
  add(clock_line());
  add(progress_line(columns));
  add(queue_line());
  add(running_line());
  const std::size_t reserved = lines.size() + events_.size() + 1;
  if (machine_ && rows > reserved) add_core_map(lines, columns, rows - reserved);
  for (const std::string& event : events_)
    if (lines.size() + 1 < rows) add(event);
  return lines;
}

std::string LiveView::clock_line() const { return fmt::format("{}   {:.1f} s", title_, seconds(now_)); }

std::string LiveView::progress_line(std::size_t columns) const {
  const std::size_t suspended = static_cast<std::size_t>(std::ranges::count_if(
      on_cores_, [this](const auto& turn) { return jobs_.at(number(turn.second)).state == State::kSuspended; }));
  std::string text = fmt::format("{} of {} jobs done, {} running, {} waiting", done_, all_jobs_,
                                 on_cores_.size() - suspended, waiting_.size());
  if (suspended > 0) text += fmt::format(", {} suspended", suspended);
  if (bad_ > 0) text += fmt::format(", {} failed", bad_);
  constexpr std::size_t kBar = 20;
  if (all_jobs_ > 0 && text.size() + kBar + 4 < columns) {
    const std::size_t full = std::min(kBar, done_ * kBar / all_jobs_);
    text = fmt::format("[{}{}] {}", std::string(full, '#'), std::string(kBar - full, '.'), text);
  }
  return text;
}

std::string LiveView::queue_line() const {
  if (waiting_.empty()) return "queue: empty";
  std::string text = "queue:";
  std::size_t named = 0;
  for (const auto& [turn, job] : waiting_) {
    if (named++ == kNamedInALine) break;
    text += fmt::format("{} job {} ({})", named == 1 ? "" : ",", number(job), jobs_.at(number(job)).processes);
  }
  if (waiting_.size() > kNamedInALine) text += fmt::format(" and {} more", waiting_.size() - kNamedInALine);
  return text;
}

std::string LiveView::running_line() const {
  if (on_cores_.empty()) return "running: nothing";
  std::string text = "running:";
  std::size_t named = 0;
  for (const auto& [turn, id] : on_cores_) {
    if (named++ == kNamedInALine) break;
    const LiveJob& job = jobs_.at(number(id));
    const char symbol = job.symbol < 0 ? '#' : kSymbols[static_cast<std::size_t>(job.symbol)];
    text += fmt::format("{} {}=job {} ({}", named == 1 ? "" : ",", symbol, number(id), job.processes);
    if (job.state == State::kSuspended)
      text += " suspended";
    else if (job.mpl > 1)
      text += fmt::format(" on {}", job.cores);
    text += ')';
  }
  if (on_cores_.size() > kNamedInALine) text += fmt::format(" and {} more", on_cores_.size() - kNamedInALine);
  return text;
}

namespace {

struct Cell {
  char symbol = '.';
  char level = ' ';
  int colour = 0;  // 0: none
};

// `B2`: the letter of the job, and its multiprogramming level if it is shrunk. `&`: jobs share the core.
void put_cell(std::string& text, const Cell& cell, bool colour) {
  if (colour && cell.colour != 0)
    text +=
        fmt::format("\x1b[{}{}m{}{}\x1b[0m ", cell.level == ' ' ? "" : "7;", 30 + cell.colour, cell.symbol, cell.level);
  else
    text += {cell.symbol, cell.level, ' '};
}

}  // namespace

void LiveView::add_core_map(std::vector<TextLine>& lines, std::size_t columns, std::size_t most_lines) const {
  const auto cores = static_cast<std::size_t>(machine_->size());
  const auto per_node = static_cast<std::size_t>(machine_->cores_per_node());
  const std::size_t nodes = cores / per_node;
  const std::string name = machine_->names_cores() ? "node" : "pool";
  const std::size_t label = name.size() + 1 + (nodes > 1 ? fmt::formatted_size("{}", nodes - 1) : 1) + 2;
  const std::size_t in_a_line =
      std::max<std::size_t>(1, columns > label + kCellWidth ? (columns - label) / kCellWidth : 1);
  const std::size_t lines_per_node = (per_node + in_a_line - 1) / in_a_line;
  const std::size_t all_lines = nodes * lines_per_node;
  const std::size_t shown_lines = all_lines <= most_lines ? all_lines : most_lines - 1;
  const std::size_t shown_cores =
      std::min(cores, shown_lines / lines_per_node * per_node + shown_lines % lines_per_node * in_a_line);

  std::vector<Cell> cells(shown_cores);
  std::size_t hidden_busy = 0;
  for (const auto& [turn, id] : on_cores_) {
    const LiveJob& job = jobs_.at(number(id));
    for (const CoreRange& range : names_.held(id)) {
      const std::size_t end = index_of(range.last) + 1;
      for (std::size_t core = index_of(range.first); core < std::min(end, shown_cores); ++core) {
        Cell& cell = cells[core];
        cell.level = cell.symbol != '.' ? '&'
                     : job.mpl == 1     ? ' '
                     : job.mpl < 10     ? static_cast<char>('0' + job.mpl)
                                        : '+';
        cell.symbol = job.symbol < 0 ? '#' : kSymbols[static_cast<std::size_t>(job.symbol)];
        cell.colour = job.symbol < 0 ? 0 : 1 + job.symbol % 6;
      }
      if (end > shown_cores) hidden_busy += end - std::max(shown_cores, index_of(range.first));
    }
  }

  for (std::size_t line = 0; line < shown_lines; ++line) {
    const std::size_t node = line / lines_per_node;
    const std::size_t part = line % lines_per_node;
    const std::size_t first = node * per_node + part * in_a_line;
    const std::size_t count = std::min(in_a_line, per_node - part * in_a_line);
    TextLine text{fmt::format("{:<{}}", part == 0 ? fmt::format("{} {}", name, node) : "", label), 0};
    for (std::size_t core = first; core < first + count; ++core) put_cell(text.text, cells[core], colour_);
    text.text.pop_back();
    text.width = label + count * kCellWidth - 1;
    lines.push_back(std::move(text));
  }
  if (shown_lines < all_lines) {
    std::string text = fmt::format("and {} more cores: {} busy", cores - shown_cores, hidden_busy);
    const std::size_t width = clip(text, columns - 1);
    lines.push_back({std::move(text), width});
  }
}

std::pair<int, int> LiveView::terminal_size() const {
  winsize size{};
  const bool known = ::ioctl(descriptor_, TIOCGWINSZ, &size) == 0;
  const auto choose = [known](int given, int asked, int otherwise) {
    return std::max(10, given > 0 ? given : known && asked > 0 ? asked : otherwise);
  };
  return {choose(options_.columns, size.ws_col, 80), choose(options_.rows, size.ws_row, 24)};
}

// ---- Bytes ----

void LiveView::push(std::string_view text) { waiting_bytes_ += text; }

// Writes what the output takes now, or everything if it may block. On a write error, such as a closed pipe, the rest is
// dropped: that is no reason to end the run.
void LiveView::drain(bool may_block) {
  std::size_t written = 0;
  while (written < waiting_bytes_.size()) {
    pollfd ready{descriptor_, POLLOUT, 0};
    const int found = ::poll(&ready, 1, may_block ? -1 : 0);
    if (found < 0 && errno == EINTR) continue;
    if (found == 0) break;
    const std::size_t piece = std::min(kPipeAtOnce, waiting_bytes_.size() - written);
    const ssize_t taken = ::write(descriptor_, waiting_bytes_.data() + written, piece);
    if (taken >= 0)
      written += static_cast<std::size_t>(taken);
    else if (errno == EAGAIN && !may_block)
      break;
    else if (errno != EINTR && errno != EAGAIN)
      written = waiting_bytes_.size();
  }
  waiting_bytes_.erase(0, written);
}

}  // namespace replay::cli
