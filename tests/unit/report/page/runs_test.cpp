#include "scheduler/report/page/runs.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "tests/support/shell.hpp"
#include "tests/unit/report/page/page_reader.hpp"
#include "tests/unit/report/page/small_logs.hpp"

namespace replay::report {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;
using test::PageReader;

class Runs : public testing::Test {
 protected:
  void run(const std::string& name, const std::string& log = test::kShrinking) {
    fs::create_directories(folder_ / name);
    test::write_text(folder_ / name / "events.log", log);
  }
  // Relative to the test's folder, as are the results.
  Lines logs(const Lines& names) {
    Lines given, found;
    for (const std::string& name : names) given.push_back((folder_ / name).string());
    for (const fs::path& log : logs_of(given)) found.push_back(log.lexically_relative(folder_.path()).string());
    return found;
  }
  void expect_error(const Lines& names, std::initializer_list<const char*> words) {
    try {
      (void)logs(names);
      ADD_FAILURE() << names.front() << " was taken";
    } catch (const InputError& error) {
      for (const char* word : words) EXPECT_NE(std::string{error.what()}.find(word), std::string::npos) << error.what();
    }
  }
  std::vector<fs::path> paths(const Lines& names) {
    std::vector<fs::path> all;
    for (const std::string& name : names) all.push_back(folder_ / name);
    return all;
  }
  TemporaryFolder folder_;
};

// ---- which runs ----

TEST_F(Runs, AreNamedByTheirFolderOrTheirLogInTheOrderGiven) {
  run("b");
  run("a");
  test::write_text(folder_ / "mine.log", test::kSharing);
  EXPECT_EQ(logs({"b", "a/events.log", "mine.log", "a/"}),
            (Lines{"b/events.log", "a/events.log", "mine.log", "a/events.log"}));
}

TEST_F(Runs, OfAFolderOfSeveralPoliciesAreAllSortedWithNumbersByTheirValue) {
  for (const char* name : {"study/load-90", "study/load-100", "study/load-30"}) run(name);
  fs::create_directories(folder_ / "study/empty");
  EXPECT_EQ(logs({"study"}),
            (Lines{"study/load-30/events.log", "study/load-90/events.log", "study/load-100/events.log"}));
}

TEST_F(Runs, OfALogsOwnScheduleIsFirstSoThatOthersAreComparedWithIt) {
  for (const char* name : {"c/easy", "c/logged", "c/conservative"}) run(name);
  EXPECT_EQ(logs({"c"}), (Lines{"c/logged/events.log", "c/conservative/events.log", "c/easy/events.log"}));
}

TEST_F(Runs, OfSeveralSeedsAreThoseOfTheFirst) {
  for (const char* name : {"s/seed-2/easy", "s/seed-2/fcfs", "s/seed-10/easy", "s/seed-10/fcfs"}) run(name);
  test::write_text(folder_ / "s/seeds.json", "{}");
  EXPECT_EQ(logs({"s"}), (Lines{"s/seed-2/easy/events.log", "s/seed-2/fcfs/events.log"}));
  EXPECT_EQ(logs({"s/seed-10"}), (Lines{"s/seed-10/easy/events.log", "s/seed-10/fcfs/events.log"}));
}

TEST_F(Runs, OfAValidationAreTheSimulatedAndTheRealOneOfEachCell) {
  for (const char* run_of : {"measured", "real", "sim"}) {
    run(std::string{"v/cells/90/poisson/easy/"} + run_of);
    run(std::string{"v/cells/30/poisson/easy/"} + run_of);
  }
  const Lines all{"v/cells/30/poisson/easy/sim/events.log",      "v/cells/30/poisson/easy/real/events.log",
                  "v/cells/30/poisson/easy/measured/events.log", "v/cells/90/poisson/easy/sim/events.log",
                  "v/cells/90/poisson/easy/real/events.log",     "v/cells/90/poisson/easy/measured/events.log"};
  EXPECT_EQ(logs({"v"}), all);
  EXPECT_EQ(logs({"v/cells/90/poisson/easy"}), (Lines{all.begin() + 3, all.end()}));
}

TEST_F(Runs, ThatAreNotThereAreNamed) {
  run("study/easy");
  fs::create_directories(folder_ / "empty");
  expect_error({"study/easy", "nothing"}, {"nothing", "expected a run's folder or its events.log"});
  expect_error({"empty"}, {"empty", "has no events.log"});
}

TEST_F(Runs, AreAtMostSoMany) {
  for (std::size_t i = 0; i < kMostRuns; ++i) run(fmt::format("study/{}", i));
  EXPECT_EQ(logs({"study"}).size(), kMostRuns);
  run("study/one-more");
  expect_error({"study"}, {"at most 16 runs", "found 17", "name some of them", "study/0"});
}

TEST_F(Runs, ThePageLiesBesideTheOneThatWasNamed) {
  run("a");
  const auto beside = [this](const char* name) {
    return page_beside(Lines{(folder_ / name).string()}).lexically_relative(folder_.path()).string();
  };
  EXPECT_EQ(beside("a"), "a/report.html");
  EXPECT_EQ(beside("a/"), "a/report.html");
  EXPECT_EQ(beside("a/events.log"), "a/report.html");
  EXPECT_EQ(page_beside(Lines{"events.log"}), "report.html");
  EXPECT_EQ(page_beside(Lines{"a", "b"}), "report.html");
}

// ---- the page ----

TEST_F(Runs, HaveARowEachWithNamesThatTellThemApart) {
  run("x/easy");
  run("y/easy", test::kSharing);
  const fs::path out = folder_ / "page.html";
  write_page_of(paths({"x/easy/events.log", "y/easy/events.log", "x/easy/events.log"}), "", out.string());
  const PageReader page(test::text_of(out));
  ASSERT_EQ(page.json().at("runs").size(), 3u);
  EXPECT_EQ(page.run(0).at("name"), "x/easy (incomplete)");
  EXPECT_EQ(page.run(1).at("name"), "y/easy");
  EXPECT_EQ(page.run(2).at("name"), "x/easy (2) (incomplete)");
  EXPECT_EQ(page.json().at("title"), "x/easy, y/easy, x/easy (2)");
}

TEST_F(Runs, OfManyTheTitleNamesTheFirst) {
  for (const char* name : {"a", "b", "c", "d", "e"}) run(name);
  const auto title = [this](const Lines& logs) {
    write_page_of(paths(logs), "", (folder_ / "page.html").string());
    return PageReader(test::text_of(folder_ / "page.html")).json().at("title").get<std::string>();
  };
  EXPECT_EQ(title({"a/events.log", "b/events.log", "c/events.log", "d/events.log"}), "a, b, c, d");
  EXPECT_EQ(title({"a/events.log", "b/events.log", "c/events.log", "d/events.log", "e/events.log"}),
            "a, b, c and 2 more");
}

TEST_F(Runs, AreComparedWithTheFirst) {
  run("a");
  std::string later = test::kShrinking;
  later.replace(later.find("12 start job=3"), 2, "13");
  later.replace(later.find("12 launch job=3"), 2, "13");
  run("b", later);
  run("c");
  const fs::path out = folder_ / "page.html";
  write_page_of(paths({"a/events.log", "b/events.log", "c/events.log"}), "three", out.string());
  const PageReader page(test::text_of(out));
  EXPECT_EQ(page.json().at("title"), "three");
  ASSERT_EQ(page.json().at("differences").size(), 2u);
  const auto& b = page.json().at("differences").at(0);
  EXPECT_EQ(b.at("run"), 1);
  EXPECT_EQ(b.at("against"), 0);
  EXPECT_EQ(b.at("tolerance"), 1) << "both are real runs";
  EXPECT_TRUE(b.at("first").is_null()) << "13 is within a second of 12";
  EXPECT_TRUE(page.json().at("differences").at(1).at("first").is_null());
}

TEST_F(Runs, ThatAreDamagedLeaveThePageOfBeforeAsItWas) {
  run("good");
  run("bad", std::string{test::kShrinking} + "21 launch job=3\n");
  const fs::path out = folder_ / "page.html";
  test::write_text(out, "the page of before");
  EXPECT_THROW(write_page_of(paths({"good/events.log", "bad/events.log"}), "", out.string()), InputError);
  EXPECT_EQ(test::text_of(out), "the page of before");
}

TEST_F(Runs, ThePageDoesNotReplaceTheLogThatItIsMadeOf) {
  run("a");
  EXPECT_THROW(write_page_of(paths({"a/events.log"}), "", (folder_ / "a/../a/events.log").string()), InputError);
  EXPECT_EQ(test::text_of(folder_ / "a/events.log"), test::kShrinking);
}

TEST_F(Runs, APageThatCannotBeWrittenLeavesNothing) {
  run("a");
  const auto expect_fails = [this](const std::string& out, const char* word) {
    try {
      write_page_of(paths({"a/events.log"}), "", out);
      ADD_FAILURE() << out << " was written";
    } catch (const InputError& error) {
      EXPECT_NE(std::string{error.what()}.find(word), std::string::npos) << error.what();
    }
  };
  expect_fails((folder_ / "no/such/folder/page.html").string(), "page.html");
  expect_fails(folder_.path().string(), "cannot be");
  expect_fails("/dev/full", "No space left");
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) files += entry.is_regular_file() ? 1u : 0u;
  EXPECT_EQ(files, 1u) << "events.log";
}

}  // namespace
}  // namespace replay::report
