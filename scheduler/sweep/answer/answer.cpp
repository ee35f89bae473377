#include "scheduler/sweep/answer/answer.hpp"

#include "scheduler/base/file/whole_file.hpp"
#include "scheduler/sweep/answer/answer_page.hpp"
#include "scheduler/sweep/answer/answer_text.hpp"
#include "scheduler/sweep/answer/sweep_csv.hpp"

namespace replay::sweep {

std::string write_answer(const std::filesystem::path& folder, const StudyResults& results) {
  const StudyComparison comparison = compare(results);
  const AnswerText answer = answer_of(results, comparison);
  std::string table = to_text(answer);
  write_sweep_csv(folder / "sweep.csv", results);
  write_whole_file(folder / "table.txt", table);
  write_whole_file(folder / "report.html", to_html(answer, comparison));
  return table;
}

}  // namespace replay::sweep
