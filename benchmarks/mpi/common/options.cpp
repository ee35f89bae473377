// Reads the arguments into the variables that were named for them, and words the messages about wrong ones.
#include "benchmarks/mpi/common/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace replay::bench {
namespace {

/// Reads all of `text` as a T within the limits; false, and no change, otherwise. NaN is never within limits.
template <typename T>
bool read_within(const std::string& text, T least, T most, T& value) {
  T read{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, read);
  if (error != std::errc{} || stop != end || !(read >= least && read <= most)) return false;
  value = read;
  return true;
}

}  // namespace

void Options::number(std::string name, double& value, double least, double most, std::string help) {
  options_.push_back(
      {std::move(name), fmt::format("a number from {} to {}", least, most), fmt::format("{}", value), std::move(help),
       [&value, least, most](const std::string& text) { return read_within(text, least, most, value); }});
}

void Options::count(std::string name, std::uint64_t& value, std::uint64_t least, std::uint64_t most, std::string help) {
  options_.push_back({std::move(name), fmt::format("a whole number from {} to {}", least, most),
                      fmt::format("{}", value), std::move(help), [&value, least, most](const std::string& text) {
                        return read_within(text, least, most, value);
                      }});
}

void Options::choice(std::string name, std::string& value, const std::vector<std::string>& allowed, std::string help) {
  options_.push_back({std::move(name), fmt::format("{}", fmt::join(allowed, ", ")), value, std::move(help),
                      [&value, allowed](const std::string& text) {
                        if (std::ranges::find(allowed, text) == allowed.end()) return false;
                        value = text;
                        return true;
                      }});
}

bool Options::parse(int argc, char** argv) const {
  std::vector<std::string> words(argv + 1, argv + argc);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--help" || words[i] == "-h") return false;
    const auto equals = words[i].find('=');
    const Option& option = find(words[i].substr(0, equals));
    if (equals == std::string::npos && i + 1 == words.size()) reject(option.name, option.expected, "nothing");
    const std::string text = equals == std::string::npos ? words[++i] : words[i].substr(equals + 1);
    if (!option.read(text)) reject(option.name, option.expected, fmt::format("'{}'", text));
  }
  return true;
}

const Options::Option& Options::find(const std::string& name) const {
  const auto option = std::ranges::find(options_, name, &Option::name);
  if (option != options_.end()) return *option;
  std::vector<std::string> names;
  for (const Option& known : options_) names.push_back(known.name);
  throw UsageError(
      fmt::format("{}: unknown argument '{}': expected one of {}; try --help", program_, name, fmt::join(names, ", ")));
}

void Options::reject(std::string_view option, std::string_view expected, std::string_view found) const {
  throw UsageError(fmt::format("{}: {}: expected {}, found {}; try --help", program_, option, expected, found));
}

std::string Options::help() const {
  std::string text =
      fmt::format("{}: {}\nUsage: mpiexec -n RANKS {} [OPTION VALUE]...\n", program_, purpose_, program_);
  for (const Option& option : options_) {
    text += fmt::format("  {:<15} {} ({}; default {})\n", option.name, option.help, option.expected, option.preset);
  }
  return text + "Exit status: 0 verified, 1 broken, 2 wrong usage, 3 failed on purpose, 4 not verified\n";
}

}  // namespace replay::bench
