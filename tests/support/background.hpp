// Runs programs in the background with their output in files, and waits for conditions.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace replay::test {

class Background {
 public:
  /// Starts `program` (a path) in this process's folder. Its stdout and stderr go to these files, which may be one.
  Background(const std::string& program, const std::vector<std::string>& arguments, std::filesystem::path out,
             std::filesystem::path err);
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  /// Kills it if it still runs.
  ~Background();

  [[nodiscard]] pid_t pid() const { return pid_; }
  void send(int signal) const;
  [[nodiscard]] bool is_running() const;
  [[nodiscard]] std::string out() const;
  [[nodiscard]] std::string err() const;
  /// Exit status; 128 + signal.
  int wait();

 private:
  pid_t pid_ = -1;
  std::filesystem::path out_;
  std::filesystem::path err_;
};

/// Polls `condition`. False: not true within the limit.
[[nodiscard]] bool comes_true(const std::function<bool()>& condition,
                              std::chrono::seconds within = std::chrono::seconds{20});

/// The processes with `mark` in their environment, as "pid name" each; without this process and zombies.
[[nodiscard]] std::string processes_marked(const std::string& mark);

}  // namespace replay::test
