// Plans: what is a mistake in one, and that a cell's name depends on nothing but what it computes.
#include "scheduler/sweep/plan.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/sweep/read_results.hpp"
#include "tests/support/shell.hpp"

namespace replay::test {
namespace {

using namespace replay::sweep;
namespace fs = std::filesystem;

constexpr const char* kStudy =
    "[axes]\n"
    "policy = [\"easy\", \"fcfs-malleable\"]\n"
    "load = [0.6, 0.75]\n"
    "malleable = [0, 1]\n"
    "seed = \"1..3\"\n"
    "[fixed]\n"
    "model = \"lublin\"\n"
    "jobs = 100\n"
    "machine = \"8x2x2\"\n";

class Plans : public testing::Test {
 protected:
  Plan plan(const std::string& text, const std::string& name = "study.toml") {
    write_text(folder_ / name, text);
    return Plan{folder_ / name};
  }
  // Without the folder.
  std::string mistake(const std::string& text) {
    try {
      (void)plan(text);
    } catch (const UsageError& error) {
      std::string what = error.what();
      const std::string folder = folder_.path().string() + "/";
      for (std::size_t at; (at = what.find(folder)) != std::string::npos;) what.erase(at, folder.size());
      return what;
    }
    return "none";
  }
  std::set<CellId> ids(const Plan& plan, std::string_view version = "0.1.0") {
    std::set<CellId> all;
    for (std::size_t cell = 0; cell < plan.count(); ++cell)
      if (const auto id = plan.id(cell, version)) all.insert(*id);
    return all;
  }
  TemporaryFolder folder_;
};

TEST_F(Plans, NameTheLineOfAMistakeWhatWasExpectedAndTheNearestWord) {
  const std::string fixed = "[fixed]\nmodel = \"lublin\"\nmachine = \"8x1x1\"\n";
  const std::pair<std::string, std::string> kMistakes[] = {
      {"a = = 1\n", "study.toml:1: Error while parsing"},
      {"", "study.toml:1: axes: expected at least one axis"},
      {"nam = \"x\"\n",
       "study.toml:1: nam: expected name, metrics, axes, fixed, where, found this key; did you mean 'name'?"},
      {"name = 3\n", "study.toml:1: name: expected a text in one line, found 3"},
      {"metrics = [\"mean_wate\"]\n",
       "study.toml:1: metrics: expected a metric of metrics.json, found 'mean_wate'; did you mean 'mean_wait'?"},
      {"metrics = [\n \"mean_wait\",\n \"mean_wait\"]\n", "study.toml:3: metrics: 'mean_wait' stands there twice"},
      {"metrics = \"mean_wait\"\n", "study.toml:1: metrics: expected a list of metrics, found 'mean_wait'"},
      {"axes = 3\n", "study.toml:1: axes: expected [axes], words with their values, found 3"},
      {"[axes]\npolicy = \"easy\"\n",
       "study.toml:2: axes.policy: expected a list of values, found 'easy'; [fixed] has words of one value"},
      {"[axes]\n\nplicy = [\"easy\"]\n",
       "study.toml:3: axes.plicy: expected a word of a cell, found 'plicy'; did you mean 'policy'?"},
      {"[axes]\npolicy = []\n", "study.toml:2: axes.policy: expected a list of values, found an empty one"},
      {"[axes]\npolicy = [\"easy\",\n\"eazy\"]\n", "study.toml:3: axes.policy: "},
      {"[axes]\npolicy = [\"eassy\"]\n", "did you mean 'easy'?"},
      {"[axes]\npolicy = [\"easy\", \"easy\"]\n", "study.toml:2: axes.policy: 'easy' stands there twice"},
      {"[axes]\npolicy = [\"easy:depht=3\"]\n", "study.toml:2: axes.policy: "},
      {"[axes]\nload = [\"high\"]\n",
       "study.toml:2: axes.load: expected a share of the machine above 0, at most 10, found 'high'"},
      {"[axes]\nload = [-1]\n",
       "study.toml:2: axes.load: expected a share of the machine above 0, at most 10, found -1"},
      {"[axes]\nload = \"0.5..0.9\"\n",
       "study.toml:2: axes.load: expected a list of values, found '0.5..0.9'; [fixed] has words of one value, and "
       "ranges "
       "are of seeds only"},
      {"[axes]\njobs = [0]\n", "study.toml:2: axes.jobs: expected a number from 1 to 100000000, found '0'"},
      {"[axes]\nload = [90]\n",
       "study.toml:2: axes.load: expected a share of the machine above 0, at most 10, found 90; was 0.9 meant?"},
      {"[axes]\nload = [true]\n", "study.toml:2: axes.load: expected a text or a number, found true"},
      {"[axes]\nseed = \"10..1\"\n",
       "study.toml:2: axes.seed: expected a range that ascends, found '10..1'; was '1..10' meant?"},
      {"[axes]\nseed = \"1..x\"\n",
       "study.toml:2: axes.seed: expected seeds such as \"1..10\" or [1, 3, 7], found '1..x'"},
      {"[axes]\nseed = \"1..10,21..1000011\"\n",
       "study.toml:2: axes.seed: expected at most 1000000 seeds, found '1..10,21..1000011'"},
      {"[axes]\noverrun = [\"kil\"]\n",
       "study.toml:2: axes.overrun: expected one of kill, extend, policy, found 'kil'; did you mean 'kill'?"},
      {"[axes]\nflat = [\"yes\"]\n", "study.toml:2: axes.flat: expected true or false, found 'yes'"},
      {"[axes]\nmachine = [\"local\"]\n",
       "study.toml:2: axes.machine: expected a machine that is the same on every computer"},
      {"[axes]\nturn = [\"1s\"]\n", "study.toml:2: axes.turn: is of real runs, and a sweep simulates"},
      {"[axes]\nmodel = [\"lubline\"]\n",
       "study.toml:2: axes.model: expected one of lublin, from-log, found 'lubline'; did you mean 'lublin'?"},
      {"[axes]\npolicy = [\"easy\"]\n[fixed]\njobs = [1, 2]\n",
       "study.toml:4: fixed.jobs: expected one value, found a list; [axes] has words of several"},
      {"[axes]\npolicy = [\"easy\"]\n[fixed]\npolicy = \"easy\"\n",
       "study.toml:4: fixed.policy: is an axis already, in line 2"},
      {"[axes]\npolicy = [\"easy\"]\n", "study.toml:1: trace: is missing: expected a trace, or a model such as lublin"},
      {"[axes]\nload = [0.5]\n" + fixed, "study.toml:1: policy: is missing: expected a policy such as easy"},
      {"[axes]\npolicy = [\"easy\"]\n[fixed]\nmodel = \"lublin\"\n",
       "study.toml:1: machine: is missing: a model makes jobs for a machine"},
      {"[axes]\npolicy = [\"easy\"]\ntrace = [\"none.swf\"]\n",
       "study.toml:3: axes.trace: none.swf: cannot be read: No such file or directory"},
      {"[axes]\npolicy = [\"easy\"]\n[fixed]\ntrace = \"study.toml\"\n", "study.toml:4: fixed.trace: "},
      {"[axes]\npolicy = [\"easy\"]\n[fixed]\ntrace = \"/dev/null\"\n",
       "study.toml:4: fixed.trace: /dev/null: no records"},
      {"[axes]\npolicy = [\"easy\"]\n[fixed]\ntrace = \"t.swf\"\njobs-from = \"none.csv\"\n",
       "study.toml:5: fixed.jobs-from: none.csv: cannot be read: No such file or directory"},
      {"[axes]\npolicy = [\"easy\"]\n[fixed]\nmodel = \"from-log\"\n",
       "study.toml:1: trace: is missing: the model from-log makes jobs of a log"},
      {"[axes]\npolicy = [\"easy\"]\ntrace = [\"t.swf\"]\n" + fixed,
       "study.toml:5: fixed.model: expected a model or a trace, found both; the model from-log makes jobs of a trace"},
      {"[axes]\npolicy = [\"easy\"]\ntolerance = [3]\n" + fixed,
       "study.toml:3: axes.tolerance: is of the model from-log, and there is lublin"},
      {"[axes]\npolicy = [\"easy\"]\n[fixed]\ntrace = \"t.swf\"\nduration = \"1d\"\n",
       "study.toml:5: fixed.duration: is of the model lublin, and there is a trace"},
      {"[axes]\npolicy = [\"easy\", \"fcfs\"]\n" + fixed + "[[where]]\nnot = { policy = [\"easy\", \"fcfs\"] }\n",
       "study.toml:6: where: expected cells that are left, found that all 2 are left out"},
      {"[axes]\nload = [0.5, 0.7\nseed = \"1..3\"\n",
       "study.toml:2: Error while parsing array: expected comma or closing ']', saw 's' in line 3"},
      {"[axes]\npolicy = [\n \"easy\"  # one\n # two\n\n \"fcfs\" ]\n",
       "study.toml:3: Error while parsing array: expected comma or closing ']', saw '\"' in line 6"},
      {"[axes]\nload = [0.5 0.7]\n", "study.toml:2: Error while parsing array: expected comma or closing ']', saw '0'"},
      {"[axes]\npolicy = [\"easy\"]\nmoldable = [0.5]\n" + fixed, "study.toml:3: axes.moldable: "},
      {"[axes]\npolicy = [\"easy\"]\nmalleable = [0.5, 1.5]\n" + fixed, "study.toml:3: axes.malleable: "},
      {"[axes]\npolicy = [\"easy\"]\n[[where]]\nnot = { lod = 1 }\n" + fixed,
       "study.toml:4: where.not: expected an axis, found 'lod'; known: policy"},
      {"[axes]\npolicy = [\"easy\"]\n[[where]]\nnot = { policy = \"fcfs\" }\n" + fixed,
       "study.toml:4: where.not.policy: expected a value of the axis, found 'fcfs'; known: easy"},
      {"[axes]\npolicy = [\"easy\"]\n[[where]]\nnot = {}\n",
       "study.toml:3: where: expected not = { AXIS = VALUE, ... }"},
      {"where = 1\n[axes]\npolicy = [\"easy\"]\n", "study.toml:1: where: expected [[where]] with not = {...}, found 1"},
  };
  write_text(folder_ / "t.swf", "; MaxProcs: 4\n1 0 -1 10 4 -1 -1 4 20 -1 1 1 1 -1 -1 -1 -1 -1\n");
  for (const auto& [text, expected] : kMistakes)
    EXPECT_NE(mistake(text).find(expected), std::string::npos)
        << text << "says: " << mistake(text) << "\nexpected: " << expected;
  EXPECT_EQ(mistake(kStudy), "none");
}

TEST_F(Plans, AreFilesThatCanBeRead) {
  const auto refusal = [](const fs::path& file) -> std::string {
    try {
      const Plan made{file};
    } catch (const UsageError& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(refusal(folder_.path()),
            folder_.path().string() + ": expected a plan in TOML, cannot be read: Is a directory");
  EXPECT_EQ(refusal(folder_ / "no.toml"),
            (folder_ / "no.toml").string() + ": expected a plan in TOML, cannot be read: No such file or directory");
}

TEST_F(Plans, HaveSeedsUpToTheLastThatThereIs) {
  std::string text = kStudy;
  text.replace(text.find("1..3"), 4, "7,18446744073709551614..18446744073709551615");
  EXPECT_EQ(plan(text).count(), 24u);
}

TEST_F(Plans, HaveTheirCellsInTheOrderOfTheFile) {
  const Plan made = plan(kStudy);
  EXPECT_EQ(made.study().name, "study");
  EXPECT_EQ(made.count(), 24u);
  EXPECT_EQ(made.cells(), 24u);
  EXPECT_EQ(made.values_of(0), (std::vector<std::size_t>{0, 0, 0, 0}));
  EXPECT_EQ(made.values_of(1), (std::vector<std::size_t>{0, 0, 0, 1}));
  EXPECT_EQ(made.values_of(23), (std::vector<std::size_t>{1, 1, 1, 2}));
  EXPECT_EQ(
      made.parameters(4),
      R"({"jobs":"100","load":"0.6","machine":"8x2x2","malleable":"1","model":"lublin","policy":"easy","seed":"2"})");
}

// Results of cells are kept under these names: if they change, no sweep that was begun before can be gone on with.
TEST_F(Plans, GiveCellsTheNamesThatTheyAlwaysHad) {
  const Plan made = plan(kStudy);
  EXPECT_EQ(id_text(*made.id(0, "0.1.0")), "549d66556826ff05");
  EXPECT_EQ(id_text(*made.id(23, "0.1.0")), "b7c5b28aba552170");
  EXPECT_EQ(ids(made).size(), 24u);
  EXPECT_EQ(made.find(*made.id(7)), 7u);
  EXPECT_EQ(made.find(1), std::nullopt);
  EXPECT_NE(made.id(0, "0.2.0"), made.id(0, "0.1.0"));
}

TEST_F(Plans, NameCellsByWhatTheyComputeAlone) {
  const std::set<CellId> usual = ids(plan(kStudy));
  EXPECT_EQ(ids(plan("name = \"other\"\nmetrics = [\"mean_wait\"]\n"
                     "axes.seed = [3, 2, 1]\naxes.malleable = [1.0, 0]\naxes.load = [0.75, 0.60]\n"
                     "axes.model = [\"lublin\"]\naxes.policy = [\"fcfs-malleable\", \"easy\"]\n"
                     "fixed.machine = \"8x2x2\"\nfixed.jobs = 100\n",
                     "else.toml")),
            usual);
  std::string text = kStudy;
  text.replace(text.find("jobs = 100"), 10, "jobs = 101");
  for (const CellId id : ids(plan(text))) EXPECT_FALSE(usual.contains(id));
  const std::set<CellId> fewer =
      ids(plan(std::string{kStudy} + "[[where]]\nnot = { policy = \"easy\", malleable = [1] }\n"));
  EXPECT_EQ(fewer.size(), 18u);
  for (const CellId id : fewer) EXPECT_TRUE(usual.contains(id));
}

TEST_F(Plans, NameCellsByTheContentsOfTheirInputs) {
  const std::string study = "[axes]\npolicy = [\"easy\"]\nseed = [1, 2]\n[fixed]\ntrace = \"t-{seed}.swf\"\n";
  const auto jobs = [](int runtime) {
    return fmt::format("; MaxProcs: 4\n1 0 -1 {} 4 -1 -1 4 20 -1 1 1 1 -1 -1 -1 -1 -1\n", runtime);
  };
  write_text(folder_ / "t-1.swf", jobs(10));
  write_text(folder_ / "t-2.swf", jobs(11));
  const std::set<CellId> first = ids(plan(study));
  EXPECT_EQ(first.size(), 2u);
  fs::create_directory(folder_ / "moved");
  for (const char* name : {"t-1.swf", "t-2.swf"}) fs::copy(folder_ / name, folder_ / "moved" / name);
  EXPECT_EQ(ids(plan(study, "moved/study.toml")), first) << "paths do not matter, and lead from the study's folder";
  write_text(folder_ / "t-1.swf", jobs(12));
  const std::set<CellId> second = ids(plan(study));
  EXPECT_NE(second, first);
  write_text(folder_ / "t-2.jobs.csv", "job,flexibility\n1,rigid\n");
  EXPECT_NE(ids(plan(study)), second) << "the side file is an input too";
}

TEST_F(Plans, OfAMillionCellsTakeNoMemoryForThem) {
  std::string text = kStudy;
  text.replace(text.find("1..3"), 4, "1..125000");
  const Plan made = plan(text);
  EXPECT_EQ(made.count(), 1'000'000u);
  EXPECT_TRUE(made.id(999'999));
}

}  // namespace
}  // namespace replay::test
