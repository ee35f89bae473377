#include "traces/convert/trace_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "traces/job_table.hpp"
#include "traces/swf_reader.hpp"
#include "traces/swf_writer.hpp"

namespace replay {

const std::array<std::string_view, kSwfFields> kTraceCsvFields = {"job_number",
                                                                  "submit_s",
                                                                  "wait_s",
                                                                  "run_s",
                                                                  "allocated_processors",
                                                                  "average_cpu_s",
                                                                  "used_memory_kb",
                                                                  "requested_processors",
                                                                  "requested_time_s",
                                                                  "requested_memory_kb",
                                                                  "status",
                                                                  "user",
                                                                  "group",
                                                                  "executable",
                                                                  "queue",
                                                                  "partition",
                                                                  "preceding_job",
                                                                  "think_time_s"};

namespace {

constexpr std::size_t kBlock = std::size_t{64} * 1024;
constexpr std::string_view kUnknown = "-1";

std::vector<std::string_view> all_columns() {
  std::vector<std::string_view> names(kTraceCsvFields.begin(), kTraceCsvFields.end());
  for (const std::string_view name : job_table_columns()) names.push_back(name);
  return names;
}

// A header line is one text to us, and several cells to a spreadsheet that cuts at commas, semicolons or tabs.
std::string in_pieces(std::string_view line, void (*append)(std::string&, std::string_view)) {
  std::string text;
  for (;;) {
    const std::size_t cut = std::min(line.find_first_of(",;\t"), line.size());
    append(text, line.substr(0, cut));
    if (cut == line.size()) return text;
    text += line[cut];
    line.remove_prefix(cut + 1);
  }
}
void append_guarded(std::string& text, std::string_view piece) {
  text.append(is_formula(piece) ? "'" : "").append(piece);
}
void without_guard_of_piece(std::string& text, std::string_view piece) { text.append(without_guard(piece)); }

bool is_number(char c) { return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'; }

}  // namespace

TraceCsvReader::TraceCsvReader(std::unique_ptr<ByteSource> source)
    : lines_(std::move(source)), header_(lines_.name()), fields_(kSwfFields) {
  while (const auto line = lines_.next()) {
    if (!line->text.starts_with(';')) {
      read_header_row(line->text);
      return;
    }
    header_.add_line(in_pieces(line->text, without_guard_of_piece), lines_.number());
  }
  throw InputError(
      fmt::format("{}: expected a header row with '{}', found nothing", lines_.name(), kTraceCsvFields[0]));
}

void TraceCsvReader::read_header_row(std::string_view line) {
  const std::vector<std::string_view> known = all_columns();
  cut(line);
  for (std::size_t index = 0; index < row_.cells().size(); ++index) {
    const std::string_view cell = row_.cells()[index];
    const auto column = std::ranges::find(known, cell);
    if (column == known.end())
      fail(fmt::format("column {}: expected one of {}, found '{}'", index + 1, fmt::join(known, ", "),
                       visible_text(cell, 40)));
    const auto place = static_cast<std::size_t>(column - known.begin());
    if (std::ranges::find(columns_, place) != columns_.end())
      fail(fmt::format("column {}: expected each column once, found '{}' again", index + 1, cell));
    columns_.push_back(place);
  }
  for (const std::size_t needed : {std::size_t{0}, std::size_t{1}})
    if (std::ranges::find(columns_, needed) == columns_.end())
      fail(fmt::format("header row: expected a column '{}', found none", kTraceCsvFields[needed]));
}

bool TraceCsvReader::next(TraceEntry& entry) {
  auto line = lines_.next();
  while (line && line->text.empty()) line = lines_.next();
  if (!line) return false;
  if (line->too_long) fail(fmt::format("expected at most {} characters, found more", kLongestLine));
  entry.traits = JobTraits{};
  std::ranges::fill(fields_, kUnknown);
  cut(line->text);
  const std::span cells = row_.cells();
  for (std::size_t index = 0; index < std::min(cells.size(), columns_.size()); ++index)
    if (!cells[index].empty()) set_cell(index, cells[index], entry);
  if (cells.size() != columns_.size())
    fail(fmt::format("expected {} cells as in the header row, found {}", columns_.size(), cells.size()));
  line_ = fmt::format("{}", fmt::join(fields_, " "));
  const std::size_t length = line_.size();
  line_.append(kReadableBehindLine, '\0');
  std::string problem;
  int fields = 0;
  if (!parse_swf_line(std::string_view{line_}.substr(0, length), entry.record, problem, fields)) fail(problem);
  return true;
}

// No cell of ours goes on in the next line.
void TraceCsvReader::cut(std::string_view line) {
  if (!row_.begin(line)) fail("expected a closing quotation mark, found the end of the line");
}

void TraceCsvReader::set_cell(std::size_t index, std::string_view cell, TraceEntry& entry) {
  const std::size_t column = columns_[index];
  if (column < fields_.size()) {
    if (!std::ranges::all_of(cell, is_number))
      fail(fmt::format("column {}: expected a number, found '{}'", kTraceCsvFields[column], visible_text(cell, 40)));
    fields_[column] = cell;
    return;
  }
  const std::size_t trait = column - fields_.size();
  if (const auto expected = set_job_cell(entry.traits, trait, cell); !expected.empty())
    fail(fmt::format("column {}: expected {}, found '{}'", job_table_columns()[trait], expected,
                     visible_text(cell, 40)));
}

void TraceCsvReader::fail(std::string_view problem) const { throw InputError(lines_.name(), lines_.number(), problem); }

void TraceCsvWriter::write(const SwfHeader& header, bool with_lines) {
  if (with_lines)
    for (const std::string& line : header.lines())
      if (line.starts_with(';')) text_.append(in_pieces(line, append_guarded)).append("\n");
  text_ += fmt::format("{}\n", fmt::join(all_columns(), ","));
}

void TraceCsvWriter::write(const TraceEntry& entry) {
  line_.clear();
  append_swf_line(line_, entry.record);
  line_.pop_back();
  std::string_view rest = line_;
  for (int field = 0; field < kSwfFields; ++field) {
    const std::size_t cut = std::min(rest.find(' '), rest.size());
    const std::string_view value = rest.substr(0, cut);
    if (field > 0) text_ += ',';
    if (value != kUnknown) text_ += value;
    rest.remove_prefix(std::min(cut + 1, rest.size()));
  }
  append_job_cells(text_, entry.traits);
  text_ += '\n';
  flush_if_large();
}

void TraceCsvWriter::flush_if_large() {
  if (text_.size() < kBlock) return;
  sink_->write(text_);
  text_.clear();
}

void TraceCsvWriter::close() {
  sink_->write(text_);
  text_.clear();
  sink_->close();
}

}  // namespace replay
