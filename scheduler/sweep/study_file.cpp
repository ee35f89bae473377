#include "scheduler/sweep/study_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/base/text/split.hpp"
#include "scheduler/base/text/suggest.hpp"
#include "scheduler/metrics/summary.hpp"
#include "scheduler/sweep/cell_work.hpp"

namespace replay::sweep {
namespace {

constexpr std::size_t kMostSeeds = 1'000'000;
constexpr std::string_view kKeys[] = {"name", "metrics", "axes", "fixed", "where"};
constexpr const char* kUsualMetrics[] = {"mean_bounded_slowdown", "mean_wait", "utilisation"};

std::size_t line_of(const toml::node& node) { return node.source().begin.line; }

std::string text_of(const toml::node& node) {
  if (node.is_table()) return "a table";
  if (node.is_array()) return "a list";
  if (const auto* text = node.as_string()) return fmt::format("'{}'", clean_line(text->get()));
  if (const auto* number = node.as_integer()) return fmt::format("{}", number->get());
  if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  return "a date or time";
}

// Reads one file; keeps what messages need.
class Reader {
 public:
  explicit Reader(const std::filesystem::path& file) { study_.path = file; }

  StudyFile read() {
    const toml::table root = parse();
    for (const auto& [key, node] : root)
      if (std::ranges::find(kKeys, key.str()) == std::end(kKeys))
        fail(key.source().begin.line, key.str(),
             fmt::format("expected {}, found this key{}", fmt::join(kKeys, ", "), near(key.str(), kKeys)));
    study_.name = root.contains("name") ? name_of(*root.get("name")) : study_.path.stem().string();
    if (const toml::node* axes = root.get("axes")) read_axes(table_of(*axes, "axes", "words with their values"));
    if (const toml::node* fixed = root.get("fixed")) read_fixed(table_of(*fixed, "fixed", "words with one value each"));
    if (const toml::node* where = root.get("where")) read_where(*where);
    read_metrics(root.get("metrics"));
    if (study_.axes.empty()) fail(1, "axes", "expected at least one axis, such as policy = [\"easy\"], found none");
    return std::move(study_);
  }

 private:
  [[noreturn]] void fail(std::size_t line, std::string_view key, std::string_view what) const {
    throw UsageError(fmt::format("{}: {}: {}", study_.at(std::max<std::size_t>(line, 1)), key, what));
  }

  static std::string near(std::string_view name, std::span<const std::string_view> known) {
    const std::string_view found = nearest(name, known);
    return found.empty() ? std::string{} : fmt::format("; did you mean '{}'?", found);
  }
  static std::string near(std::string_view name, const std::vector<std::string>& known) {
    return near(name, std::vector<std::string_view>(known.begin(), known.end()));
  }

  [[nodiscard]] toml::table parse() const {
    const std::string text = text_of_file();
    try {
      return toml::parse(text);
    } catch (const toml::parse_error& error) {
      const auto& at = error.source().begin;
      const std::size_t line = end_of_what_is_before(text, at.line, at.column);
      throw UsageError(fmt::format("{}: {}{}", study_.at(line), clean_line(std::string{error.description()}),
                                   line < at.line ? fmt::format(" in line {}", at.line) : ""));
    }
  }

  [[nodiscard]] std::string text_of_file() const {
    const auto fail_with = [&](const std::error_code& error) {
      throw UsageError(
          fmt::format("{}: expected a plan in TOML, cannot be read: {}", study_.path.string(), error.message()));
    };
    if (std::filesystem::is_directory(study_.path)) fail_with(std::make_error_code(std::errc::is_a_directory));
    errno = 0;
    std::ifstream in{study_.path};
    std::string text;
    if (in) text.assign(std::istreambuf_iterator<char>{in}, {});
    if (!in) fail_with({errno, std::generic_category()});
    return text;
  }

  // The parser complains where it finds what it did not expect. If that is the first word of its line, what is missing, such as a
  // comma or a bracket, is missing at the end of the last line above it with a word.
  static std::size_t end_of_what_is_before(std::string_view text, std::size_t line, std::size_t column) {
    const auto lines = split(text, '\n');
    const auto has_word = [](std::string_view part) {
      const std::size_t first = part.find_first_not_of(" \t\r");
      return first != std::string_view::npos && part[first] != '#';
    };
    line = std::min(line, lines.size());
    if (line < 1 || has_word(lines[line - 1].substr(0, std::max<std::size_t>(column, 1) - 1))) return line;
    for (std::size_t above = line - 1; above > 0; --above)
      if (has_word(lines[above - 1])) return above;
    return line;
  }

  const toml::table& table_of(const toml::node& node, std::string_view key, std::string_view what) const {
    if (!node.is_table())
      fail(line_of(node), key, fmt::format("expected [{}], {}, found {}", key, what, text_of(node)));
    return *node.as_table();
  }

