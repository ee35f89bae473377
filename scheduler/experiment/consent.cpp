#include "scheduler/experiment/consent.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <iostream>

#include "scheduler/base/error.hpp"

namespace replay::experiment {
namespace {

bool can_ask(std::FILE* out) { return ::isatty(STDIN_FILENO) == 1 && ::isatty(::fileno(out)) == 1; }

bool says_yes(std::FILE* out) {
  fmt::print(out, "Go on? [y/N] ");
  std::fflush(out);
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace

void show(const Request& request, std::FILE* out) {
  if (request.items.empty()) return;
  fmt::print(out, "{}:\n", request.what);
  for (const std::string& item : request.items) fmt::print(out, "  {}\n", item);
}

void expect_consent(const Request& request, bool is_given, std::FILE* out) {
  if (request.items.empty()) return;
  show(request, out);
  if (is_given || (can_ask(out) && says_yes(out))) return;
  std::fflush(out);
  throw UsageError(fmt::format("{}; expected {} to go on with it", request.what, request.option));
}

}  // namespace replay::experiment
