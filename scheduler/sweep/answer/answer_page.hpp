// The answer of a study as one self-contained page, light and dark: no other file, no script, no external font.
#pragma once

#include <string>

#include "scheduler/sweep/answer/answer_text.hpp"

namespace replay::sweep {

/// HTML with the figures as SVG in it. The same results are the same bytes.
[[nodiscard]] std::string to_html(const AnswerText& answer, const StudyComparison& comparison);

}  // namespace replay::sweep
