#include "traces/convert/sacct_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/lower_case.hpp"
#include "scheduler/base/text/split.hpp"
#include "traces/convert/sacct_values.hpp"

namespace replay::sacct {
namespace {

constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);
constexpr std::size_t kColumnCount = static_cast<std::size_t>(Column::kColumns);
constexpr std::size_t kMostJoinedLines = 200;  // a script in SubmitLine
constexpr int kMostSteps = 20'000;             // of the search for one row's separators
constexpr std::size_t kMostPlacements = 64;

struct ColumnName {
  std::string_view name;
  CellKind kind;
};

// Those of Column, in its order, then others whose kind tells where a separator belongs. sacct prints names as they were
// asked for, so case does not count. Constraints and Licenses have '|' for "or".
constexpr auto kNames = std::to_array<ColumnName>({
    {"JobID", CellKind::kId},
    {"JobIDRaw", CellKind::kId},
    {"Submit", CellKind::kTime},
    {"Eligible", CellKind::kTime},
    {"Start", CellKind::kTime},
    {"End", CellKind::kTime},
    {"ElapsedRaw", CellKind::kCount},
    {"Elapsed", CellKind::kElapsed},
    {"Suspended", CellKind::kElapsed},
    {"Planned", CellKind::kElapsed},
    {"Reserved", CellKind::kElapsed},
    {"Restarts", CellKind::kCount},
    {"AllocCPUS", CellKind::kCount},
    {"NCPUS", CellKind::kCount},
    {"AllocTRES", CellKind::kResources},
    {"ReqCPUS", CellKind::kCount},
    {"ReqTRES", CellKind::kResources},
    {"TotalCPU", CellKind::kElapsed},
    {"TimelimitRaw", CellKind::kCount},
    {"Timelimit", CellKind::kElapsed},
    {"ReqMem", CellKind::kMemory},
    {"MaxRSS", CellKind::kMemory},
    {"State", CellKind::kState},
    {"User", CellKind::kWord},
    {"UID", CellKind::kCount},
    {"Group", CellKind::kOther},
    {"GID", CellKind::kCount},
    {"Account", CellKind::kWord},
    {"JobName", CellKind::kFreeText},
    {"Partition", CellKind::kWord},
    {"QOS", CellKind::kWord},
    {"NNodes", CellKind::kCount},
    {"Cluster", CellKind::kWord},
    {"SubmitLine", CellKind::kFreeText},
    {"AdminComment", CellKind::kFreeText},
    {"Comment", CellKind::kFreeText},
    {"Constraints", CellKind::kFreeText},
    {"Container", CellKind::kFreeText},
    {"Extra", CellKind::kFreeText},
    {"Licenses", CellKind::kFreeText},
    {"StdErr", CellKind::kFreeText},
    {"StdIn", CellKind::kFreeText},
    {"StdOut", CellKind::kFreeText},
    {"SystemComment", CellKind::kFreeText},
    {"WCKey", CellKind::kFreeText},
    {"WorkDir", CellKind::kFreeText},
    {"AllocNodes", CellKind::kCount},
    {"AssocID", CellKind::kCount},
    {"CPUTime", CellKind::kElapsed},
    {"CPUTimeRAW", CellKind::kCount},
    {"NTasks", CellKind::kCount},
    {"Priority", CellKind::kCount},
    {"ReqNodes", CellKind::kCount},
});

bool is_word(std::string_view text) { return text.find_first_of(" \t\n") == std::string_view::npos; }

}  // namespace

std::string_view name_of(Column column) { return kNames[static_cast<std::size_t>(column)].name; }

Rows::Rows(std::unique_ptr<ByteSource> source, LocalClock clock) : lines_(std::move(source)), clock_(std::move(clock)) {
  read_header_row();
}

void Rows::read_header_row() {
  while (take_line())
    if (!text_.empty()) break;
  if (text_.empty())
    throw InputError(fmt::format("{}: expected what sacct --parsable2 prints, found nothing", lines_.name()));
  adopt_header(text_);
  expect_needed_columns(text_);
}

