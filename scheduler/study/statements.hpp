// Statements of a paper's text, and how each is judged by what was found.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "scheduler/study/findings.hpp"
#include "scheduler/study/result.hpp"

namespace replay::study {

/// `Found`: what it is judged by.
template <class Found>
struct StatementOf {
  const char* text;
  /// Adds our numbers, and whether they agree. Where it adds none the statement is left out: its cells were not run.
  void (*judge)(Check& check, const Found& found);
  const char* why = "";  ///< it does not hold, unless judge() knows more
};
using Statement = StatementOf<Findings>;

template <class Found>
[[nodiscard]] std::vector<Check> judged(const Found& found, std::span<const StatementOf<Found>> statements) {
  std::vector<Check> checks;
  for (const auto& [text, judge, why] : statements) {
    Check check{.statement = text, .why = why};
    judge(check, found);
    if (!check.found.empty()) checks.push_back(std::move(check));
  }
  return checks;
}

}  // namespace replay::study
