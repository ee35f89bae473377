// Tests of the removal of a killed job's files in /dev/shm.
#include "launcher/mpich/shared_files.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>

#include "scheduler/base/file/name_template.hpp"
#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/base/process/process.hpp"

namespace replay::launcher {
namespace {

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

}  // namespace
}  // namespace replay::launcher
