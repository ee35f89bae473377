// `replay sweep` that is killed, interrupted, started twice or without room on its disk, and what is left of it.
#include <sys/mount.h>

#include <csignal>
#include <cstdlib>
#include <thread>

#include "scheduler/base/process/process.hpp"
#include "scheduler/sweep/engine/marks.hpp"
#include "tests/support/random.hpp"
#include "tests/unit/sweep/sweep_fixture.hpp"

namespace replay::test {
namespace {

using namespace replay::sweep;
namespace fs = std::filesystem;

TEST_F(Sweep, AnEstimateThatIsInterruptedIsNone) {
  std::string text = kSmallStudy;
  text.replace(text.find("jobs = 60"), 9, "jobs = 400000");
  write_text(folder_ / "study.toml", text);
  Background estimate{
      kReplay, {"sweep", (folder_ / "study.toml").string(), "--dry-run"}, folder_ / "out", folder_ / "err"};
  ASSERT_TRUE(comes_true([&] { return !children_of(estimate.pid()).empty(); }));
  estimate.send(SIGTERM);
  EXPECT_EQ(estimate.wait(), 128 + SIGTERM);
  EXPECT_EQ(estimate.out(), "");
  EXPECT_NE(estimate.err().find("interrupted"), std::string::npos) << estimate.err();
}

TEST_F(Sweep, OfManySeedsEndsWhenItIsAskedTo) {
  std::string text = kSmallStudy;
  text.replace(text.find("1..4"), 4, "1..1000000");
  text.replace(text.find("0.6, 0.9"), 8, "0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5");
  write_text(folder_ / "study.toml", text);
  const auto ends = [&](std::vector<std::string> words, int milliseconds) {
    words.insert(words.begin(), {"sweep", (folder_ / "study.toml").string()});
    Background process{kReplay, words, folder_ / "log", folder_ / "log"};
    std::this_thread::sleep_for(std::chrono::milliseconds{milliseconds});
    process.send(SIGTERM);
    const auto asked = std::chrono::steady_clock::now();
    EXPECT_EQ(process.wait(), 128 + SIGTERM);
    EXPECT_LT(std::chrono::steady_clock::now() - asked, std::chrono::seconds{3}) << words.back() << milliseconds;
  };
  for (const int milliseconds : {200, 2500}) {
    ends({"--dry-run"}, milliseconds);
    ends({"-o", (folder_ / "many").string()}, milliseconds);
  }
}

TEST_F(Sweep, IsTheSameWhateverIsKilledAtWhateverTime) {
  const char* const wanted = std::getenv("REPLAY_SWEEP_KILLS");
  const int kills = wanted == nullptr ? 4 : std::atoi(wanted);
  (void)expected();
  const std::string undisturbed = gathered("expected");
  Random random{42};
  for (int kill = 0; kill < kills; ++kill) {
    const std::string out = "killed" + std::to_string(kill);
    auto process = begin(out, {"--jobs", "2"});
    std::this_thread::sleep_for(std::chrono::milliseconds{random.between(0, 150)});  // any instant
    for (const pid_t child : children_of(process->pid()))
      if (random.one_in(2)) ::kill(child, SIGKILL);
    if (kill % 4 != 3) process->send(SIGKILL);
    const int status = process->wait();
    EXPECT_TRUE(status == 0 || status == 75 || status == 128 + SIGKILL) << status << process->err();
    EXPECT_EQ(begin(out)->wait(), 0);
    EXPECT_EQ(results(out), expected()) << kill;
    EXPECT_EQ(gathered(out), undisturbed) << kill;
  }
}

TEST_F(Sweep, LeavesNoTemporaryFilesOfAKilledProcess) {
  make_long();
  const fs::path temporary = folder_ / "tmp";
  fs::create_directory(temporary);
  const char* const before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("TMPDIR", temporary.c_str(), 1);
  auto process = begin("out", {"--jobs", "1"});
  EXPECT_TRUE(comes_true([&] { return lines("out") > 0; }));
  process->send(SIGKILL);
  (void)process->wait();
  EXPECT_FALSE(fs::is_empty(temporary));
  const std::string id = sweep("-o out --list").out.substr(0, 16);
  EXPECT_TRUE(comes_true([&] { return processes_marked("TMPDIR=" + temporary.string()).empty(); }));
  EXPECT_EQ(sweep("-o out --cell " + id).status, 0);
  if (before == nullptr)
    ::unsetenv("TMPDIR");
  else
    ::setenv("TMPDIR", kept.c_str(), 1);
  EXPECT_TRUE(fs::is_empty(temporary));
}

TEST_F(Sweep, OfTwoWholeProcessesAtTheSameTimeIsTheSame) {
  auto one = begin("both", {"--jobs", "1"}), other = begin("both", {"--jobs", "1"});
  EXPECT_EQ(one->wait(), 0) << one->err();
  EXPECT_EQ(other->wait(), 0) << other->err();
  EXPECT_EQ(results("both"), expected());
}

TEST_F(Sweep, LeftoversOfASlowShardAreClaimedByOthers) {
  auto slow = begin("out", {"--shard", "2/2", "--jobs", "1"});
  ASSERT_TRUE(comes_true([&] { return is_running("out", "2-of-2"); }));
  slow->send(SIGSTOP);
  const auto fast = nlohmann::json::parse(sweep("-o out --shard 1/2 --json").out);
  slow->send(SIGCONT);
  EXPECT_EQ(fast["missing"], 0);
  EXPECT_GT(fast["of_other_shards"], 0);
  EXPECT_EQ(slow->wait(), 0) << slow->err();
  EXPECT_EQ(results("out"), expected());
}

TEST_F(Sweep, AShardThatNothingRunsIsLeftAlone) {
  EXPECT_EQ(sweep("-o out --shard 1/2").status, 0);
  EXPECT_EQ(lines("out"), kSmallCells / 2);
}

TEST_F(Sweep, AnInterruptionLeavesWholeCellsAndSaysHowToGoOn) {
  make_long();
  auto process = begin("out", {"--jobs", "1"});
  ASSERT_TRUE(comes_true([&] { return lines("out") > 0; }));
  process->send(SIGINT);
  EXPECT_EQ(process->wait(), 128 + SIGINT);
  EXPECT_NE(process->err().find("replay: interrupted: replay sweep "), std::string::npos) << process->err();
  EXPECT_NE(process->err().find("computes what is missing"), std::string::npos) << process->err();
  const auto status = nlohmann::json::parse(sweep("-o out --status --json").out);
  EXPECT_EQ(status["damaged_lines"], 0);
  EXPECT_EQ(status["failed"], 0);
  EXPECT_GT(status["missing"], 0);
  EXPECT_TRUE(fs::is_empty(folder_ / "out/running"));
  EXPECT_TRUE(fs::is_empty(folder_ / "out/claims"));
}

TEST_F(Sweep, AnInterruptionLeavesNoRunsThatAreHalfWritten) {
  make_long();
  auto process = begin("out", {"--jobs", "2", "--folders"});
  const auto has_begun = [&] {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator{folder_ / "out/runs", ignored})
      if (entry.path().filename().string().starts_with('.')) return true;
    return false;
  };
  ASSERT_TRUE(comes_true(has_begun));
  process->send(SIGTERM);
  EXPECT_EQ(process->wait(), 128 + SIGTERM);
  EXPECT_FALSE(has_begun());
}

TEST_F(Sweep, OnAFullDiskAsksToBeTriedAgain) {
  (void)expected();
  const fs::path disk = folder_ / "disk";
  fs::create_directory(disk);
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=16k") != 0)
    GTEST_SKIP() << "a small tmpfs cannot be mounted here (needs root)";
  const ShellResult full = sweep("-o disk/out");
  const ShellResult no_room = sweep("-o disk/out --gather");
  const std::size_t done = lines("disk/out");
  ASSERT_EQ(::mount("tmpfs", disk.c_str(), "tmpfs", MS_REMOUNT, "size=1m"), 0);
  const ShellResult again = sweep("-o disk/out");
  const std::vector<CellResult> found = results("disk/out");
  ::umount(disk.c_str());
  EXPECT_EQ(full.status, 75) << full.out << full.err;
  EXPECT_NE(full.err.find("No space left on device"), std::string::npos) << full.err;
  EXPECT_EQ(no_room.status, 75) << no_room.err;
  EXPECT_GT(done, 0u);
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(found, expected());
}

TEST_F(Sweep, OfWhichAllIsDoneIsDoneInAFolderThatCanOnlyBeRead) {
  const fs::path disk = folder_ / "disk";
  fs::create_directory(disk);
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=4m") != 0)
    GTEST_SKIP() << "a tmpfs cannot be mounted here (needs root)";
  const int before = sweep("-o disk/out").status, part = sweep("-o disk/part --shard 1/2").status;
  EXPECT_EQ(::mount("tmpfs", disk.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, ""), 0);
  const ShellResult all = sweep("-o disk/out"), half = sweep("-o disk/part --shard 1/2"),
                    missing = sweep("-o disk/part");
  ::umount(disk.c_str());
  EXPECT_EQ(before + part, 0);
  EXPECT_EQ(all.status, 0) << all.err;
  EXPECT_EQ(all.out, "24 of 24 cells done (24 before), 0 failed, 0 missing\n");
  EXPECT_EQ(half.status, 0) << half.err;
  EXPECT_EQ(missing.status, 75) << missing.err;
}

}  // namespace
}  // namespace replay::test
