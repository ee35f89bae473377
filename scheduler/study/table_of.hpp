// Makes a table whose columns know how their value follows from what a row is about.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/study/printed.hpp"
#include "scheduler/study/result.hpp"

namespace replay::study {

/// `Key`: what a row is about.
template <class Key>
class TableOf {
 public:
  using Ours = std::function<double(const Key&)>;
  using Paper = std::function<std::optional<double>(const Key&)>;

  /// The columns know the paper's numbers, if there are any.
  explicit TableOf(Table table) : table_(std::move(table)) {}
  /// They are those in `printed`, under the table's id or the name `table_in_print`.
  TableOf(Table table, const Printed& printed, std::string_view table_in_print = {})
      : table_(std::move(table)),
        printed_(&printed),
        in_print_(table_in_print.empty() ? table_.id : std::string{table_in_print}) {}

  void column(Column column, Ours ours, Paper paper = {}) {
    table_.columns.push_back(std::move(column));
    ours_.push_back(std::move(ours));
    paper_.push_back(std::move(paper));
  }
  /// `in_print`: what the row is called there.
  void row(std::string name, const Key& key, const std::string& in_print) {
    Row row{std::move(name)};
    for (std::size_t c = 0; c < ours_.size(); ++c)
      row.values.push_back({ours_[c](key), printed_ != nullptr
                                               ? printed_->find(in_print_, in_print, table_.columns[c].name)
                                           : paper_[c] ? paper_[c](key)
                                                       : std::nullopt});
    table_.rows.push_back(std::move(row));
  }
  void row(const std::string& name, const Key& key) { row(name, key, name); }
  void note(std::string text) { table_.notes.push_back(std::move(text)); }

  [[nodiscard]] const Table& table() const {
    if (printed_ != nullptr) printed_->expect_columns_in(table_);
    return table_;
  }

 private:
  Table table_;
  const Printed* printed_ = nullptr;
  std::string in_print_;
  std::vector<Ours> ours_;
  std::vector<Paper> paper_;
};

}  // namespace replay::study
