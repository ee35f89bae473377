// Tests of reading a trace twice, from a file or a pipe.
#include "traces/rereadable_trace.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "tests/support/shell.hpp"
#include "tests/unit/traces/swf_text.hpp"

namespace replay {
namespace {

using test::write_text;

std::size_t records_of(TraceReader reader) {
  std::size_t count = 0;
  for (TraceEntry entry; reader.next(entry);) ++count;
  return count;
}

TEST(RereadableTrace, AFileIsOpenedAgain) {
  const TemporaryFolder folder;
  write_text(folder / "t.swf", test::job_line(1) + test::job_line(2));
  const RereadableTrace trace((folder / "t.swf").string());
  for (int i = 0; i < 2; ++i) EXPECT_EQ(records_of(trace.open()), 2U);
}

TEST(RereadableTrace, APipeIsKeptWithItsSideFileAndLeavesNothingBehind) {
  const TemporaryFolder folder;
  const std::string pipe = (folder / "pipe.swf").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  write_text(folder / "pipe.jobs.csv", "job,cpu_util\n1,0.5\n");
  std::string text;
  for (int job = 1; job <= 20'000; ++job) text += test::job_line(job);
  std::thread writer([&] { write_text(pipe, text); });
  ::setenv("TMPDIR", folder.path().c_str(), 1);
  const RereadableTrace trace(pipe);
  ::unsetenv("TMPDIR");
  writer.join();
  TraceReader first = trace.open();
  EXPECT_EQ(first.swf().name(), pipe) << "messages name the pipe";
  TraceEntry entry;
  ASSERT_TRUE(first.next(entry));
  EXPECT_EQ(entry.traits.cpu_use, 0.5);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(records_of(trace.open()), 20'000U);
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator(folder.path())) ++files;
  EXPECT_EQ(files, 2U) << "the pipe and its side file";
}

TEST(RereadableTrace, SaysWhereItCannotKeepAPipe) {
  const TemporaryFolder folder;
  const std::string pipe = (folder / "pipe.swf").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int both_ends = ::open(pipe.c_str(), O_RDWR);  // so that opening one end does not block
  ASSERT_EQ(::write(both_ends, "1\n", 2), 2);
  ::setenv("TMPDIR", (folder / "missing").c_str(), 1);
  const std::string message = test::message_of<InputError>([&] { const RereadableTrace trace(pipe); });
  ::unsetenv("TMPDIR");
  ::close(both_ends);
  EXPECT_NE(message.find("missing"), std::string::npos) << message;
  EXPECT_NE(message.find("No such file"), std::string::npos) << message;
}

}  // namespace
}  // namespace replay
