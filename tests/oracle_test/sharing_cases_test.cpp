// The oracle of g-lomarc-ts and scojo-pect on the cases in tests/data/cases/sharing, which were worked out by hand: start,
// end, processes per node, nodes and R_est of every job, and the groups. No line of the program's policies runs here.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/oracle/sharing/run.hpp"

namespace replay::test {
namespace {

using oracle::kSecond;
using oracle::Time;

// Lines as their words; '|' is part of a word.
std::vector<std::vector<std::string>> words_of(const std::string& path) {
  std::ifstream file{path};
  std::vector<std::vector<std::string>> lines;
  for (std::string line; std::getline(file, line);) {
    for (char& c : line)
      if (c == ',') c = ' ';
    std::istringstream words{line};
    lines.emplace_back();
    for (std::string word; words >> word;) lines.back().push_back(word);
  }
  return lines;
}

std::vector<std::vector<std::string>> rows_of(const std::string& path) {
  auto lines = words_of(path);
  if (!lines.empty()) lines.erase(lines.begin());
  return lines;
}

Time seconds_of(const std::string& text) { return static_cast<Time>(std::llround(std::stod(text) * kSecond)); }

oracle::Workload case_at(const std::string& path) {
  oracle::Workload workload;
  workload.flat = false;
  workload.packages_per_node = 2;
  workload.cores_per_node = 4;
  for (const auto& line : words_of(path + ".swf")) {
    if (line.front() == ";") {
      if (line.at(1) == "MaxNodes:") workload.nodes = std::stoi(line.at(2));
      continue;
    }
    oracle::Job job;
    job.number = std::stoll(line.at(0));
    job.submit = seconds_of(line.at(1));
    job.run_time = seconds_of(line.at(3));
    job.processes = std::stoi(line.at(7));
    job.request = seconds_of(line.at(8));
    workload.jobs.push_back(job);
  }
  const auto of_jobs = rows_of(path + ".jobs.csv");
  for (std::size_t i = 0; i < of_jobs.size(); ++i) {
    workload.jobs.at(i).same_cpu_slowdown = std::stod(of_jobs[i].at(1));
    workload.jobs.at(i).same_node_slowdown = std::stod(of_jobs[i].at(2));
  }
  for (const auto& row : rows_of(path + ".pairs.csv"))
    workload.pairs[{std::stoll(row.at(0)), std::stoll(row.at(1))}] = std::stod(row.at(2));
  return workload;
}

struct SharingCase {
  std::string name;
  double slack = 1.5;
  bool sliced = false;
};

class SharingCases : public testing::TestWithParam<SharingCase> {};

TEST_P(SharingCases, EveryJobAndGroupIsThatWorkedOutByHand) {
  const std::string path = std::string{REPLAY_SOURCE_DIR} + "/tests/data/cases/sharing/" + GetParam().name;
  const oracle::Workload workload = case_at(path);
  oracle::sharing::Rules rules;
  rules.slack = GetParam().slack;
  rules.sliced = GetParam().sliced;
  const oracle::sharing::Result found = run(workload, rules);

  const auto expected = rows_of(path + ".expected.csv");
  ASSERT_EQ(expected.size(), workload.jobs.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const oracle::sharing::JobRun& job = found.jobs[i];
    EXPECT_EQ(job.start, seconds_of(expected[i].at(1))) << "job " << i + 1;
    EXPECT_EQ(job.end, seconds_of(expected[i].at(2))) << "job " << i + 1;
    EXPECT_EQ(job.ppn, std::stoi(expected[i].at(3))) << "job " << i + 1;
    EXPECT_EQ(fmt::format("{}", fmt::join(job.nodes, "|")), expected[i].at(4)) << "job " << i + 1;
    EXPECT_NEAR(job.response_estimate, std::stod(expected[i].at(5)) * kSecond, 1) << "job " << i + 1;
  }

  const auto groups = rows_of(path + ".groups.csv");
  ASSERT_EQ(found.groups.size(), groups.size());
  for (std::size_t i = 0; i < groups.size(); ++i) {
    EXPECT_EQ(found.groups[i].time, seconds_of(groups[i].at(0)));
    EXPECT_EQ(std::to_string(found.groups[i].way), groups[i].at(1));
    EXPECT_EQ(fmt::format("{}", fmt::join(found.groups[i].primary, "|")), groups[i].at(2));
    EXPECT_EQ(fmt::format("{}", fmt::join(found.groups[i].matched, "|")), groups[i].at(3));
    EXPECT_NEAR(found.groups[i].gain, std::stod(groups[i].at(4)), 1e-8);
  }
}

INSTANTIATE_TEST_SUITE_P(Oracle, SharingCases,
                         testing::Values(SharingCase{"three-jobs"}, SharingCase{"four-periods"}, SharingCase{"purify"},
                                         SharingCase{"window"}, SharingCase{"refused"},
                                         SharingCase{"refused-slack2", 2}, SharingCase{"running-primary"},
                                         SharingCase{"bundle"}, SharingCase{"bundle-refused"},
                                         SharingCase{"slices", 1.5, true}, SharingCase{"guest", 1.5, true},
                                         SharingCase{"guest-refused", 1.5, true}),
                         [](const testing::TestParamInfo<SharingCase>& one) {
                           std::string name = one.param.name;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace replay::test
