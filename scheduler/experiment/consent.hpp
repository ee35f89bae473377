// Asks for the user's consent before a file makes us run, load or connect to something: that is code of the file's
// author. The user sees the list first and agrees with an option, or when asked on a terminal.
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
  std::string_view option;         ///< the option that gives the consent: "--trust"
};

/// Prints what there is to consent to.
void show(const Request& request, std::FILE* out);

/// Shows the request and returns if the option was given or the user agrees. Asks only if standard input and `out` are
/// terminals. Otherwise throws UsageError naming the option.
void expect_consent(const Request& request, bool is_given, std::FILE* out);

}  // namespace replay::experiment
