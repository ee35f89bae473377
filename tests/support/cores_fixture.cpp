#include "tests/support/cores_fixture.hpp"

#include <fstream>
#include <sstream>

namespace replay::launcher {
namespace {

namespace fs = std::filesystem;

/// Reads the value at `offset` of a segment. The read is not atomic: its fields may be of different instants.
template <typename Value>
Value read_at(const fs::path& file, std::size_t offset) {
  Value value{};
  std::ifstream in{file, std::ios::binary};
  in.seekg(static_cast<std::streamoff>(offset));
  in.read(static_cast<char*>(static_cast<void*>(&value)), sizeof value);
  return value;
}

std::string segment_of(JobId job) { return std::to_string(static_cast<std::int64_t>(job)) + ".segment"; }

std::vector<CoreId> core_ids(const std::vector<int>& numbers) {
  std::vector<CoreId> ids;
  for (const int number : numbers) ids.push_back(CoreId{number});
  return ids;
}

}  // namespace

void SharedCores::use_emulated_cores(int cores) {
  options_.emulated_cores = cores;
  local_.machine = Machine::pool(cores);
  local_.pu_of_core = emulated_pus(cores);
}

void SharedCores::launch_on(JobId job, std::vector<std::string> command, const std::vector<int>& cores) {
  live::LaunchOrder launch = order(std::move(command), cores.size(), job);
  launch.core_of_rank = core_ids(cores);
  launch.directory = directory_ / std::to_string(static_cast<std::int64_t>(job));
  launch.working_directory = launch.directory;
  fs::create_directories(launch.directory);
  fs::remove(launch.directory / "end");  // of the last job of this number
  executor_->launch(launch);
}

bool SharedCores::starts(JobId job) {
  const bool is_there = until([&] { return seen_.started.contains(job) || seen_.ended.contains(job); });
  EXPECT_TRUE(seen_.started.contains(job)) << (is_there ? seen_.ended[job].reason : "nothing was heard of it");
  return seen_.started.contains(job);
}

void SharedCores::order_move(JobId job, const std::vector<int>& cores) { executor_->resize(job, core_ids(cores)); }

bool SharedCores::moves(JobId job, const std::vector<int>& cores) {
  const int before = seen_.resized;
  order_move(job, cores);
  const bool is_answered = until([&] { return seen_.resized > before || !seen_.failed.empty(); });
  EXPECT_EQ(seen_.failed, std::vector<std::string>{});
  return is_answered && seen_.resized > before;
}

void SharedCores::expect_verified(JobId job) {
  ASSERT_TRUE(ends(job));
  const JobEnd& end = seen_.ended.at(job);
  EXPECT_EQ(end.outcome, Outcome::kCompleted) << end.reason << output(job, "stderr");
  EXPECT_EQ(end.verification, Verification::kPassed) << output(job, "stdout");
}

void SharedCores::finish_verified(JobId job) {
  std::ofstream{directory_ / std::to_string(static_cast<std::int64_t>(job)) / "end"}.flush();
  expect_verified(job);
}

std::string SharedCores::output(JobId job, const std::string& name) const {
  std::ostringstream text;
  text << std::ifstream{directory_ / std::to_string(static_cast<std::int64_t>(job)) / name}.rdbuf();
  return text.str();
}

replay_vm_segment SharedCores::header(JobId job) const {
  return read_at<replay_vm_segment>(segment_file(segment_of(job)), 0);
}

replay_vm_slot SharedCores::slot(JobId job, std::uint32_t rank) const {
  return read_at<replay_vm_slot>(segment_file(segment_of(job)),
                                 sizeof(replay_vm_segment) + rank * sizeof(replay_vm_slot));
}

replay_vm_core SharedCores::token(int core) const {
  return read_at<replay_vm_core>(segment_file("cores.segment"),
                                 sizeof(replay_vm_cores) + index_of(pu_of(core)) * sizeof(replay_vm_core));
}

bool SharedCores::hands_off(JobId job, std::uint32_t ranks) {
  std::vector<std::uint64_t> before(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) before[rank] = slot(job, rank).report.handoffs;
  return until([&] {
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      if (slot(job, rank).report.handoffs <= before[rank]) return false;
    return true;
  });
}

}  // namespace replay::launcher
