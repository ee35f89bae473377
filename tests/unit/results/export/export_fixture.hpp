// Fixture for tests of exports: a log made of records, and the files that a format makes of it.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/log/text.hpp"
#include "scheduler/results/export/export_files.hpp"
#include "scheduler/results/export/formats.hpp"
#include "tests/support/shell.hpp"
#include "tests/unit/metrics/records.hpp"

namespace replay::results {

class Export : public testing::Test {
 protected:
  using Records = metrics::Records;

  [[nodiscard]] RunLog log_of(const Records& records) const {
    log::TextWriter writer{folder_ / "events.log"};
    records.feed(writer);
    writer.close();
    return RunLog{folder_ / "events.log"};
  }
  /// The text of the format's first file; the others are beside it.
  std::string made(std::string_view format, const Records& records) {
    const ExportFormat& chosen = export_format(format);
    const std::filesystem::path log = log_of(records).file();
    const auto planned = plan_exports(std::span{&log, 1}, chosen, folder_.path() / "x");
    files_ = planned.front().files;
    remarks_ = chosen.write(RunLog{log}, files_);
    return test::text_of(files_.front());
  }
  /// The line of the text that begins with `start`; empty if there is none.
  static std::string line_of(const std::string& text, std::string_view start) {
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
      if (text.compare(at, start.size(), start) == 0) return text.substr(at, text.find('\n', at) - at);
    return "";
  }
  static int count_of(const std::string& text, std::string_view part) {
    int count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
  }

  TemporaryFolder folder_;
  ExportFiles files_;
  Remarks remarks_;
};

/// On 1x1x4: job 1 has four cores, gives two of them to job 2 and gets them back.
inline metrics::Records shrunk_run() {
  metrics::Records run("1x1x4");
  run.header("body", "sim").header("policy", "fcfs-malleable").header("trace", "small.swf");
  return run.submit(0, 1, 4, 10)
      .launch_on(0, 1, {{0, 1}, {1, 1}, {2, 1}, {3, 1}})
      .submit(2, 2, 2, 5)
      .resized_on(3, 1, {{0, 2}, {1, 2}}, 2)
      .launch_on(3, 2, {{2, 1}, {3, 1}})
      .finish(8, 2)
      .resized_on(8, 1, {{0, 1}, {1, 1}, {2, 1}, {3, 1}}, 1)
      .finish(13, 1);
}

/// On two nodes of two cores: jobs 1 and 2 share core 1, job 3 is suspended and resumed elsewhere.
inline metrics::Records shared_run() {
  metrics::Records run("2x1x2");
  run.header("policy", "g-lomarc-ts").header("trace", "t.swf");
  return run.submit(0, 1, 2, 10)
      .submit(0, 2, 1, 10)
      .submit(0, 3, 2, 10)
      .launch_shared(0, 1, {{0, 1}, {1, 1}})
      .launch_shared(1, 2, {{1, 1}})
      .launch_on(1, 3, {{2, 1}, {3, 1}})
      .suspended(4, 3)
      .finish(5, 1)
      .resumed(6, 3)
      .finish(8, 2)
      .finish(9, 3);
}

}  // namespace replay::results
