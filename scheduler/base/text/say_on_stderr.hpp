// Lines on standard error that are printed if they can be: a program whose reader has gone works on.
#pragma once

#include <cstdio>
#include <string>

#include "scheduler/base/text/clean_text.hpp"

namespace replay {

/// stdio, because fmt::print() throws where standard error cannot be written. Cleaned: it may quote any file and any word.
inline void say_on_stderr(const std::string& line) { std::fputs((clean_lines(line) + '\n').c_str(), stderr); }

}  // namespace replay
