// A policy that is a program of its own, asked in JSON lines. It is started with the first pass and ends with the run;
// any failure, a hang too, is a PolicyFault, and no process of it is left behind.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "scheduler/policy/view/policy.hpp"

namespace replay::plugin {

struct ExecOptions {
  std::string name;                 ///< what messages call the policy
  std::vector<std::string> words;   ///< the program and its arguments; not empty
  std::chrono::milliseconds limit;  ///< for each answer
};

[[nodiscard]] std::unique_ptr<Policy> make_exec_policy(ExecOptions options);

/// The words of a command (base/text/shell_words.hpp); no shell is started. Throws UsageError if a quote is not closed.
[[nodiscard]] std::vector<std::string> split_command(const std::string& command);

}  // namespace replay::plugin
