// Tests of passing a growing file on to a pipe.

#include "scheduler/calibrate/program/output_follower.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "scheduler/base/file/temporary_folder.hpp"
#include "tests/support/shell.hpp"

namespace replay::calibrate {
namespace {

class OutputFollowerTest : public testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    from_.reset(ends[0]);
    to_.reset(ends[1]);
    ::signal(SIGPIPE, SIG_IGN);
  }
  void append(const std::string& text) const { std::ofstream{file(), std::ios::app} << text; }
  [[nodiscard]] std::string file() const { return (folder_ / "stdout").string(); }
  std::string passed_on() const {
    std::string text(4096, '\0');
    const ssize_t got = ::read(from_.get(), text.data(), text.size());
    text.resize(static_cast<std::size_t>(got));
    return text;
  }

  TemporaryFolder folder_;
  UniqueFd from_;
  UniqueFd to_;
};

TEST_F(OutputFollowerTest, PassesOnEachByteOnceAsTheFileGrows) {
  OutputFollower follower{file(), to_.get()};
  EXPECT_TRUE(follower.pass_on()) << "the file is not there yet";
  append("half a li");
  EXPECT_TRUE(follower.pass_on());
  EXPECT_EQ(passed_on(), "half a li");
  append(std::string("ne\n\0\xff", 5));
  EXPECT_TRUE(follower.pass_on());
  EXPECT_EQ(passed_on(), std::string("ne\n\0\xff", 5));
  append("end");
  EXPECT_TRUE(follower.pass_on());
  EXPECT_TRUE(follower.pass_on());
  EXPECT_EQ(passed_on(), "end");
}

TEST_F(OutputFollowerTest, SaysWhenNobodyReadsAnyMore) {
  OutputFollower follower{file(), to_.get()};
  from_.reset();
  EXPECT_TRUE(follower.pass_on()) << "there is nothing to read yet";
  append("text");
  EXPECT_FALSE(follower.pass_on());
  EXPECT_FALSE(follower.pass_on());
}

}  // namespace
}  // namespace replay::calibrate
