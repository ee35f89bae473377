// docs/formats/events.md is held to the records and their fields.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "scheduler/log/fields.hpp"
#include "scheduler/log/text.hpp"

namespace replay::log {
namespace {

using Names = std::vector<std::string>;

// Lists the names of all fields, whether a record would have them or not.
struct FieldNames {
  Instant at;
  Names names;

  template <class Value, class Of = NoRule>
  void field(std::string_view name, Value& /*value*/, const Of& /*rule*/ = {}) {
    names.emplace_back(name);
  }
  template <class Value, class Of = NoRule>
  void optional(std::string_view name, Value& value, const std::type_identity_t<Value>& /*otherwise*/ = {},
                const Of& /*rule*/ = {}) {
    field(name, value);
  }
  void together(bool /*are_stated*/, const auto& list) { list(); }
  void declaration(std::shared_ptr<const Declaration>& /*stated*/) {
    Declaration declared;
    fields(*this, declared);
  }
};

template <std::size_t Word>
Names fields_of_record() {
  What what;
  FieldNames list;
  fields(list, emplace<Word>(what));
  return list.names;
}

std::string page() {
  std::ifstream file(REPLAY_SOURCE_DIR "/docs/formats/events.md");
  return {std::istreambuf_iterator<char>(file), {}};
}

// "a, b (c, d)" as {"a", "b"}, without the quotes of words.
Names names_of(std::string_view cell) {
  Names names(1);
  int depth = 0;
  for (const char c : cell) {
    if (c == '(') ++depth;
    if (depth == 0 && c == ',')
      names.emplace_back();
    else if (depth == 0 && c != ' ' && c != '`')
      names.back() += c;
    if (c == ')') --depth;
  }
  return names;
}

// The fields of each kind by the table of records.
std::map<std::string, Names> documented() {
  std::map<std::string, Names> kinds;
  std::istringstream lines(page());
  std::string line;
  while (std::getline(lines, line) && !line.starts_with("| kind | fields |")) {
  }
  std::getline(lines, line);  // the rule below the titles
  while (std::getline(lines, line) && line.starts_with("| ")) {
    const std::size_t second = line.find(" | ", 2), third = line.find(" | ", second + 3);
    for (const std::string& kind : names_of(std::string_view{line}.substr(2, second - 2)))
      kinds[kind] = names_of(std::string_view{line}.substr(second + 3, third - second - 3));
  }
  return kinds;
}

TEST(EventLogPage, NamesEveryRecordAndItsFieldsInTheirOrder) {
  std::map<std::string, Names> written;
  [&]<std::size_t... Word>(std::index_sequence<Word...>) {
    ((written[std::string{kWords[Word]}] = fields_of_record<Word>()), ...);
  }
  (std::make_index_sequence<kWords.size()>{});
  EXPECT_EQ(documented(), written);
}

struct Counted final : Sink {
  std::size_t records = 0;
  void header(const Header& /*header*/) override {}
  void record(const Record& /*record*/) override { ++records; }
};

TEST(EventLogPage, ItsExampleIsALog) {
  const std::string text = page();
  const std::size_t from = text.find(kFirstLine), end = text.find("```", from);
  ASSERT_NE(end, std::string::npos);
  Counted counted;
  EXPECT_TRUE(read_text(std::string_view{text}.substr(from, end - from), "events.md", counted));
  EXPECT_EQ(counted.records, 14U);
}

}  // namespace
}  // namespace replay::log
