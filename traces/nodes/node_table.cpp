#include "traces/nodes/node_table.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/line_reader.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/csv_file.hpp"
#include "scheduler/base/text/csv_row.hpp"
#include "scheduler/base/text/enum_words.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/base/text/split.hpp"
#include "traces/file_kind.hpp"
#include "traces/swf_record.hpp"

namespace replay {
namespace {

enum Column : std::size_t { kTime, kNodes, kState, kUntil, kReason };
constexpr std::array<std::string_view, 5> kColumns{"time", "nodes", "state", "until", "reason"};
constexpr std::ptrdiff_t kLeastColumns = kUntil;
constexpr std::string_view kReserved = "reserved:";

class Reader {
 public:
  Reader(std::unique_ptr<ByteSource> source, const Machine& machine, std::span<const std::string> hosts)
      : lines_(std::move(source)),
        machine_(machine),
        hosts_(hosts),
        last_row_(static_cast<std::size_t>(machine.nodes())) {}

  NodeTable read() {
    read_header();
    while (next_row()) read_row();
    return std::move(table_);
  }

 private:
  void read_header() {
    const std::string expected = fmt::format("the header row '{}'", fmt::join(kColumns, ","));
    const auto line = lines_.next();
    if (!line) throw InputError(fmt::format("{}: expected {}, found nothing", lines_.name(), expected));
    columns_ = std::min(1 + std::ranges::count(line->text, ','), std::ssize(kColumns));
    if (columns_ >= kLeastColumns && cut(*line) &&
        std::ranges::equal(row_.cells(), std::span{kColumns}.first(static_cast<std::size_t>(columns_))))
      return;
    auto other = kind_of_text(line->text, lines_.name());
    if (other && other->kind == FileKind::kNodes) other.reset();  // it has a column that is not known
    throw InputError(lines_.name(), lines_.number(),
                     fmt::format("expected {}, of which the last two may be left out, found {}", expected,
                                 other ? other->text : fmt::format("'{}'", visible_text(line->text, 80))));
  }

  bool next_row() {
    const auto line = lines_.next();
    if (!line) return false;
    if (line->too_long) refuse(fmt::format("a row of at most {} characters", kLongestLine), line->text);
    if (!cut(*line)) refuse("a closing quotation mark in the same line", line->text);
    const auto cells = std::ssize(row_.cells());
    if (cells != columns_) refuse(fmt::format("{} cells as in the header row", columns_), fmt::to_string(cells));
    return true;
  }

  bool cut(const LineReader::Line& line) { return row_.begin(line.text); }

  void read_row() {
    NodeEvent event;
    event.at = read_time();
    read_nodes();
    read_state(event.change);
    event.change.until = read_until(event);
    event.change.reason = clean_line(cell(kReason));
    for (const NodeId node : nodes_) {
      event.change.node = node;
      table_.events.push_back(event);
    }
    ++table_.rows;
  }

  Instant read_time() {
    const Instant at = seconds_in(kTime, Instant{}, "seconds from 0 to 10000000000");
    const Instant before = table_.events.empty() ? Instant{} : table_.events.back().at;
    if (at < before) fail(kTime, fmt::format("at least {}, the time of the row before", to_text(before)), cell(kTime));
    return at;
  }

  Instant read_until(const NodeEvent& event) {
    if (cell(kUntil).empty()) return kNever;
    if (event.change.state == NodeState::kUp) fail(kUntil, "nothing for nodes that are up", cell(kUntil));
    return seconds_in(kUntil, event.at + Duration{1},
                      fmt::format("nothing, or seconds above {} to 10000000000", to_text(event.at)));
  }

