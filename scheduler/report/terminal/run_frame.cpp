#include "scheduler/report/terminal/run_frame.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "scheduler/base/text/add_item.hpp"
#include "scheduler/base/text/counted_words.hpp"

namespace replay::report {
namespace {

using terminal::Frame;
using terminal::Style;

constexpr int kBarFromColumns = 40;  // narrower screens have no bars
constexpr int kNameColumns = 6;      // "cores "
constexpr std::array<char32_t, 7> kEighths = {U'▏', U'▎', U'▍', U'▌', U'▋', U'▊', U'▉'};
constexpr std::size_t kNamedGroups = 20;

constexpr std::string_view kHelpOfQuit = "q           end the run as Ctrl-C does, after one more q";
constexpr std::string_view kHelpOfLeave = "q           leave; the run goes on";
constexpr std::array<std::string_view, 6> kHelpOfKeys = {
    "f           fold: cores, packages, nodes, or what fits (auto)",
    "p, blank    pause the picture; the run goes on",
    "arrows, PgUp, PgDn, Home, End   scroll the map, if it is taller than its room",
    kHelpOfQuit,
    "Ctrl-L      draw again",
    "?, h        this help",
};
constexpr std::array<std::string_view, 6> kHelpOfCells = {
    "A   job A has the core             A2  with two processes on it (shrunk)",
    "AB  jobs A and B share it          &   the same, where cells are narrow",
    ".   idle, x its node is closed     #   a job when all letters are taken",
    "folded: the letter of the job that has most of the node or package, how",
    "        much of it is busy, and + beside other jobs",
    "(8 on 4)  8 processes on 4 cores   (8)  on as many cores as processes",
};

int bar_columns(int columns) {
  if (columns < kBarFromColumns) return 0;
  return columns < 60 ? 10 : std::min(40, columns * 3 / 16);
}

// Returns the column behind it.
int put_bar(Frame& frame, int row, int column, int width, double share, bool utf8) {
  if (width == 0) return column;
  const double full = std::clamp(share, 0.0, 1.0) * width;
  int eighths = static_cast<int>(full * 8 + 0.5);
  if (share > 0) eighths = std::max(eighths, 1);
  if (!utf8) frame.put(row, column++, U'[');
  for (int i = 0; i < width; ++i, eighths -= 8) {
    if (!utf8)
      frame.put(row, column++, eighths >= 4 ? U'#' : U'.');
    else if (eighths >= 8)
      frame.put(row, column++, U'█');
    else if (eighths > 0)
      frame.put(row, column++, kEighths[static_cast<std::size_t>(eighths - 1)]);
    else
      frame.put(row, column++, U'░', terminal::kDim);
  }
  if (!utf8) frame.put(row, column++, U']');
  return column + 1;
}

// As many of the parts, from the first one on, as have room; of the first one what has.
std::string fitting(const std::vector<std::string>& parts, std::string_view between, int columns) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty() && static_cast<int>(text.size() + between.size() + part.size()) > columns) break;
    add_item(text, between, "{}", part);
  }
  return text;
}

std::size_t count_suspended(const WatchedRun& run) {
  return static_cast<std::size_t>(std::ranges::count_if(run.launched(), [&run](const auto& entry) {
    return run.find(entry.second)->state == history::Phase::kSuspended;
  }));
}

std::vector<std::string> progress_parts(const WatchedRun& run, std::optional<std::size_t> all_jobs) {
  const std::size_t suspended = count_suspended(run);
  std::vector<std::string> parts{
      all_jobs ? fmt::format("{} of {} done", run.done(), *all_jobs) : fmt::format("{} done", run.done()),
      fmt::format("{} running", run.launched().size() - suspended), fmt::format("{} waiting", run.waiting().size())};
  if (run.lost() > 0) parts.insert(parts.begin() + 1, fmt::format("{} lost", run.lost()));
  if (run.failed() > 0) parts.insert(parts.begin() + 1, fmt::format("{} failed", run.failed()));
  if (suspended > 0) parts.push_back(fmt::format("{} suspended", suspended));
  return parts;
}

// Draws the parts from the top down and from the bottom up.
class Drawing {
 public:
  Drawing(const WatchedRun& run, const FrameChoice& choice)
      : run_(run), choice_(choice), frame_(choice.columns, choice.rows), end_(choice.rows) {}

  RunFrame draw() {
    if (end_ > 1 && (choice_.has_keys || !choice_.notice.empty())) --end_;  // for the last row
    draw_title();
    draw_progress();
    draw_cores();
    draw_queue();
    if (run_.has_sharing()) draw_sharing();
    if (choice_.has_help) {
      draw_help();
    } else {
      draw_map_and_jobs(events_room());
      draw_events();
    }
    if (end_ < choice_.rows) draw_last_row();
    if (!choice_.utf8) frame_.to_ascii();
    return {std::move(frame_), map_rows_, most_scroll_};
  }

