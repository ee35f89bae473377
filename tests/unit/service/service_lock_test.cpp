// Tests of the lock that keeps a second service out of a folder.
#include "scheduler/service/service_lock.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "tests/support/shell.hpp"

namespace replay::service {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

TEST(ServiceLockTest, AServiceWhoseLockIsRemovedKnowsItAndNoSecondOneStartsBesideIt) {
  const TemporaryFolder base;
  const fs::path file = base.path() / "lock";
  const ServiceLock live{file, 0ms, [] {}};
  EXPECT_FALSE(live.is_gone());
  fs::remove(file);
  EXPECT_TRUE(live.is_gone());
  EXPECT_THROW(ServiceLock(file, 0ms, [] {}), InputError);
  EXPECT_TRUE(live.is_gone()) << "another file of the same name";
}

TEST(ServiceLockTest, AServiceRemovesNoFileOfAFolderThatTookThePlaceOfItsOwn) {
  const TemporaryFolder base;
  const fs::path place = base.path() / "service", moved = base.path() / "moved";
  fs::create_directory(place);
  const ServiceLock live{place / "lock", 0ms, [] {}};
  test::write_text(place / "socket", "");
  fs::rename(place, moved);
  fs::create_directory(place);
  test::write_text(place / "socket", "another service's");
  live.remove_beside("socket");
  EXPECT_TRUE(fs::exists(place / "socket"));
  EXPECT_FALSE(fs::exists(moved / "socket"));
}

}  // namespace
}  // namespace replay::service