  std::string name_of(const toml::node& node) const {
    const auto* const text = node.as_string();
    if (text == nullptr || text->get().empty() || clean_line(text->get()) != text->get())
      fail(line_of(node), "name", fmt::format("expected a text in one line, found {}", text_of(node)));
    return text->get();
  }

  void read_metrics(const toml::node* node) {
    if (node == nullptr) {
      study_.metrics.assign(std::begin(kUsualMetrics), std::end(kUsualMetrics));
      return;
    }
    const toml::array* const list = node->as_array();
    if (list == nullptr || list->empty())
      fail(line_of(*node), "metrics", fmt::format("expected a list of metrics, found {}", text_of(*node)));
    const std::vector<std::string_view> known = metrics::metric_names();
    for (const toml::node& one : *list) {
      const std::string name = one.is_string() ? one.as_string()->get() : text_of(one);
      if (std::ranges::find(known, name) == known.end())
        fail(line_of(one), "metrics",
             fmt::format("expected a metric of metrics.json, found '{}'{}", clean_line(name), near(name, known)));
      if (std::ranges::find(study_.metrics, name) != study_.metrics.end())
        fail(line_of(one), "metrics", fmt::format("'{}' stands there twice", name));
      study_.metrics.push_back(name);
    }
  }

  const CellWord& word_of(const toml::key& key, std::string_view table) const {
    if (const CellWord* const word = find_cell_word(key.str())) return *word;
    const std::string where = fmt::format("{}.{}", table, clean_line(std::string{key.str()}));
    if (const auto why = why_no_word(key.str())) fail(key.source().begin.line, where, *why);
    std::vector<std::string_view> known;
    for (const CellWord& word : cell_words()) known.push_back(word.name);
    fail(key.source().begin.line, where,
         fmt::format("expected a word of a cell, found '{}'{}", clean_line(std::string{key.str()}),
                     near(key.str(), known)));
  }

  static bool is_range(const toml::node& node) {
    const auto* const text = node.as_string();
    return text != nullptr && text->get().find("..") != std::string::npos;
  }

  // A value as a word of a command line.
  StudyValue value_of(const toml::node& node, const CellWord& word, std::string_view where) const {
    StudyValue value{{}, line_of(node)};
    if (node.is_boolean() != word.is_flag)
      fail(value.line, where,
           fmt::format("expected {}, found {}", word.is_flag ? "true or false" : "a text or a number", text_of(node)));
    if (const auto* flag = node.as_boolean())
      value.text = flag->get() ? "on" : "";
    else if (const auto* text = node.as_string())
      value.text = text->get();
    else if (node.is_number())
      value.text = text_of(node);
    else
      fail(value.line, where, fmt::format("expected a text or a number, found {}", text_of(node)));
    if (clean_line(value.text) != value.text)
      fail(value.line, where, fmt::format("expected a text in one line, found {}", text_of(node)));
    check(value, word, where);
    return value;
  }

  void check(const StudyValue& value, const CellWord& word, std::string_view where) const {
    if (value.text.empty() && !word.is_flag) fail(value.line, where, "expected a value, found ''");
    if (!word.words.empty() && std::ranges::find(word.words, value.text) == word.words.end())
      fail(value.line, where,
           fmt::format("expected one of {}, found '{}'{}", fmt::join(word.words, ", "), value.text,
                       near(value.text, word.words)));
    try {
      CellWork scratch;
      word.set(scratch, value.text);
    } catch (const std::exception& error) {
      const std::string_view said = error.what();
      const std::string option = fmt::format("--{}: ", word.name);
      fail(value.line, where, said.starts_with(option) ? said.substr(option.size()) : said);
    }
  }

  // "1..10", "1-10" or "1,3,7".
  std::vector<StudyValue> seeds_of(const std::string& text, std::size_t line) const {
    std::vector<StudyValue> seeds;
    for (const std::string_view part : split(text, ',')) {
      std::size_t mark = part.find(".."), width = 2;
      if (mark == std::string_view::npos) mark = part.find('-'), width = 1;
      const auto first = parse_number<std::uint64_t>(part.substr(0, mark));
      const auto last = mark == std::string_view::npos ? first : parse_number<std::uint64_t>(part.substr(mark + width));
      if (!first || !last)
        fail(line, "axes.seed",
             fmt::format("expected seeds such as \"1..10\" or [1, 3, 7], found '{}'", clean_line(text)));
      if (*last < *first)
        fail(line, "axes.seed",
             fmt::format("expected a range that ascends, found '{0}..{1}'; was '{1}..{0}' meant?", *first, *last));
      if (*last - *first >= kMostSeeds - seeds.size())
        fail(line, "axes.seed", fmt::format("expected at most {} seeds, found '{}'", kMostSeeds, clean_line(text)));
      for (std::uint64_t seed = *first;; ++seed) {
        seeds.push_back({fmt::format_int(seed).str(), line});
        if (seed == *last) break;
      }
    }
    return seeds;
  }