 private:
  [[nodiscard]] int left() const { return end_ - top_; }
  // The rows below the map that are not for the map, whatever happens there: the map does not jump.
  [[nodiscard]] int jobs_room() const { return choice_.rows < 16 ? 1 : std::max(2, choice_.rows / 10); }
  [[nodiscard]] int events_room() const { return choice_.rows < 16 ? 1 : choice_.rows / 6; }

  void draw_last_row() {
    if (!choice_.notice.empty()) {
      frame_.put(end_, 0, choice_.notice, terminal::kAlert);
      return;
    }
    std::vector<std::string> keys{fmt::format("f fold: {}", name_of(choice_.fold)), "p pause", "q quit", "? help"};
    if (most_scroll_ > 0) keys.insert(keys.begin(), "arrows scroll");
    frame_.put(end_, 0, fitting(keys, "  ", choice_.columns), terminal::kDim);
  }

  void draw_title() {
    if (left() < 1) return;
    const std::string clock = fmt::format("{:.1f} s", seconds(run_.now()));
    const int at = std::max(0, choice_.columns - static_cast<int>(clock.size()));
    const bool fits = terminal::width_of(run_.title()) + 2 <= at;
    frame_.put(top_, 0, fits ? run_.title() : run_.short_title(), terminal::kBold);
    if (at > 1) frame_.put(top_, at - 2, "  ");
    frame_.put(top_++, at, clock);
  }

  // "name ████░░ part, part".
  void draw_bar_row(std::string_view name, double share, const std::vector<std::string>& parts) {
    if (left() < 1) return;
    frame_.put(top_, 0, name);
    const int column = put_bar(frame_, top_, kNameColumns, bar_columns(choice_.columns), share, choice_.utf8);
    frame_.put(top_++, column, fitting(parts, ", ", choice_.columns - column));
  }

  void draw_progress() {
    const double all = choice_.all_jobs ? static_cast<double>(*choice_.all_jobs) : 0;
    const std::vector<std::string> parts = progress_parts(run_, choice_.all_jobs);
    if (all > 0) return draw_bar_row("jobs", static_cast<double>(run_.done()) / all, parts);
    if (left() < 1) return;
    frame_.put(top_, 0, "jobs");
    frame_.put(top_++, kNameColumns, fitting(parts, ", ", choice_.columns - kNameColumns));
  }

  void draw_cores() {
    const std::vector<CoreUse> cores = run_.cores();
    const auto busy = std::ranges::count_if(cores, [](const CoreUse& use) { return use.jobs > 0; });
    const auto shared = std::ranges::count_if(cores, [](const CoreUse& use) { return use.jobs > 1; });
    const auto shrunk = std::ranges::count_if(run_.launched(), [this](const auto& entry) {
      const WatchedJob& job = *run_.find(entry.second);
      return job.mpl > 1 && job.state == history::Phase::kRunning;
    });
    const double share = cores.empty() ? 0 : static_cast<double>(busy) / static_cast<double>(cores.size());
    std::vector<std::string> parts{fmt::format("{} of {} busy", busy, cores.size()),
                                   fmt::format("{:.0f} %", 100 * share)};
    if (shrunk > 0) parts.push_back(fmt::format("{} shrunk", counted(shrunk, "job")));
    if (shared > 0) parts.push_back(fmt::format("{} shared", counted(shared, "core")));
    if (!run_.closed().empty()) parts.push_back(fmt::format("{} closed", counted(run_.closed().size(), "node")));
    if (const auto node = run_.often_down())
      parts.push_back(fmt::format("{} down {} times", node->first, node->second));
    draw_bar_row("cores", share, parts);
  }

  // The bar is relative to the longest queue so far.
  void draw_queue() {
    const std::size_t waiting = run_.waiting().size();
    if (waiting == 0) return draw_bar_row("queue", 0, {"empty"});
    const double share = static_cast<double>(waiting) / static_cast<double>(run_.longest_queue());
    std::vector<std::string> parts{counted(waiting, "job"), counted(run_.waiting_processes(), "process", "processes")};
    if (waiting < run_.longest_queue()) parts.front() += fmt::format(" (most {})", run_.longest_queue());
    const std::size_t most = parts.size() + static_cast<std::size_t>(choice_.columns) / 5;  // none is shorter
    for (auto entry = run_.waiting().begin(); entry != run_.waiting().end() && parts.size() < most; ++entry)
      parts.push_back(fmt::format("{}{} ({})", parts.size() == 2 ? "first: " : "", number(entry->second),
                                  run_.find(entry->second)->processes));
    draw_bar_row("queue", share, parts);
  }

  void draw_sharing() {
    if (left() < 1) return;
    std::string text;
    if (const auto& slice = run_.slice())
      text = fmt::format("slice {}, until {:.1f} s", to_text(slice->job_class), seconds(slice->ends));
    std::size_t named = 0;
    for (const auto& [primary, group] : run_.groups()) {
      if (named++ == kNamedGroups) break;
      text += named > 1 ? ", " : text.empty() ? "groups " : "; groups ";
      text += fmt::format("{}", number(primary));
      for (const JobId job : group.matched)
        if (run_.find(job) != nullptr) text += fmt::format("+{}", number(job));
    }
    frame_.put(top_++, 0, text.empty() ? "no groups" : text);
  }

