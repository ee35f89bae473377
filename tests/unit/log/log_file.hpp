// What tests of the event log's text share: a file, what is read from it, and the words of an error.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/log/text.hpp"

namespace replay::log {

constexpr Instant at(Duration time) { return Instant{time}; }

class Collected final : public Sink {
 public:
  void header(const Header& header) override { headers.push_back(header); }
  void record(const Record& record) override { lines.push_back(to_line(record)); }
  std::vector<Header> headers;
  std::vector<std::string> lines;
};

// A file in the temporary folder, deleted at the end of the test.
class TemporaryFile {
 public:
  TemporaryFile() {
    const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::temp_directory_path() /
            (std::string("replay-") + test->name() + "-" + std::to_string(::getpid()) + ".log");
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::filesystem::remove(path_); }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::string text() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(const std::string& text) const { std::ofstream(path_, std::ios::binary) << text; }

 private:
  std::filesystem::path path_;
};

std::string error_of(auto&& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

inline bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace replay::log
