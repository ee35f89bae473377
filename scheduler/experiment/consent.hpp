// What a file would have run, loaded or connected to is code of its author. The user sees it first, and says yes: with an option, or
// when asked on a terminal.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace replay::experiment {

/// A request for the user's consent.
struct Request {
  std::string what;                ///< "t.swf names programs that are not benchmarks of replay"
  std::vector<std::string> items;  ///< fit for a terminal, one line each; none: there is nothing to consent to
  std::string_view option;         ///< that gives the consent: "--trust"
};

/// Prints what there is to consent to.
void show(const Request& request, std::FILE* out);

/// Shows it, and returns if the option was given or the user says yes, who is asked only where standard input and `out` are a
/// terminal. Throws UsageError naming the option.
void expect_consent(const Request& request, bool is_given, std::FILE* out);

}  // namespace replay::experiment