  void draw_help() {
    if (!choice_.address.empty() && left() > 0) frame_.put(top_++, 0, choice_.address);
    if (left() > static_cast<int>(kHelpOfKeys.size() + kHelpOfCells.size())) ++top_;
    for (const std::string_view line : kHelpOfKeys)
      if (left() > 0) frame_.put(top_++, 0, choice_.is_watching && line == kHelpOfQuit ? kHelpOfLeave : line);
    if (left() > static_cast<int>(kHelpOfCells.size())) ++top_;
    for (const std::string_view line : kHelpOfCells)
      if (left() > 0) frame_.put(top_++, 0, line);
  }

  // A map that would have to be scrolled takes rows from the jobs and events below it, down to one each.
  void draw_map_and_jobs(int events) {
    const bool has_title = choice_.rows >= 12;
    int room = left() - jobs_room() - events - (has_title ? 1 : 0);
    if (run_.machine() && room > 0) {
      MapPlan plan = plan_map(*run_.machine(), choice_.fold, choice_.columns, room, run_.hosts());
      const int spare = jobs_room() - 1 + events - 1;
      if (plan.rows > room) plan = plan_map(*run_.machine(), choice_.fold, choice_.columns, room + spare, run_.hosts());
      if (plan.rows > room && plan.rows <= room + spare) {
        events = std::max(1, events - (plan.rows - room));
        room = plan.rows;
      }
      map_rows_ = std::min(room, plan.rows);
      most_scroll_ = plan.rows - map_rows_;
      const int scroll = std::clamp(choice_.scroll, 0, most_scroll_);
      if (has_title) draw_map_title(plan, scroll);
      draw_map(frame_, top_, map_rows_, scroll, run_, plan, choice_.utf8);
      top_ += map_rows_;
    }
    draw_jobs(std::max(0, left() - events));
  }

  void draw_map_title(const MapPlan& plan, int scroll) {
    std::string text = map_title(*run_.machine(), plan);
    if (most_scroll_ > 0) text += fmt::format(", rows {}-{} of {}", scroll + 1, scroll + map_rows_, plan.rows);
    frame_.put(top_++, 0, text, terminal::kDim);
  }

  // As many rows as they need, up to `room`; jobs that do not fit are counted.
  void draw_jobs(int room) {
    if (room < 1) return;
    int column = 0;
    std::size_t drawn = 0;
    const int bottom = top_ + room - 1;
    for (const auto& [turn, id] : run_.launched()) {
      const WatchedJob& job = *run_.find(id);
      const std::string text = job_text(job);
      const int width = 1 + static_cast<int>(text.size());
      const std::string rest = fmt::format("and {} more", run_.launched().size() - drawn);
      const bool is_last = drawn + 1 == run_.launched().size();
      const int kept = top_ == bottom && !is_last ? static_cast<int>(rest.size()) + 2 : 0;  // for "and 3 more"
      if (column > 0 && column + width + kept > choice_.columns) {
        if (top_ == bottom) {
          frame_.put(top_++, column, rest);
          return;
        }
        ++top_;
        column = 0;
      }
      const bool is_suspended = job.state == history::Phase::kSuspended;
      frame_.put(top_, column, static_cast<char32_t>(job.symbol()), is_suspended ? terminal::kDim : style_of(job));
      column = frame_.put(top_, column + 1, text, is_suspended ? terminal::kDim : terminal::kPlain) + 2;
      ++drawn;
    }
    if (column > 0) ++top_;
  }

  static std::string job_text(const WatchedJob& job) {
    if (job.state == history::Phase::kSuspended)
      return fmt::format(" {} ({}, suspended)", number(job.id), job.processes);
    if (job.mpl > 1) return fmt::format(" {} ({} on {})", number(job.id), job.processes, job.cores);
    return fmt::format(" {} ({})", number(job.id), job.processes);
  }

  void draw_events() {
    const auto& events = run_.events();
    const int count = std::min(left(), static_cast<int>(events.size()));
    int row = end_ - count;
    for (auto event = events.end() - count; event != events.end(); ++event, ++row)
      frame_.put(row, 0, event->text, event->is_bad ? terminal::kAlert : terminal::kPlain);
  }

  const WatchedRun& run_;
  const FrameChoice& choice_;
  Frame frame_;
  int top_ = 0;
  int end_;
  int map_rows_ = 0;
  int most_scroll_ = 0;
};

}  // namespace

RunFrame run_frame(const WatchedRun& run, const FrameChoice& choice) { return Drawing{run, choice}.draw(); }

std::string progress_text(const WatchedRun& run, std::optional<std::size_t> all_jobs) {
  return fmt::format("{}", fmt::join(progress_parts(run, all_jobs), ", "));
}

}  // namespace replay::report