void Rows::adopt_header(std::string_view text) {
  const std::vector<std::string_view> names = split(text, '|');
  places_.assign(kColumnCount, kNowhere);
  kinds_.assign(names.size(), CellKind::kOther);
  for (std::size_t i = names.size(); i-- > 0;) {
    const auto known =
        std::ranges::find_if(kNames, [&](const ColumnName& n) { return same_but_for_case(names[i], n.name); });
    if (known == kNames.end()) continue;
    kinds_[i] = known->kind;
    const auto column = static_cast<std::size_t>(known - kNames.begin());
    if (column < kColumnCount) places_[column] = i;
  }
  if (names.size() > 1 && names.back().empty()) kinds_.back() = CellKind::kEmpty;
  const auto first_text = std::ranges::find(kinds_, CellKind::kFreeText);
  const auto last_text = std::find(kinds_.rbegin(), kinds_.rend(), CellKind::kFreeText).base();
  before_text_ = static_cast<std::size_t>(first_text - kinds_.begin());
  ends_in_text_ = kinds_.back() == CellKind::kFreeText;
  words_decide_ = first_text < last_text && std::find(first_text, last_text, CellKind::kWord) != last_text;
  has_row_ = false;
}

void Rows::expect_needed_columns(std::string_view text) const {
  const auto need = [&](bool is_there, std::string_view what) {
    if (!is_there)
      throw InputError(
          lines_.name(), line_,
          fmt::format("header row: expected a column {}, found '{}': sacct --parsable2 --format=... without "
                      "--noheader prints one",
                      what, visible_text(text, 80)));
  };
  need(has(Column::kJobId) || has(Column::kJobIdRaw), "JobID");
  need(has(Column::kSubmit) || has(Column::kEligible), "Submit");
  need(has(Column::kAllocCpus) || has(Column::kNCpus) || has(Column::kAllocTres) || has(Column::kReqCpus) ||
           has(Column::kReqTres),
       "AllocCPUS, NCPUS, AllocTRES, ReqCPUS or ReqTRES");
  need(has(Column::kElapsedRaw) || has(Column::kElapsed) || (has(Column::kStart) && has(Column::kEnd)),
       "ElapsedRaw, Elapsed, or Start and End");
}

bool Rows::is_header(std::string_view text) {
  bool has_id = false, has_submit = false;
  for_each_part(text, '|', [&](std::size_t /*index*/, std::string_view cell) {
    has_id = has_id || same_but_for_case(cell, "JobID") || same_but_for_case(cell, "JobIDRaw");
    has_submit = has_submit || same_but_for_case(cell, "Submit") || same_but_for_case(cell, "Eligible");
  });
  return has_id && has_submit;
}

bool Rows::has(Column column) const { return places_[static_cast<std::size_t>(column)] != kNowhere; }

std::string_view Rows::cell(Column column) const {
  return has(column) ? cells_[places_[static_cast<std::size_t>(column)]] : std::string_view{};
}

// ---- lines ----

bool Rows::take_line() {
  text_ = {};
  if (!ahead_.empty()) {
    own_text_ = std::move(ahead_.front().text);
    text_ = own_text_;
    line_ = ahead_.front().number;
    too_long_ = ahead_.front().too_long;
    ahead_.pop_front();
    return true;
  }
  const auto line = lines_.next();
  if (!line) return false;
  text_ = line->text;
  line_ = lines_.number();
  too_long_ = line->too_long;
  return true;
}

// The line that stands `lines` + 1 behind the one in hand, which has to be in own_text_: reading on moves the others.
const Rows::Line* Rows::look_ahead(std::size_t lines) {
  while (ahead_.size() <= lines) {
    const auto line = lines_.next();
    if (!line) return nullptr;
    ahead_.push_back({std::string(line->text), lines_.number(), line->too_long});
  }
  return &ahead_[lines];
}

