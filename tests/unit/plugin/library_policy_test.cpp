// Tests of a policy in a shared object: loading, parameters, every action, and every fault.

#include "scheduler/plugin/library_policy.hpp"

#include <cstddef>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/plugin/library_view.hpp"
#include "scheduler/policy/registry.hpp"
#include "scheduler/policy/view/hosting.hpp"
#include "tests/unit/plugin/own_policy.hpp"

namespace replay::test {
namespace {

using testing::Test;

class LibraryPolicy : public OwnPolicy {
 protected:
  template <typename Error>
  static std::string error_of(const std::string& policy) {
    try {
      (void)make_policy(policy);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  static std::string notes_of(const MemoryLog& log) {
    std::string notes;
    for (const log::Record& record : log.records())
      if (const auto* note = std::get_if<log::Note>(&record.what)) notes += note->text + '\n';
    return notes;
  }
  static void expect_words(const std::string& text, std::initializer_list<const char*> words) {
    for (const char* word : words) EXPECT_NE(text.find(word), std::string::npos) << word << " is not in: " << text;
  }
};

TEST_F(LibraryPolicy, AMissingFileIsNamed) {
  expect_words(error_of<InputError>("./none.so"), {"./none.so", "found no file"});
  expect_words(error_of<InputError>("none.so:a=1"), {"none.so", "found no file"});
}

TEST_F(LibraryPolicy, AFileThatIsNoSharedObjectIsNamed) {
  const TemporaryFolder folder;
  write_text(folder / "text.so", "hello\n");
  expect_words(error_of<InputError>((folder / "text.so").string()), {"text.so", "cannot be loaded"});
}

TEST_F(LibraryPolicy, ASharedObjectWithoutOurSymbolIsRefused) {
  expect_words(error_of<InputError>(built_for_tests("no_symbol.so")), {"replay_policy_entry", "REPLAY_POLICY"});
}

TEST_F(LibraryPolicy, AnotherVersionIsRefusedWithBothNumbersAndWhatToDo) {
  expect_words(error_of<InputError>(built_for_tests("old_abi.so")),
               {"old_abi.so", "built for version 1 of replay_policy.hpp, this replay has version 2",
                "build it again with this replay's header", "start_with(job, processes)"});
  expect_words(error_of<InputError>(built_for_tests("newer_abi.so")),
               {"built for version 3 of replay_policy.hpp, this replay has version 2", "take a newer replay"});
}

TEST_F(LibraryPolicy, AStructOfAnotherLayoutIsNamed) {
  expect_words(error_of<InputError>(built_for_tests("packed_job.so")),
               {"expected a replay_job of at least 88 bytes, found one of 84", "layout of structs"});
}

TEST_F(LibraryPolicy, ALibraryWithAShorterTableOfTheSameVersionRuns) {
  const NamedPolicy old = make_policy(built_for_tests("shorter_table.so"));
  const MemoryLog log = simulate(*old.policy, cores(4), two_jobs());
  EXPECT_EQ(what_is_wrong(log, cores(4)), "");
  const Machine machine = cores(8);
  const FreeCores free{machine};
  EXPECT_EQ(hosting_of(*old.policy).free_until({at(0s), machine, free, {}, {}, {}}, at(1h)), 8);
}

TEST_F(LibraryPolicy, ParametersAreReadCompletedAndRefused) {
  const std::string small = example("small_first.so");
  const NamedPolicy policy = make_policy(small + ":by=estimate");
  EXPECT_EQ(policy.full_text, small + ":by=estimate");
  EXPECT_EQ(policy.text, small + ":by=estimate");
  EXPECT_EQ(policy.files, std::vector<std::string>{small});
  EXPECT_EQ(make_policy(small).full_text, small + ":by=processes") << "defaults are shown";
  EXPECT_EQ(make_policy("{" + small + "}:by=estimate").full_text, small + ":by=estimate");
  expect_words(error_of<UsageError>(small + ":by=age"), {"small_first.so", "parameter 'by'", "found 'age'"});
  expect_words(error_of<UsageError>(small + ":bye=estimate"), {"has no parameter 'bye'"});
  expect_words(error_of<UsageError>(built_for_tests("faulty_library.so:share=much")), {"expected a number", "'much'"});
  expect_words(error_of<UsageError>(built_for_tests("faulty_library.so:fault=constructor")), {"no licence"});
}

TEST_F(LibraryPolicy, FaultsNameThePolicyTheInstantAndWhatIsWrong) {
  const std::string faulty = built_for_tests("faulty_library.so");
  const auto fault = [&](const std::string& kind) { return fault_of(faulty + ":fault=" + kind); };
  expect_words(fault("throws"), {"faulty_library.so:fault=throws", "at 0 s", "threw", "index 7"});
  expect_words(fault("throws-a-number"), {"threw", "no std::exception"});
  expect_words(fault("unknown-job"), {"start of job 4711", "there is none of this number"});
  expect_words(fault("too-much"), {"start of job 2", "needs 3 cores", "1 are free"});
  expect_words(fault("twice"), {"start of job 1", "one answer per job"});
  expect_words(fault("mpl-0"), {"expected mpl in 1..3, found 0"});
  expect_words(fault("past"), {"wake_at 0 s", "after now"});
  expect_words(fault("first-of-two"), {"job 4711"});
}

TEST_F(LibraryPolicy, AFaultAfterwardsDoesNotHarmTheNextRun) {
  EXPECT_NE(fault_of(built_for_tests("faulty_library.so:fault=throws")), "");
  EXPECT_EQ(what_is_wrong(simulate(example("fcfs_library.so"), cores(4), two_jobs()), cores(4)), "");
}

TEST_F(LibraryPolicy, ShrinksARunningJobAndExpandsItAgain) {
  const auto log = simulate(built_for_tests("sharing_library.so"), cores(4),
                            {job('A').cores(4).runs(4min).cpu_use(0.5), job('B').cores(2).runs(1min).arrives(1min)});
  EXPECT_EQ(log.decisions(), "start A 4; resize A 2; start B 2; resize A 4");
}

TEST_F(LibraryPolicy, SuspendsAndResumes) {
  const auto log = simulate(built_for_tests("sharing_library.so:does=suspend"), cores(4),
                            {job('A').cores(4).runs(2min), job('B').cores(2).runs(1min).arrives(1min)});
  EXPECT_EQ(gantt(log, 4, 1min),
            "ABA\n"
            "ABA\n"
            "A.A\n"
            "A.A\n");
}

TEST_F(LibraryPolicy, KillsAndTheCoresAreFreeInTheSamePass) {
  const auto log = simulate(built_for_tests("sharing_library.so:does=kill"), cores(4),
                            {job('A').cores(4).runs(9min), job('B').cores(2).runs(1min).arrives(1min)});
  EXPECT_EQ(log.decisions(), "start A 4; kill A; start B 2");
  EXPECT_EQ(log.outcome(id('A')), Outcome::kKilled);
}

TEST_F(LibraryPolicy, SeesWhatJobsDeclare) {
  TracedJob all = job('A').cores(4).runs(10s), law = job('B').cores(4).runs(10s),
            none = job('C').cores(4).runs(10s).arrives(5s);
  all.job.declaration =
      std::make_shared<const Declaration>(Declaration{.least = 2,
                                                      .most = 16,
                                                      .sizes = {2, 4, 16},
                                                      .speedup = SpeedupCurve{DowneySpeedup{10.5, 1.25}},
                                                      .same_cpu_slowdown = 1.5,
                                                      .same_node_slowdown = 0.75,
                                                      .pair_key = 18446744073709551615U});
  law.job.declaration = std::make_shared<const Declaration>(Declaration{.speedup = SpeedupCurve{ThreePointSpeedup{4}}});
  const auto log = simulate(built_for_tests("sharing_library.so:does=tell"), cores(4), {all, law, none});
  EXPECT_EQ(notes_of(log),
            "job 65: 2..16 of 2|4|16, law 2 (10.5 1.25 0 0), slowdowns 1.5 0.75, key 18446744073709551615\n"
            "job 66: 0..0 of , law 3 (4 0.8 0.65 0.4), slowdowns 0 0, no key\n"
            "job 65 runs with 4 processes\n"
            "job 67: nothing\n");
}

TEST_F(LibraryPolicy, AsksForSizesAndStartsWithThem) {
  TracedJob wide = job('A').cores(8).runs(10s), rigid = job('B').cores(4).runs(10s).rigid();
  wide.job.flexibility = Flexibility::kMoldable;
  wide.job.declaration =
      std::make_shared<const Declaration>(Declaration{.sizes = {2, 3, 16}, .speedup = SpeedupCurve{LinearSpeedup{}}});
  const auto log = simulate(built_for_tests("sharing_library.so:does=size"), cores(8), {wide, rigid});
  EXPECT_EQ(
      notes_of(log),
      "job 65: largest 3, fastest 3, of 2: 2, of 1: 0; at 2 40000000, 4 -1, 8 10000000, 16 5000000 us; cores 3 -1\n"
      "job 66: largest 4, fastest 4, of 2: 0, of 1: 0; at 2 -1, 4 10000000, 8 -1, 16 -1 us; cores -1 4\n"
      "job 65 runs with 3 processes\n");
  EXPECT_EQ(log.decisions(), "start A 3; start B 4");
}

TEST_F(LibraryPolicy, WakesItselfAndWritesNotes) {
  const auto log = simulate(built_for_tests("sharing_library.so:does=wake"), cores(4),
                            {job('A').cores(4).runs(10s), job('B').cores(2).runs(1s).arrives(2s)});
  int notes = 0;
  for (const log::Record& record : log.records())
    if (const auto* note = std::get_if<log::Note>(&record.what)) notes += note->text == "making room: wake" ? 1 : 0;
  EXPECT_EQ(notes, 8) << "one at each of the seconds 2 to 9";
}

TEST_F(LibraryPolicy, ShrinksWithinNodesWhereCoresHaveNames) {
  const Machine machine = Machine::parse("2x1x2");
  const auto log = simulate(built_for_tests("sharing_library.so"), machine,
                            {job('A').cores(4).runs(4min).cpu_use(0.5), job('B').cores(2).runs(1min).arrives(1min)});
  EXPECT_EQ(what_is_wrong(log, machine), "");
  EXPECT_EQ(log.decisions(), "start A 4; resize A 2; start B 2; resize A 4");
}

TEST_F(LibraryPolicy, AnAuthorsAnswersToWrappersCountAndAreHeldToTheView) {
  const NamedPolicy policy = make_policy(built_for_tests("sharing_library.so"));
  const Machine machine = cores(8);
  const FreeCores free{machine};
  WaitingQueue waiting;
  const TracedJob head = job('A').cores(3);
  waiting.insert(head.job);
  const ClusterView view{at(0s), machine, free, waiting, {}, {}};
  EXPECT_EQ(hosting_of(*policy.policy).free_until(view, at(1h)), 4);
  EXPECT_FALSE(hosting_of(*policy.policy).may_start_now(view, head.job));
}

TEST_F(LibraryPolicy, IsToldWhenTheMachineIsTakenAway) {
  const Machine machine = cores(8);
  const FreeCores free{machine};
  const WaitingQueue waiting;
  ClusterView view{at(1s), machine, free, waiting, {}, {}};
  plugin::LibraryView told;
  EXPECT_EQ(told.of(view).machine_until_us, REPLAY_POLICY_NEVER);
  view.machine_until = at(90s);
  EXPECT_EQ(replay_policy::View{told.of(view)}.machine_until_us(), 90'000'000);
  replay_view older = told.of(view);
  older.size = offsetof(replay_view, machine_until_us);
  EXPECT_EQ(replay_policy::View{older}.machine_until_us(), REPLAY_POLICY_NEVER);
}

TEST_F(LibraryPolicy, PromisesNothingForAnAuthorWhoDoesNotSay) {
  const NamedPolicy policy = make_policy(example("fcfs_library.so"));
  const Machine machine = cores(8);
  const FreeCores free{machine};
  WaitingQueue waiting;
  const TracedJob head = job('A').cores(3), next = job('B').cores(3).arrives(1s);
  waiting.insert(head.job);
  const ClusterView one{at(1s), machine, free, waiting, {}, {}};
  EXPECT_EQ(hosting_of(*policy.policy).free_until(one, at(1h)), 0);
  EXPECT_TRUE(hosting_of(*policy.policy).may_start_now(one, head.job));
  waiting.insert(next.job);
  const ClusterView two{at(1s), machine, free, waiting, {}, {}};
  EXPECT_FALSE(hosting_of(*policy.policy).may_start_now(two, head.job));
}

}  // namespace
}  // namespace replay::test
