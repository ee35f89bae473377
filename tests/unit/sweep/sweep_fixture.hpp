// A small study, and what its sweep has left.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "scheduler/sweep/engine/cell_line.hpp"
#include "scheduler/sweep/read_results.hpp"
#include "tests/support/background.hpp"
#include "tests/unit/cli/command_line_fixture.hpp"

namespace replay::test {

inline constexpr const char* kSmallStudy =
    "metrics = [\"mean_bounded_slowdown\", \"utilisation\"]\n"
    "[axes]\n"
    "policy = [\"easy\", \"fcfs-malleable\"]\n"
    "load = [0.6, 0.9]\n"
    "malleable = [0, 1]\n"
    "seed = \"1..4\"\n"
    "[fixed]\n"
    "model = \"lublin\"\n"
    "jobs = 60\n"
    "machine = \"8x2x2\"\n"
    "[[where]]\n"
    "not = { policy = \"easy\", malleable = 1 }\n";
inline constexpr std::size_t kSmallCells = 24;

class Sweep : public CommandLine {
 protected:
  Sweep() { write_text(folder_ / "study.toml", kSmallStudy); }

  ShellResult sweep(const std::string& options) { return replay("sweep study.toml " + options); }
  sweep::StudyResults all_results(const std::string& out) {
    return sweep::read_results(sweep::Plan{folder_ / "study.toml"}, folder_ / out);
  }
  std::vector<sweep::CellResult> results(const std::string& out) { return all_results(out).cells; }
  // All of it, undisturbed, in one process.
  const std::vector<sweep::CellResult>& expected() {
    if (expected_.empty()) {
      EXPECT_EQ(sweep("-o expected --jobs 1").status, 0);
      expected_ = results("expected");
      EXPECT_EQ(expected_.size(), kSmallCells);
    }
    return expected_;
  }
  // All that --gather makes of it.
  std::string gathered(const std::string& out) {
    const ShellResult done = sweep("--gather -o " + out);
    EXPECT_EQ(done.status, 0) << done.err;
    std::string all;
    for (const char* name : {"sweep.csv", "table.txt", "report.html"}) {
      const std::string text = text_of(folder_ / out / name);
      EXPECT_FALSE(text.empty()) << name;
      all += text;
    }
    return all;
  }
  [[nodiscard]] std::size_t lines(const std::string& out) const {
    std::size_t count = 0;
    sweep::CellFiles files{folder_ / out / "cells"};
    files.read_new([&](const sweep::LineHead&, std::string_view) { ++count; });
    return count;
  }
  [[nodiscard]] bool is_running(const std::string& out, const std::string& shard) const {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator{folder_ / out / "running", ignored})
      if (entry.path().filename().string().starts_with(shard)) return true;
    return false;
  }
  std::unique_ptr<Background> begin(const std::string& out, std::vector<std::string> more = {}) {
    std::vector<std::string> words{"sweep", (folder_ / "study.toml").string(), "-o", (folder_ / out).string()};
    words.insert(words.end(), more.begin(), more.end());
    const std::string log = "log" + std::to_string(++started_);
    return std::make_unique<Background>(kReplay, words, folder_ / log, folder_ / log);
  }
  // Cells of a second or so each.
  void make_long() {
    std::string text = kSmallStudy;
    text.replace(text.find("jobs = 60"), 9, "jobs = 4000");
    write_text(folder_ / "study.toml", text);
  }

  // A log of a machine with 64 processors, one of whose jobs is wider than the machine of the study.
  void write_wide_study(const std::string& axes, const std::string& fixed) {
    std::string log = "; MaxProcs: 64\n";
    for (int job = 1; job <= 20; ++job)
      log +=
          fmt::format("{0} {1} -1 100 {2} -1 -1 {2} 200 -1 1 1 1 -1 -1 -1 -1 -1\n", job, 10 * job, job == 3 ? 40 : 4);
    write_text(folder_ / "wide.swf", log);
    write_text(folder_ / "study.toml",
               "metrics = [\"jobs_completed\", \"utilisation\"]\n[axes]\npolicy = [\"easy\"]\n" + axes +
                   "[fixed]\ntrace = \"wide.swf\"\nmachine = \"16x1x1\"\n" + fixed);
  }

 private:
  std::vector<sweep::CellResult> expected_;
  int started_ = 0;
};

}  // namespace replay::test
