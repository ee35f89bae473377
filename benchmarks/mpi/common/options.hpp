// Command-line arguments of the benchmark programs: `--name value` or `--name=value`. Small on purpose: every rank of
// every job reads them, and a message has to say what was expected and what was found.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace replay::bench {

/// A mistake on the command line; what() is the whole message.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The options of one program. The variables given to number(), count() and choice() hold the defaults before parse()
/// and the arguments after it; they must outlive it.
class Options {
 public:
  Options(std::string program, std::string purpose) : program_(std::move(program)), purpose_(std::move(purpose)) {}

  void number(std::string name, double& value, double least, double most, std::string help);
  void count(std::string name, std::uint64_t& value, std::uint64_t least, std::uint64_t most, std::string help);
  void choice(std::string name, std::string& value, const std::vector<std::string>& allowed, std::string help);

  /// Reads the arguments; throws UsageError naming the argument at fault. False: `--help` was asked for.
  bool parse(int argc, char** argv) const;

  /// Throws UsageError about `option` in the words of every other one.
  [[noreturn]] void reject(std::string_view option, std::string_view expected, std::string_view found) const;

  std::string help() const;

 private:
  struct Option {
    std::string name;
    std::string expected;  // "a number from 0 to 1"
    std::string preset;
    std::string help;
    std::function<bool(const std::string&)> read;  // false: not what was expected
  };
  const Option& find(const std::string& name) const;

  std::string program_;
  std::string purpose_;
  std::vector<Option> options_;
};

}  // namespace replay::bench
