// Tests of the table of formats, and of where their files go.
#include "scheduler/results/export/formats.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/results/export/export_files.hpp"
#include "tests/support/shell.hpp"

namespace replay::results {
namespace {

namespace fs = std::filesystem;

TEST(ExportFormats, TheirTableStandsInTheDocumentation) {
  const std::string page = test::text_of(REPLAY_SOURCE_DIR "/docs/export.md");
  EXPECT_NE(page.find(export_format_table()), std::string::npos) << "docs/export.md lacks\n" << export_format_table();
}

TEST(ExportFormats, EachSaysWhatItHoldsAndLoses) {
  for (const ExportFormat& format : export_formats())
    for (const std::string_view text : {format.opened_by, format.holds, format.loses})
      EXPECT_FALSE(text.empty()) << format.name;
}

TEST(ExportFormats, AnUnknownOneIsAnErrorThatNamesThem) {
  try {
    (void)export_format("tableau");
    ADD_FAILURE();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string{error.what()}.find("paraver"), std::string::npos) << error.what();
    EXPECT_NE(std::string{error.what()}.find("'tableau'"), std::string::npos) << error.what();
  }
}

ExportFiles files_of(const std::vector<fs::path>& logs, const char* format, const std::string& out) {
  ExportFiles files;
  for (const PlannedExport& planned : plan_exports(logs, export_format(format), out))
    files.insert(files.end(), planned.files.begin(), planned.files.end());
  return files;
}

using Files = std::vector<std::string>;

TEST(ExportFilesOf, OneRunHaveTheNameThatWasGiven) {
  EXPECT_EQ(files_of({"runs/easy/events.log"}, "perfetto", "a.json.gz"), Files{"a.json.gz"});
  EXPECT_EQ(files_of({"runs/easy/events.log"}, "perfetto", "-"), Files{"-"});
  EXPECT_EQ(files_of({"runs/easy/events.log"}, "paraver", "a.prv.gz"), (Files{"a.prv.gz", "a.pcf", "a.row"}));
  EXPECT_EQ(files_of({"runs/easy/events.log"}, "paraver", "a.prv"), (Files{"a.prv", "a.pcf", "a.row"}));
  EXPECT_EQ(files_of({"runs/easy/events.log"}, "batsim", "out"), (Files{"out_jobs.csv", "out_schedule.json"}));
}

TEST(ExportFilesOf, RunsInAFolderHaveTheNamesOfTheRuns) {
  const TemporaryFolder folder;
  const std::string out = folder.path() / "new" / "";
  EXPECT_EQ(files_of({"runs/easy/events.log", "runs/fcfs/events.log", "other.log"}, "swf", out),
            (Files{out + "easy.swf", out + "fcfs.swf", out + "other.swf"}));
  EXPECT_TRUE(fs::is_directory(out)) << "it is made";
  EXPECT_EQ(files_of({"runs/easy/events.log"}, "swf", ""), Files{"easy.swf"}) << "the working folder";
}

TEST(ExportFilesOf, RunsOfOneNameAreToldApart) {
  EXPECT_EQ(files_of({"a/easy/events.log", "b/easy/events.log", "b/easy/events.log"}, "swf", ""),
            (Files{"a-easy.swf", "b-easy.swf", "b-easy-2.swf"}));
}

TEST(ExportFilesOf, SeveralRunsOrFilesDoNotGoToStandardOutput) {
  EXPECT_THROW((void)files_of({"a/easy/events.log", "b/easy/events.log"}, "swf", "-"), UsageError);
  EXPECT_THROW((void)files_of({"a/easy/events.log"}, "paraver", "-"), UsageError);
}

}  // namespace
}  // namespace replay::results
