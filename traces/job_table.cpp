#include "traces/job_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/enum_words.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/base/text/split.hpp"
#include "scheduler/model/contention.hpp"
#include "traces/swf_record.hpp"

namespace replay {
namespace {

constexpr std::size_t kTableBlock = std::size_t{64} * 1024;

// Also "4.0": a data frame makes decimals of a column that has empty cells.
std::optional<ProcessCount> size(std::string_view text) {
  if (text.ends_with(".0")) text.remove_suffix(2);
  return parse_number<ProcessCount>(text, 1, std::numeric_limits<ProcessCount>::max());
}

bool set_flexibility(JobTraits& traits, std::string_view text) {
  traits.flexibility = enum_of<Flexibility>(text);
  return traits.flexibility.has_value();
}

bool set_sizes(JobTraits& traits, std::string_view text) {
  auto sizes = parse_sizes(text);
  if (sizes) traits.sizes = *std::move(sizes);
  return sizes.has_value();
}

template <class Value>
bool assign(std::optional<Value>& to, std::optional<Value> value) {
  to = value;
  return value.has_value();
}

bool set_political(JobTraits& traits, std::string_view text) {
  if (text == "-inf") return assign(traits.political_priority, std::optional{-std::numeric_limits<double>::infinity()});
  return assign(traits.political_priority, parse_number<double>(text, 0, 1));
}

bool set_eligible(JobTraits& traits, std::string_view text) {
  const auto time = parse_seconds(text);
  if (!time || *time < Duration::zero() || *time > std::chrono::seconds{kMostSwfRunSeconds}) return false;
  traits.eligible = time;
  return true;
}

template <class Value>
std::string text_of(const std::optional<Value>& value) {
  return value ? fmt::format("{}", *value) : std::string{};
}

// A column: how its cell is read and written, and what it may hold.
struct Column {
  std::string_view name;
  std::string_view expected;
  bool (*set)(JobTraits&, std::string_view);
  std::string (*text)(const JobTraits&);
};

const std::array<Column, 13> kColumns{{
    {"flexibility", "rigid, moldable or malleable", set_flexibility,
     [](const JobTraits& t) { return t.flexibility ? std::string(to_text(*t.flexibility)) : std::string{}; }},
    {"least_processes", "a count >= 1", [](JobTraits& t, std::string_view v) { return assign(t.least, size(v)); },
     [](const JobTraits& t) { return text_of(t.least); }},
    {"most_processes", "a count >= 1", [](JobTraits& t, std::string_view v) { return assign(t.most, size(v)); },
     [](const JobTraits& t) { return text_of(t.most); }},
    {"sizes", "ascending counts >= 1 such as 4|8|16", set_sizes,
     [](const JobTraits& t) { return sizes_text(t.sizes); }},
    {"speedup", "linear, downey:a=A:sigma=S or three-point:n=N",
     [](JobTraits& t, std::string_view v) { return assign(t.speedup, parse_speedup(v)); },
     [](const JobTraits& t) { return t.speedup ? to_text(*t.speedup) : std::string{}; }},
    {"cpu_util", "a number 0..1",
     [](JobTraits& t, std::string_view v) { return assign(t.cpu_use, parse_number<double>(v, 0, 1)); },
     [](const JobTraits& t) { return text_of(t.cpu_use); }},
    {"ov", "a number 0..1",
     [](JobTraits& t, std::string_view v) { return assign(t.network_overhead, parse_number<double>(v, 0, 1)); },
     [](const JobTraits& t) { return text_of(t.network_overhead); }},
    {"user_priority", "a number 0..1",
     [](JobTraits& t, std::string_view v) { return assign(t.user_priority, parse_number<double>(v, 0, 1)); },
     [](const JobTraits& t) { return text_of(t.user_priority); }},
    {"political_priority", "a number 0..1, or -inf", set_political,
     [](const JobTraits& t) { return text_of(t.political_priority); }},
    {"sl_scr", "a number 0.001..1000000",
     [](JobTraits& t, std::string_view v) {
       return assign(t.same_cpu_slowdown, parse_number<double>(v, kLeastStatedSlowdown, kMostStatedSlowdown));
     },
     [](const JobTraits& t) { return text_of(t.same_cpu_slowdown); }},
    {"sl_sno", "a number 0.001..1000000",
     [](JobTraits& t, std::string_view v) {
       return assign(t.same_node_slowdown, parse_number<double>(v, kLeastStatedSlowdown, kMostStatedSlowdown));
     },
     [](const JobTraits& t) { return text_of(t.same_node_slowdown); }},
    {"pair_key", "a whole number of 64 bits",
     [](JobTraits& t, std::string_view v) { return assign(t.pair_key, parse_number<std::uint64_t>(v)); },
     [](const JobTraits& t) { return text_of(t.pair_key); }},
    {"eligible", "seconds from 0 to 10000000000", set_eligible,
     [](const JobTraits& t) { return t.eligible ? to_text(*t.eligible) : std::string{}; }},
}};

std::string known_columns() { return joined(kColumns, ", ", &Column::name); }

}  // namespace

static std::optional<std::string> file_beside(const std::string& trace, std::string_view ending) {
  if (trace == "-") return std::nullopt;
  std::string_view stem = trace;
  for (const std::string_view own : {".gz", ".swf"})
    if (stem.ends_with(own)) stem.remove_suffix(own.size());
  return std::string(stem).append(ending);
}

std::optional<std::string> job_table_beside(const std::string& trace) { return file_beside(trace, kJobTableEnding); }

std::optional<std::string> find_beside(const std::string& trace, std::string_view ending,
                                       const std::filesystem::path& folder) {
  const auto plain = file_beside(trace, ending);
  if (!plain) return std::nullopt;
  std::error_code ignored;
  for (const std::string& name : {*plain, *plain + ".gz"})
    if (std::filesystem::exists(folder / name, ignored)) return name;
  return std::nullopt;
}

std::vector<std::string_view> job_table_columns() {
  std::vector<std::string_view> names;
  names.reserve(std::size(kColumns));
  for (const Column& column : kColumns) names.push_back(column.name);
  return names;
}

std::string_view set_job_cell(JobTraits& traits, std::size_t column, std::string_view cell) {
  if (cell.empty() || kColumns[column].set(traits, cell)) return {};
  return kColumns[column].expected;
}

void append_job_cells(std::string& text, const JobTraits& traits) {
  for (const Column& column : kColumns) text.append(",").append(column.text(traits));
}

JobTableReader::JobTableReader(const std::string& path) : JobTableReader(open_source(path)) {}

JobTableReader::JobTableReader(std::unique_ptr<ByteSource> source) : lines_(std::move(source)) { read_header(); }

void JobTableReader::read_header() {
  const auto line = lines_.next();
  if (!line) throw InputError(fmt::format("{}: expected a header row that begins with 'job', found nothing", name()));
  cut(line->text);
  const std::span cells = row_.cells();
  if (cells[0] != "job") fail("1", "'job'", cells[0]);
  for (std::size_t index = 1; index < cells.size(); ++index) {
    const auto column = std::ranges::find(kColumns, cells[index], &Column::name);
    if (column == kColumns.end())
      fail(fmt::format("{}", index + 1), fmt::format("one of {}", known_columns()), cells[index]);
    const auto place = static_cast<std::size_t>(column - kColumns.begin());
    if (std::ranges::find(columns_, place) != columns_.end()) fail(cells[index], "each column once", cells[index]);
    columns_.push_back(place);
  }
}

// No cell of ours goes on in the next line.
void JobTableReader::cut(std::string_view line) {
  if (!row_.begin(line))
    throw InputError(name(), lines_.number(), "expected a closing quotation mark, found the end of the line");
}

std::optional<JobTraits> JobTableReader::find(std::int64_t job) {
  if (const auto kept = waiting_.find(job); kept != waiting_.end()) {
    JobTraits traits = std::move(kept->second.traits);
    waiting_.erase(kept);
    return traits;
  }
  for (Row row; next(row);) {
    if (row.job == job) return std::move(row.traits);
    waiting_.emplace(row.job, std::move(row));
  }
  return std::nullopt;
}

JobTableReader::Unused JobTableReader::unused() {
  for (Row row; next(row);) waiting_.emplace(row.job, std::move(row));
  Unused unused{.count = waiting_.size()};
  for (const auto& [job, row] : waiting_)
    if (unused.line == 0 || row.line < unused.line) unused.job = job, unused.line = row.line;
  return unused;
}

bool JobTableReader::next(Row& row) {
  const auto line = lines_.next();
  if (!line) return false;
  if (line->too_long) fail("job", fmt::format("at most {} characters", kLongestLine), line->text);
  row = Row{.line = lines_.number(), .traits = {}};
  cut(line->text);
  const std::span cells = row_.cells();
  const auto number = parse_number<std::int64_t>(cells[0]);
  if (!number || *number < 0) fail("job", "a job number", cells[0]);
  row.job = *number;
  for (std::size_t index = 0; index < std::min(columns_.size(), cells.size() - 1); ++index)
    if (const auto expected = set_job_cell(row.traits, columns_[index], cells[index + 1]); !expected.empty())
      fail(kColumns[columns_[index]].name, expected, cells[index + 1]);
  if (cells.size() != columns_.size() + 1)
    throw InputError(
        name(), lines_.number(),
        fmt::format("expected {} cells as in the header row, found {}", columns_.size() + 1, cells.size()));
  if (row.traits.least && row.traits.most && *row.traits.least > *row.traits.most)
    fail("most_processes", fmt::format("at least least_processes, {}", *row.traits.least),
         fmt::format("{}", *row.traits.most));
  if (!seen_.insert(row.job)) fail("job", "each job once", fmt::format("{}", row.job));
  return true;
}

void JobTableReader::fail(std::string_view column, std::string_view expected, std::string_view found) const {
  throw InputError(name(), lines_.number(),
                   fmt::format("column {}: expected {}, found '{}'", column, expected, visible_text(found, 40)));
}

JobTableWriter::JobTableWriter(std::unique_ptr<ByteSink> sink) : sink_(std::move(sink)) {
  text_ = "job";
  for (const Column& column : kColumns) text_.append(",").append(column.name);
  text_ += '\n';
}

void JobTableWriter::write(std::int64_t job, const JobTraits& traits) {
  text_ += fmt::format("{}", job);
  append_job_cells(text_, traits);
  text_ += '\n';
  if (text_.size() < kTableBlock) return;
  sink_->write(text_);
  text_.clear();
}

void JobTableWriter::finish() {
  sink_->write(text_);
  text_.clear();
  sink_->finish();
}

void JobTableWriter::close() {
  finish();
  sink_->close();
}

}  // namespace replay