  Instant seconds_in(Column column, Instant least, std::string_view expected) {
    static_assert(kMostSwfSeconds == 10'000'000'000);
    constexpr std::size_t kMostDecimals = 6;
    const auto time = parse_seconds(cell(column));
    if (time && cell(column).substr(std::min(cell(column).find('.'), cell(column).size())).size() > 1 + kMostDecimals)
      fail(column, "seconds with up to six decimals", cell(column));
    if (!time || Instant{*time} < least || *time > std::chrono::seconds{kMostSwfSeconds})
      fail(column, expected, cell(column));
    return Instant{*time};
  }

  // "n3", "n3-n5", hosts, joined by commas.
  void read_nodes() {
    nodes_.clear();
    for (const std::string_view part : split(cell(kNodes), ',')) {
      const std::size_t dash = std::min(part.find('-'), part.size());
      const auto first = number_in(part.substr(0, dash));
      const auto last = dash == part.size() ? first : number_in(part.substr(dash + 1));
      if (first && last && *first <= *last)
        for (int node = *first; node <= *last; ++node) add(node, part);
      else if (const auto host = std::ranges::find(hosts_, part); host != hosts_.end())
        add(static_cast<int>(host - hosts_.begin()), part);
      else
        fail(kNodes,
             fmt::format("nodes of {}: n0 to n{}, such as n0 or \"n0,n2-n3\"{}", machine_.to_text(),
                         machine_.nodes() - 1, hosts_.empty() ? "" : ", or names of its hosts"),
             part);
    }
  }

  // Of a node of the machine.
  [[nodiscard]] std::optional<int> number_in(std::string_view word) const {
    return word.starts_with('n') ? parse_number<int>(word.substr(1), 0, machine_.nodes() - 1) : std::nullopt;
  }

  void add(int node, std::string_view part) {
    std::size_t& row = last_row_[static_cast<std::size_t>(node)];
    if (row == lines_.number()) fail(kNodes, "each node once", part);
    row = lines_.number();
    nodes_.push_back(NodeId{node});
  }

  void read_state(NodeChange& change) const {
    const std::string_view text = cell(kState);
    const bool is_reserved = text.starts_with(kReserved);
    const std::string_view name = is_reserved ? text.substr(kReserved.size()) : std::string_view{};
    const auto state = enum_of<NodeState>(is_reserved ? kReserved.substr(0, kReserved.size() - 1) : text);
    if (!state || is_reservation_name(name) != (*state == NodeState::kReserved))
      fail(kState, "up, down, drained, silent, or reserved:NAME with a NAME of letters, digits, '.', '_' and '-'",
           text);
    change.state = *state;
    change.reservation = name;
  }

  // Empty if the table does not have the column.
  [[nodiscard]] std::string_view cell(Column column) const {
    return column < static_cast<std::size_t>(columns_) ? row_.cells()[column] : std::string_view{};
  }

  [[noreturn]] void refuse(std::string_view expected, std::string_view found) const {
    throw InputError(lines_.name(), lines_.number(),
                     fmt::format("expected {}, found '{}'", expected, visible_text(found, 40)));
  }
  [[noreturn]] void fail(Column column, std::string_view expected, std::string_view found) const {
    throw InputError(
        lines_.name(), lines_.number(),
        fmt::format("column {}: expected {}, found '{}'", kColumns.at(column), expected, visible_text(found, 40)));
  }

  LineReader lines_;
  const Machine& machine_;
  std::span<const std::string> hosts_;
  CsvRow row_;
  std::ptrdiff_t columns_ = 0;
  std::vector<NodeId> nodes_;          // of the row
  std::vector<std::size_t> last_row_;  // by node: the line that named it last
  NodeTable table_;
};

}  // namespace

NodeTable read_node_table(std::unique_ptr<ByteSource> source, const Machine& machine,
                          std::span<const std::string> hosts) {
  return Reader{std::move(source), machine, hosts}.read();
}

NodeTable read_node_table(const std::string& path, const Machine& machine, std::span<const std::string> hosts) {
  return read_node_table(open_source(path), machine, hosts);
}

std::string node_table_text(std::span<const NodeEvent> events) {
  std::string text = fmt::format("{}\n", fmt::join(kColumns, ","));
  std::string memory;
  for (const auto& [at, change] : events)
    text += fmt::format("{},n{},{}{},{},{}\n", to_text(at), number(change.node), to_text(change.state),
                        change.reservation.empty() ? "" : ":" + change.reservation,
                        change.until == kNever ? "" : to_text(change.until),
                        CsvFile::quoted(clean_line(change.reason), memory));
  return text;
}

}  // namespace replay
