// Tests of the removal of a killed job's files in /dev/shm.
#include "launcher/mpich/shared_files.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include "scheduler/base/file/name_template.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/base/process/process.hpp"

namespace replay::launcher {
namespace {

namespace fs = std::filesystem;

/// A process that has mapped a file as MPICH makes it, or under another name.
class Mapper {
 public:
  explicit Mapper(std::string start = "/dev/shm/mpich_shar_tmp") : path_(name_template(std::move(start))) {
    const UniqueFd file{::mkstemp(path_.data())};
    EXPECT_EQ(::ftruncate(file.get(), 4096), 0);
    void* const mapped = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    pid_ = ::fork();
    if (pid_ == 0)
      while (true) ::pause();
    ::munmap(mapped, 4096);
  }
  Mapper(const Mapper&) = delete;
  Mapper& operator=(const Mapper&) = delete;
  ~Mapper() {
    end();
    std::filesystem::remove(path_);
  }
  void end() {
    if (pid_ <= 0) return;
    if (const auto process = Process::open(pid_)) process->signal(SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool is_there() const { return std::filesystem::exists(path_); }

 private:
  std::string path_;
  pid_t pid_ = 0;
};

TEST(SharedFiles, OfAJobThatWasKilledAreRemoved) {
  Mapper rank;
  SharedFiles files;
  files.note(rank.pid());
  rank.end();
  files.remove();
  EXPECT_FALSE(rank.is_there());
}

TEST(SharedFiles, ThatAProcessStillMapsAreKept) {
  const Mapper rank;
  SharedFiles files;
  files.note(rank.pid());
  files.remove();
  EXPECT_TRUE(rank.is_there());
}

TEST(SharedFiles, OfAnotherJobAndUnderOtherNamesAreKept) {
  Mapper rank, other, users{"/dev/shm/replay_test_"};
  SharedFiles files;
  files.note(rank.pid());
  files.note(users.pid());
  for (Mapper* one : {&rank, &other, &users}) one->end();
  files.remove();
  EXPECT_TRUE(other.is_there());
  EXPECT_TRUE(users.is_there());
}

TEST(SharedFiles, ThatAreOthersUnderTheSameNameAreKept) {
  Mapper rank;
  SharedFiles files;
  files.note(rank.pid());
  rank.end();
  std::filesystem::rename(rank.path(), rank.path() + "old");  // keeps the inode in use
  const UniqueFd file{::open(rank.path().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
  files.remove();
  EXPECT_TRUE(rank.is_there());
  std::filesystem::remove(rank.path() + "old");
}

/// A file in an agent's folder.
class AgentsFolder : public testing::Test {
 protected:
  fs::path make(const std::string& name) {
    std::ofstream{folder_ / name} << "";
    return folder_ / name;
  }
  TemporaryFolder folder_{"replay-test", "/dev/shm"};
};

TEST_F(AgentsFolder, FilesThatNoProcessHasAnyMoreAreRemoved) {
  const fs::path open = make("mqqLCyH"), mapped = make("ucx_shm_posix_2007649a"), unused = make("mqqLCyI");
  UniqueFd file{::open(open.c_str(), O_RDWR | O_CLOEXEC)};
  {
    const UniqueFd other{::open(mapped.c_str(), O_RDWR | O_CLOEXEC)};
    ASSERT_EQ(::ftruncate(other.get(), 4096), 0);
    void* const memory = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, other.get(), 0);
    ASSERT_NE(memory, MAP_FAILED);
    remove_unused_files(folder_.path());
    EXPECT_TRUE(fs::exists(open) && !fs::exists(unused));
    ::munmap(memory, 4096);
  }
  file = UniqueFd{};
  EXPECT_TRUE(fs::exists(mapped)) << "it was mapped";
  remove_unused_files(folder_.path());
  EXPECT_FALSE(fs::exists(open) || fs::exists(mapped));
}

TEST_F(AgentsFolder, AMappingAloneKeepsAFile) {
  const fs::path mapped = make("mqqLCyH");
  void* memory = nullptr;
  {
    const UniqueFd file{::open(mapped.c_str(), O_RDWR | O_CLOEXEC)};
    ASSERT_EQ(::ftruncate(file.get(), 4096), 0);
    memory = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    ASSERT_NE(memory, MAP_FAILED);
  }
  remove_unused_files(folder_.path());
  EXPECT_TRUE(fs::exists(mapped));
  ::munmap(memory, 4096);
}

TEST_F(AgentsFolder, FilesUnderOtherNamesAreKept) {
  const fs::path marker = make("replay-agent"), data = make("mdata"), users = make("mpich_shar_tmpqqLCyH");
  fs::create_symlink(data, folder_ / "mlink00");
  fs::create_directory(folder_ / "mfolder");
  remove_unused_files(folder_.path());
  for (const fs::path& one : {marker, data, users, folder_ / "mlink00", folder_ / "mfolder"})
    EXPECT_TRUE(fs::exists(one)) << one;
}

// SIGIO, the usual signal, would end an agent.
TEST_F(AgentsFolder, AProgramThatOpensAFileMeanwhileEndsNoAgent) {
  const fs::path file = make("mqqLCyH");
  std::atomic<bool> is_over = false;
  std::thread opener([&] {
    while (!is_over) (void)UniqueFd{::open(file.c_str(), O_RDWR | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0600)};
  });
  for (int round = 0; round < 2000; ++round) remove_unused_files(folder_.path());
  is_over = true;
  opener.join();
}

}  // namespace
}  // namespace replay::launcher