  void read_axes(const toml::table& axes) {
    std::vector<std::pair<const toml::key*, const toml::node*>> in_order;  // the library has them sorted by name
    for (const auto& [key, node] : axes) in_order.emplace_back(&key, &node);
    std::ranges::sort(in_order,
                      [](const auto& a, const auto& b) { return a.first->source().begin < b.first->source().begin; });
    for (const auto& [key_of_axis, node_of_axis] : in_order) {
      const toml::key& key = *key_of_axis;
      const toml::node& node = *node_of_axis;
      const CellWord& word = word_of(key, "axes");
      const std::string where = "axes." + word.name;
      StudyAxis axis{word.name, {}, key.source().begin.line};
      if (const toml::array* const list = node.as_array())
        for (const toml::node& one : *list) axis.values.push_back(value_of(one, word, where));
      else if (word.name == "seed" && node.is_string())
        axis.values = seeds_of(node.as_string()->get(), line_of(node));
      else if (word.name == "seed")
        axis.values.push_back(value_of(node, word, where));
      else
        fail(line_of(node), where,
             fmt::format("expected a list of values, found {}; [fixed] has words of one value{}", text_of(node),
                         is_range(node) ? ", and ranges are of seeds only" : ""));
      if (axis.values.empty()) fail(line_of(node), where, "expected a list of values, found an empty one");
      std::unordered_set<std::string_view> seen(axis.values.size());
      for (const StudyValue& value : axis.values)
        if (!seen.insert(value.text).second)
          fail(value.line, where, fmt::format("'{}' stands there twice", value.text));
      study_.axes.push_back(std::move(axis));
    }
  }

  void read_fixed(const toml::table& fixed) {
    for (const auto& [key, node] : fixed) {
      const CellWord& word = word_of(key, "fixed");
      const std::string where = "fixed." + word.name;
      if (node.is_array()) fail(line_of(node), where, "expected one value, found a list; [axes] has words of several");
      if (const auto axis = std::ranges::find(study_.axes, word.name, &StudyAxis::word); axis != study_.axes.end())
        fail(key.source().begin.line, where, fmt::format("is an axis already, in line {}", axis->line));
      study_.fixed.emplace(word.name, value_of(node, word, where));
    }
  }

  void read_where(const toml::node& node) {
    const toml::array* const list = node.as_array();
    if (list == nullptr || !list->is_array_of_tables())
      fail(line_of(node), "where", fmt::format("expected [[where]] with not = {{...}}, found {}", text_of(node)));
    for (const toml::node& one : *list) {
      const toml::table& table = *one.as_table();
      constexpr std::string_view kNot[] = {"not"};
      for (const auto& [key, value] : table)
        if (key.str() != "not")
          fail(key.source().begin.line, "where",
               fmt::format("expected not = {{...}}, found '{}'{}", key.str(), near(key.str(), kNot)));
      const toml::node* const left_out = table.get("not");
      if (left_out == nullptr || !left_out->is_table() || left_out->as_table()->empty())
        fail(line_of(one), "where", "expected not = { AXIS = VALUE, ... }");
      study_.exclusions.push_back(exclusion_of(*left_out->as_table(), line_of(one)));
    }
  }

  Exclusion exclusion_of(const toml::table& table, std::size_t line_of_where) const {
    Exclusion exclusion{line_of_where, {}};
    for (const auto& [key, node] : table) {
      const std::size_t line = key.source().begin.line;
      const auto axis = std::ranges::find(study_.axes, key.str(), &StudyAxis::word);
      if (axis == study_.axes.end()) {
        std::vector<std::string_view> known;
        for (const StudyAxis& one : study_.axes) known.push_back(one.word);
        fail(line, "where.not",
             fmt::format("expected an axis, found '{}'{}", clean_line(std::string{key.str()}),
                         suggestion(key.str(), known)));
      }
      std::vector<std::size_t>& numbers = exclusion.values[static_cast<std::size_t>(axis - study_.axes.begin())];
      if (const toml::array* const list = node.as_array())
        for (const toml::node& one : *list) numbers.push_back(number_in(*axis, one));
      else
        numbers.push_back(number_in(*axis, node));
    }
    return exclusion;
  }

  std::size_t number_in(const StudyAxis& axis, const toml::node& node) const {
    const std::string where = "where.not." + axis.word;
    const StudyValue value = value_of(node, *find_cell_word(axis.word), where);
    const auto found = std::ranges::find(axis.values, value.text, &StudyValue::text);
    if (found != axis.values.end()) return static_cast<std::size_t>(found - axis.values.begin());
    std::vector<std::string_view> known;
    for (const StudyValue& one : axis.values) known.push_back(one.text);
    fail(value.line, where,
         fmt::format("expected a value of the axis, found '{}'{}", value.text, suggestion(value.text, known)));
  }

  StudyFile study_;
};

}  // namespace

StudyFile read_study(const std::filesystem::path& file) { return Reader{file}.read(); }

}  // namespace replay::sweep
