#include "scheduler/report/page/run_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <system_error>

#include "scheduler/base/error.hpp"
#include "scheduler/report/page/seeds.hpp"

namespace replay::report {
namespace {

namespace fs = std::filesystem;

// A run's name as it grows: the last `length` parts of its path.
class Name {
 public:
  explicit Name(const fs::path& log) {
    fs::path run = place_ = place_of(log);
    if (const CellRun* const cell = cell_run_of(run)) {
      title_ = fmt::format(": {}", cell->title);
      run = run.parent_path();
    }
    for (const fs::path& part : run.relative_path()) parts_.push_back(part.string());
  }
  [[nodiscard]] std::string text() const {
    const auto last = std::span{parts_}.last(std::min(length_, parts_.size()));
    return fmt::format("{}{}", fmt::join(last, "/"), title_);
  }
  bool grow() { return length_ < parts_.size() && ++length_ > 0; }
  [[nodiscard]] const fs::path& place() const { return place_; }

 private:
  fs::path place_;
  std::vector<std::string> parts_;
  std::string title_;
  std::size_t length_ = 1;
};

// Lets the names that different runs have grow; false: there are none that can.
bool tell_apart(std::vector<Name>& names) {
  std::map<std::string, std::vector<Name*>> by_text;
  for (Name& name : names) by_text[name.text()].push_back(&name);
  bool has_grown = false;
  for (const auto& [text, same] : by_text) {
    const fs::path& first = same.front()->place();
    if (std::ranges::all_of(same, [&first](const Name* name) { return name->place() == first; })) continue;
    for (Name* const name : same) has_grown = name->grow() || has_grown;
  }
  return has_grown;
}

}  // namespace

fs::path place_of(const fs::path& log) {
  const fs::path whole = fs::absolute(log).lexically_normal();
  return whole.filename() == "events.log" && whole.parent_path().has_filename() ? whole.parent_path() : whole;
}

const CellRun* cell_run_of(const fs::path& run) {
  const auto* const found = std::ranges::find(kCellRuns, run.filename().string(), &CellRun::folder);
  std::error_code error;
  const bool is_cell = fs::exists(run.parent_path() / kCellRuns[0].folder / "events.log", error);
  return found != std::end(kCellRuns) && is_cell ? found : nullptr;
}

std::vector<std::string> run_names(std::span<const fs::path> logs) {
  std::vector<Name> names(logs.begin(), logs.end());
  while (tell_apart(names)) {
  }
  std::vector<std::string> texts;
  std::map<std::string, int> seen;
  for (const Name& name : names) {
    const int before = seen[name.text()]++;
    texts.push_back(before == 0 ? name.text() : fmt::format("{} ({})", name.text(), before + 1));
  }
  return texts;
}

std::string run_mark(const fs::path& log, bool is_complete) {
  std::vector<std::string> marks;
  if (!is_complete) marks.emplace_back("incomplete");
  try {
    if (const auto seeds = seeds_of(place_of(log))) marks.push_back(fmt::format("one of {} seeds", seeds->seeds));
  } catch (const InputError&) {  // the page has a note of a file that cannot be read
  }
  return marks.empty() ? "" : fmt::format(" ({})", fmt::join(marks, ", "));
}

std::size_t compared_with(std::span<const fs::path> logs, std::size_t i) {
  const fs::path run = place_of(logs[i]);
  const CellRun* const cell = cell_run_of(run);
  if (cell == nullptr || cell->against.empty()) return 0;
  const fs::path against = run.parent_path() / cell->against;
  const auto found = std::ranges::find(logs, against, place_of);
  return found == logs.end() ? 0 : static_cast<std::size_t>(found - logs.begin());
}

}  // namespace replay::report
