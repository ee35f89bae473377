// `--live-page` on the command line: what is refused before a run begins. No MPI here.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/base/loop/loop_event.hpp"
#include "scheduler/report/live/page_server.hpp"
#include "tests/support/shell.hpp"

namespace replay::test {
namespace {

class LivePageOption : public testing::Test {
 protected:
  LivePageOption() { write_text(folder_ / "t.swf", "; MaxProcs: 4\n1 0 -1 1 4 -1 -1 4 20 -1 1 1 1 -1 -1 -1 -1 -1\n"); }
  void expect_complaint(const std::string& arguments, int status, const std::string& text) {
    const ShellResult result = shell(fmt::format("{} {}", REPLAY_PROGRAM, arguments), folder_.path());
    EXPECT_EQ(result.status, status) << arguments << "\n" << result.out << result.err;
    EXPECT_NE(result.err.find(text), std::string::npos) << arguments << " says: " << result.err;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "runs")) << "no run was begun";
  }
  TemporaryFolder folder_;
};

TEST_F(LivePageOption, ASimulationSaysThatItHasNone) {
  for (const char* port : {"", " 8080"})
    expect_complaint(fmt::format("simulate --policy easy --trace t.swf --live-page{}", port), 2,
                     "--live-page: follows a real run");
}

TEST_F(LivePageOption, APortIsANumber) {
  for (const char* port : {"http", "65536", "-1", "1.5", "80x"})
    expect_complaint(
        fmt::format("--policy easy --trace t.swf --machine emulated:1x1x4 --live-page={}", port), 2,
        fmt::format("--live-page: expected a port from 0 to 65535, 0 for any that is free, found '{}'", port));
}

TEST_F(LivePageOption, APortThatIsTakenIsSaidBeforeTheRunBegins) {
  const EventBase loop = precise_loop();
  const report::PageServer other{loop.get(), 0};
  expect_complaint(fmt::format("--policy easy --trace t.swf --machine emulated:1x1x4 --live-page {}", other.port()), 1,
                   fmt::format("port {} of 127.0.0.1: another program listens there", other.port()));
}

}  // namespace
}  // namespace replay::test