bool Rows::next() {
  while (take_line()) {
    if (text_.empty()) continue;
    if (too_long_) throw InputError(fmt::format("expected at most {} characters, found more", kLongestLine));
    cells_ = split(text_, '|');
    const std::size_t found = cells_.size();
    const std::size_t id = places_[static_cast<std::size_t>(has(Column::kJobId) ? Column::kJobId : Column::kJobIdRaw)];
    if (found == kinds_.size() && fits(id, cells_[id])) {
      remember_words();
      return has_row_ = true;
    }
    if (is_header(text_)) {
      adopt_header(text_);
      continue;
    }
    ambiguous_ = false;
    if (found > kinds_.size() && place(text_)) return has_row_ = true;
    if (!ambiguous_ && join_lines()) return has_row_ = true;
    if (found < kinds_.size() && has_row_ && ends_in_text_ && !may_begin_row()) {
      ++continued_;
      continue;
    }
    if (found == kinds_.size()) return has_row_ = true;  // the reader says which cell is wrong
    has_row_ = false;
    if (ambiguous_)
      throw InputError(fmt::format("expected {} cells as in the header row, found {} that can be read in several ways",
                                   kinds_.size(), found));
    throw InputError(fmt::format("expected {} cells as in the header row, found {}", kinds_.size(), found));
  }
  return false;
}

// Whether the cells in front of the first free text are those of a job.
bool Rows::may_begin_row() const {
  if (before_text_ == 0) return true;
  const std::size_t known = std::min(before_text_, cells_.size());
  for (std::size_t i = 0; i < known; ++i)
    if (!fits(i, cells_[i])) return false;
  return true;
}

bool Rows::is_row(std::string_view text) {
  auto kept = std::exchange(cells_, {});
  const bool is_ambiguous = std::exchange(ambiguous_, false);
  const bool is = place(text) || ambiguous_;
  cells_ = std::move(kept);
  ambiguous_ = is_ambiguous;
  return is;
}

