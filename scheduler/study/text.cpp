#include "scheduler/study/text.hpp"

#include <fmt/format.h>

#include <utility>

#include "scheduler/base/json/json_text.hpp"
#include "scheduler/base/text/text_table.hpp"

namespace replay::study {

std::string to_text(const Result& result) {
  std::string text;
  const auto add = [&text]<class... Values>(fmt::format_string<Values...> format, Values&&... values) {
    text += fmt::format(format, std::forward<Values>(values)...);
  };
  add("{}\n{}\n\n", result.title, result.paper);
  for (const std::string& limit : result.limits) add("not the whole study: {}\n", limit);
  for (const std::string& line : result.about) add("{}\n", line);
  for (const Section& section : result.sections)
    for (const Table& table : section.tables) {
      add("\n{}\n{}", table.title, aligned(cells_of(table)));
      if (!table.source.empty()) add("Paper: {}\n", table.source);
      for (const std::string& remark : remarks_of(table)) add("{}\n", remark);
    }
  add("\nWhat the paper says, and whether it comes out\n");
  for (const Check& check : result.checks) add("- {}\n    {}; {}\n", check.statement, check.found, verdict_of(check));
  return text;
}

nlohmann::ordered_json to_json(const Result& result) {
  nlohmann::ordered_json json{{"paper", result.paper}, {"limits", result.limits}};
  json["checks"] = nlohmann::ordered_json::array();
  for (const Check& check : result.checks)
    json["checks"].push_back(
        {{"statement", check.statement}, {"holds", check.holds}, {"found", check.found}, {"why", check.why}});
  json["numbers"] = nlohmann::ordered_json::array();
  for_each_number(result, [&](const Table& table, std::size_t r, std::size_t c) {
    const Value& value = table.rows[r].values[c];
    json["numbers"].push_back({{"table", table.id},
                               {"row", table.rows[r].name},
                               {"column", table.columns[c].name},
                               {"unit", table.columns[c].unit},
                               {"ours", number_or_null(value.ours)},
                               {"paper", number_or_null(value.paper.value_or(std::nan("")))},
                               {"outside_band", table.is_outside(r, c)}});
  });
  return json;
}

}  // namespace replay::study
