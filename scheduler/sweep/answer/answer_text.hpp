// The answer of a study in words and tables: what is missing of it, then for each metric a verdict, means with intervals,
// differences, and what is open. `table.txt` is made of it, and the page.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "scheduler/sweep/answer/comparison.hpp"
#include "scheduler/sweep/study_results.hpp"

namespace replay::sweep {

struct AnswerTable {
  std::string title{};
  std::vector<std::vector<std::string>> rows{};  ///< the first one is the head
  std::vector<std::size_t> best{};               ///< for each row the column of the best policy; 0: none
  std::size_t names = 0;                         ///< columns that say which setting a row is about
};

struct MetricAnswer {
  std::string title{};    ///< "mean_wait, s: less is better"
  std::string verdict{};  ///< one sentence or two
  std::vector<AnswerTable> tables{};
};

struct AnswerText {
  std::string title{};               ///< the study's name
  std::vector<std::string> cells{};  ///< how many there are; those that failed or are missing, and why
  bool is_whole = true;              ///< all cells are done, by one version
  std::vector<MetricAnswer> metrics{};
  std::vector<std::string> method{};  ///< what the numbers and marks mean
};

/// The same results are the same text.
[[nodiscard]] AnswerText answer_of(const StudyResults& results, const StudyComparison& comparison);
/// As plain text with aligned columns: `table.txt`.
[[nodiscard]] std::string to_text(const AnswerText& answer);

}  // namespace replay::sweep