// Puts the line in hand and those behind it together until they are a row. A line that is a row by itself ends that,
// unless rows begin with free text: then it may be the rest of one.
bool Rows::join_lines() {
  if (before_text_ == kinds_.size() || !may_begin_row()) return false;
  if (text_.data() != own_text_.data()) own_text_ = std::string(text_);
  const std::string first = own_text_;
  std::string joined = first;
  for (std::size_t i = 0; i < kMostJoinedLines; ++i) {
    const Line* line = look_ahead(i);
    if (line == nullptr || line->too_long || is_header(line->text)) break;
    const bool is_alone = is_row(line->text);
    if (is_alone && before_text_ > 0) break;
    joined.append("\n").append(line->text);
    if (joined.size() > kLongestLine) break;
    if (std::cmp_greater_equal(std::ranges::count(joined, '|') + 1, kinds_.size()) && place(joined)) {
      own_text_ = std::move(joined);
      ahead_.erase(ahead_.begin(), ahead_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      text_ = own_text_;
      return place(text_);
    }
    if (is_alone || ambiguous_) break;
  }
  text_ = own_text_;
  cells_ = split(text_, '|');
  return false;
}

// ---- the places of separators ----

bool Rows::fits(std::size_t column, std::string_view cell) const {
  switch (kinds_[column]) {
    case CellKind::kId: return read_id(cell).has_value() && is_word(cell);
    case CellKind::kTime: return read_time(cell, clock_).is_right;
    case CellKind::kElapsed: return read_elapsed(cell).is_right;
    case CellKind::kCount: return read_count(cell).is_right;
    case CellKind::kResources: return is_word(cell) && (cell.empty() || cell.find('=') != std::string_view::npos);
    case CellKind::kMemory: return read_memory(cell, 1).is_right;
    case CellKind::kState: return read_state(cell).has_value();
    case CellKind::kWord: return is_word(cell);
    case CellKind::kEmpty: return cell.empty();
    case CellKind::kOther: return cell.find('\n') == std::string_view::npos;
    case CellKind::kFreeText: return true;
  }
  return true;
}

// Sacct counts no suspended time as elapsed; an hour may lie between, where clocks go back.
bool Rows::times_agree(const std::vector<std::string_view>& cells) const {
  const auto cell_of = [&](Column column) {
    return has(column) ? cells[places_[static_cast<std::size_t>(column)]] : std::string_view{};
  };
  const auto start = read_time(cell_of(Column::kStart), clock_), end = read_time(cell_of(Column::kEnd), clock_);
  if (!start.value || !end.value) return true;
  std::optional<std::int64_t> elapsed = read_count(cell_of(Column::kElapsedRaw)).value;
  const auto whole_seconds = [](Duration time) {
    return std::chrono::duration_cast<std::chrono::seconds>(time).count();
  };
  if (!elapsed)
    if (const auto text = read_elapsed(cell_of(Column::kElapsed)).value) elapsed = whole_seconds(*text);
  if (!elapsed) return true;
  if (const auto suspended = read_elapsed(cell_of(Column::kSuspended)).value) *elapsed += whole_seconds(*suspended);
  const std::int64_t difference = std::abs(*end.value - *start.value - *elapsed);
  constexpr std::int64_t kHour = 3600;
  return difference == 0 || difference == kHour;
}

// Searches the rows that a text with too many separators can be. Neighbouring columns of free text are one gap: which of
// them has the separator makes no difference to what is read.
class Rows::Placing {
 public:
  Placing(const Rows& rows, std::string_view text) : rows_(rows), parts_(split(text, '|')) {
    const std::size_t width = rows.kinds_.size();
    if (parts_.size() < width) return;
    spare_ = parts_.size() - width;
    cells_.resize(width);
    search(0, 0, spare_);
  }

  [[nodiscard]] const std::vector<std::vector<std::string_view>>& found() const { return found_; }

 private:
  void search(std::size_t column, std::size_t part, std::size_t spare) {
    const std::vector<CellKind>& kinds = rows_.kinds_;
    for (; column < kinds.size() && kinds[column] != CellKind::kFreeText; ++column, ++part) {
      if (++steps_ > kMostSteps || !rows_.fits(column, parts_[part])) return;
      cells_[column] = parts_[part];
    }
    if (column == kinds.size()) {
      if (spare == 0 && found_.size() < kMostPlacements && rows_.times_agree(cells_)) found_.push_back(cells_);
      return;
    }
    std::size_t end = column + 1;  // behind the gap; its last column takes what is spare
    for (; end < kinds.size() && kinds[end] == CellKind::kFreeText; ++end, ++part, ++column)
      cells_[column] = parts_[part];
    if (std::find(kinds.begin() + static_cast<std::ptrdiff_t>(end), kinds.end(), CellKind::kFreeText) == kinds.end()) {
      cells_[column] = between(part, part + spare);
      return search(end, part + spare + 1, 0);
    }
    if (++gaps_ > kMostGaps) return;
    for (std::size_t taken = 0; taken <= spare && steps_ <= kMostSteps; ++taken) {
      cells_[column] = between(part, part + taken);
      search(end, part + taken + 1, spare - taken);
    }
    --gaps_;
  }

  [[nodiscard]] std::string_view between(std::size_t first, std::size_t last) const {
    return {parts_[first].data(),
            static_cast<std::size_t>(parts_[last].data() + parts_[last].size() - parts_[first].data())};
  }

  static constexpr int kMostGaps = 16;

  const Rows& rows_;
  std::vector<std::string_view> parts_, cells_;
  std::vector<std::vector<std::string_view>> found_;
  std::size_t spare_ = 0;
  int steps_ = 0, gaps_ = 0;
};

bool Rows::place(std::string_view text) {
  const Placing placing(*this, text);
  const auto& found = placing.found();
  if (found.empty()) return false;
  const auto same_but_text = [this](const auto& a, const auto& b) {
    for (std::size_t i = 0; i < kinds_.size(); ++i)
      if (kinds_[i] != CellKind::kFreeText && a[i].data() != b[i].data()) return false;
    return true;
  };
  // Names that other rows have decide where several places are left.
  const auto known_words = [this](const std::vector<std::string_view>& cells) {
    std::ptrdiff_t known = 0;
    for (std::size_t i = 0; i < kinds_.size(); ++i)
      if (kinds_[i] == CellKind::kWord && words_.contains(fmt::format("{}|{}", i, cells[i]))) ++known;
    return known;
  };
  const auto best = std::ranges::max_element(found, {}, known_words);
  for (const auto& other : found)
    if (!same_but_text(*best, other) && known_words(other) == known_words(*best)) {
      ambiguous_ = true;
      return false;
    }
  cells_ = *best;
  return true;
}

void Rows::remember_words() {
  if (!words_decide_) return;
  for (std::size_t i = 0; i < kinds_.size(); ++i)
    if (kinds_[i] == CellKind::kWord) words_.insert(fmt::format("{}|{}", i, cells_[i]));
}

}  // namespace replay::sacct
