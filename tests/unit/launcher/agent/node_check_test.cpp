// Tests of what a node says of itself before the first job.
#include "launcher/agent/node_check.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "scheduler/base/file/sha256.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "tests/support/shell.hpp"

namespace replay::launcher {
namespace {

TEST(NodeCheck, ReadsTheWordAndNoMoreOfAFile) {
  const TemporaryFolder folder;
  test::write_text(folder / "word", "4f00ba");
  test::write_text(folder / "long", std::string(1000, 'x'));
  EXPECT_EQ(check_node_here({folder / "word", {}}, {}).word, "4f00ba");
  EXPECT_EQ(check_node_here({folder / "long", {}}, {}).word, std::string(64, 'x'));
  const protocol::NodeChecked missing = check_node_here({folder / "other", {}}, {});
  EXPECT_EQ(missing.word, "");
  EXPECT_EQ(missing.unreadable, "No such file or directory");
  EXPECT_EQ(check_node_here({folder.path(), {}}, {}).unreadable, "Is a directory");
}

TEST(NodeCheck, NamesTheProgramsThatAreNotThereOrCannotBeExecuted) {
  const TemporaryFolder folder;
  test::write_text(folder / "text", "");
  const std::vector<std::string> programs{"sh", "no-such-program", "/bin/sh", folder / "text", folder / "none"};
  EXPECT_EQ(check_node_here({folder / "word", programs}, {}).missing,
            (std::vector<std::string>{"no-such-program", folder / "text", folder / "none"}));
}

TEST(NodeCheck, SaysWhichMpiAndVmlibItHasAndWhatItsStartHasNoted) {
  const TemporaryFolder folder;
  test::write_text(folder / "lib.so", "a library");
  AgentOptions options;
  options.mpi = "MPICH 4.0.2";
  options.notes = {"a note"};
  options.vmlib = folder / "lib.so";
  protocol::NodeChecked node = check_node_here({folder / "word", {}}, options);
  EXPECT_EQ(node.mpi, "MPICH 4.0.2");
  EXPECT_EQ(node.notes, options.notes);
  EXPECT_EQ(node.vmlib, digest_of(folder / "lib.so").sha256);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  EXPECT_LT(std::chrono::abs(now - std::chrono::microseconds{node.clock_us}), std::chrono::minutes{1});
  options.turn = std::chrono::milliseconds{40};
  EXPECT_EQ(check_node_here({folder / "word", {}}, options).turn_us, 40'000);
  options.emulated_cores = 4;
  EXPECT_EQ(check_node_here({folder / "word", {}}, options).turn_us, 0);
  options.vmlib = folder / "none.so";
  EXPECT_EQ(check_node_here({folder / "word", {}}, options).vmlib, "");
}

}  // namespace
}  // namespace replay::launcher
