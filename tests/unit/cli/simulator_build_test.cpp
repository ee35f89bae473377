// Tests of the build without a runtime (-DREPLAY_RUNTIME=OFF): it is configured where MPI, hwloc and libevent are missing,
// its program needs none of their libraries, simulates as ever, and refuses to start real programs.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "scheduler/base/file/temporary_folder.hpp"
#include "tests/support/shell.hpp"

namespace replay::test {
namespace {

constexpr const char* kTrace = REPLAY_SOURCE_DIR "/traces/synth.swf";

TEST(SimulatorBuild, IsConfiguredWithoutMpiHwlocAndLibevent) {
  const TemporaryFolder folder{"replay-simulator"};
  // pkg-config sees libsodium alone, and CMake no MPI.
  const ShellResult found = shell("pkg-config --variable=pcfiledir libsodium", folder.path());
  ASSERT_EQ(found.status, 0) << found.err;
  const std::string from = found.out.substr(0, found.out.find('\n'));
  std::filesystem::create_directory(folder.path() / "pc");
  std::filesystem::copy_file(from + "/libsodium.pc", folder.path() / "pc/libsodium.pc");
  const std::string configure = fmt::format(
      "PKG_CONFIG_LIBDIR=$PWD/pc cmake -S {} -B build -G Ninja -DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON", REPLAY_SOURCE_DIR);
  EXPECT_NE(shell(configure, folder.path()).status, 0) << "the packages are not hidden";
  const ShellResult off = shell(configure + " -DREPLAY_RUNTIME=OFF", folder.path());
  EXPECT_EQ(off.status, 0) << off.err;
}

TEST(SimulatorBuild, NeedsNoLibraryOfARealRun) {
  const ShellResult needed = shell("ldd " REPLAY_SIMULATOR);
  ASSERT_EQ(needed.status, 0) << needed.err;
  EXPECT_NE(needed.out.find("libfmt"), std::string::npos) << needed.out;
  for (const char* library : {"libhwloc", "libevent", "libmpi"})
    EXPECT_EQ(needed.out.find(library), std::string::npos) << needed.out;
}

TEST(SimulatorBuild, SimulatesAsTheWholeProgramDoes) {
  const TemporaryFolder folder{"replay-simulator"};
  const std::string run = fmt::format(" simulate --trace {} --policy fcfs-malleable --machine 1x1x2 --out ", kTrace);
  const ShellResult alone = shell(REPLAY_SIMULATOR + run + "alone", folder.path());
  const ShellResult whole = shell(REPLAY_PROGRAM + run + "whole", folder.path());
  ASSERT_EQ(alone.status, 0) << alone.err;
  ASSERT_EQ(whole.status, 0) << whole.err;
  for (const char* file : {"events.log", "jobs.csv", "metrics.json", "series.csv", "schedule.swf"}) {
    const std::string text = text_of(folder.path() / "alone" / file);
    EXPECT_FALSE(text.empty()) << file;
    EXPECT_EQ(text, text_of(folder.path() / "whole" / file)) << file;
  }
}

TEST(SimulatorBuild, SaysThatItStartsNoProgram) {
  for (const std::string& command :
       {fmt::format("--trace {} --policy easy", kTrace), std::string{"calibrate --quick"},
        std::string{"run -n 2 ./a.out"}, std::string{"validate --paper"}, std::string{"agent --new-key k"}}) {
    const ShellResult result = shell(REPLAY_SIMULATOR " " + command);
    EXPECT_EQ(result.status, 2) << command << result.err;
    EXPECT_NE(result.err.find("this build only simulates (REPLAY_RUNTIME=OFF)"), std::string::npos)
        << command << result.err;
  }
  const ShellResult local =
      shell(fmt::format(REPLAY_SIMULATOR " simulate --trace {} --policy easy --machine local --outputs none", kTrace));
  EXPECT_EQ(local.status, 2);
  EXPECT_NE(local.err.find("--machine local: this build only simulates and has no hwloc"), std::string::npos)
      << local.err;
}

}  // namespace
}  // namespace replay::test
