// Tests of the report of `replay run`, as text and as JSON.

#include "scheduler/calibrate/program/report.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/calibrate/program/phase_kinds.hpp"

namespace replay::calibrate {
namespace {

PhaseTotals phase(const PhaseKind& kind, double from, std::uint64_t calls) {
  PhaseTotals totals{.kind = kind, .from = from, .seconds = 2, .is_known = true};
  totals.calls = calls;
  totals.blocked = 0.8;
  totals.cpu = 4.0 / kind.ranks_per_core;
  return totals;
}

ProgramSettings settings() { return {{"cg", "--class", "W"}, true, {0, 1}, {0, 0}}; }

ProgramHistory history() {
  ProgramHistory history;
  history.started = StartedProgram{true, ""};
  history.mode = "progress";
  history.back_end = "yield";
  history.phases = {phase(kExpanded, 0, 8000), phase(kShrunk, 2, 3200)};
  history.changes = {{{std::chrono::seconds{2}, ChangeKind::kShrink}, 2.001, 0.00012, ""}};
  history.ran = 4.5;
  history.end = JobEnd{};
  history.end->verification = Verification::kPassed;
  return history;
}

bool has(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

TEST(PhaseName, SaysHowTheRanksLie) {
  EXPECT_EQ(phase_name(kExpanded), "expanded on 2 cores");
  EXPECT_EQ(phase_name(kShrunk), "shrunk to 1 core, 2 ranks on it");
  EXPECT_EQ(phase_name({.ranks = 4, .cores = 2, .ranks_per_core = 2, .is_base = false}),
            "shrunk to 2 cores, 2 ranks on each");
  EXPECT_EQ(phase_name({.ranks = 3, .cores = 2, .ranks_per_core = 2, .is_base = false}),
            "shrunk to 2 cores, up to 2 ranks on each");
  EXPECT_EQ(phase_name({.ranks = 4, .cores = 2, .ranks_per_core = 2}), "on 2 cores, 2 ranks on each");
  EXPECT_EQ(phase_name({.ranks = 1, .cores = 1, .ranks_per_core = 1, .is_base = true, .is_suspended = true}),
            "suspended, expanded on 1 core");
}

TEST(ProgramReport, ShowsEachPhaseWithItsSpeedAndWhatFormulaThreeExpects) {
  EXPECT_EQ(report_text(settings(), history()),
            "cg --class W: 2 ranks on cores 0,1, with vmlib; completed, verified after 4.50 s\n"
            "\n"
            "phase                            from s  for s  MPI calls/s  useful CPU  hand-offs/s  CPU use  speed  "
            "slowdown  formula (3)\n"
            "expanded on 2 cores                0.00   2.00         4000        1.60          0.0     0.80   1.00  "
            "    1.00         1.00\n"
            "shrunk to 1 core, 2 ranks on it    2.00   2.00         1600        1.00          0.0        -   0.40  "
            "    2.50         1.60\n"
            "\n"
            "speed       MPI calls per second, relative to the first phase; slowdown is its inverse\n"
            "useful CPU  CPU time of all ranks per second, less their waiting for messages; - where that is not known\n"
            "CPU use     share of the time not blocked in MPI, with a core for each rank; sleeping counts: u = 0.80\n"
            "formula (3) the slowdown to expect with m ranks on a core: max(1, m*u)\n"
            "changes     shrink at 2.00 s took 0.12 ms\n"
            "vmlib       mode progress, back end yield, malleable\n");
}

TEST(ProgramReport, ARigidProgramIsSaidToBeOneAndWhy) {
  ProgramHistory rigid = history();
  rigid.started = StartedProgram{false, "it is a stone"};
  rigid.mode = "none";
  rigid.has_skipped = true;
  for (PhaseTotals& totals : rigid.phases) totals.is_known = false;
  const std::string text = report_text(settings(), rigid);
  EXPECT_TRUE(has(text, "mode none, rigid: it is a stone\n            so it was not shrunk")) << text;
  EXPECT_FALSE(has(text, "phase ")) << "a table without a figure: " << text;
}

TEST(ProgramReport, NotesOfTheAgentAndALateStartAreSaid) {
  ProgramHistory late = history();
  late.started = StartedProgram{true, "its ranks have registered"};
  late.notes = {"rank 1 was not on its core 0"};
  const std::string text = report_text(settings(), late);
  EXPECT_TRUE(has(text, "malleable, but not from the start\nnote        rank 1 was not on its core 0\n")) << text;
  EXPECT_EQ(report_json(settings(), late)["rigid_because"], "");
}

TEST(ProgramReport, ManyPhasesAreAddedUpByKind) {
  ProgramHistory many = history();
  many.phases.clear();
  many.changes.clear();
  for (int turn = 0; turn < 100; ++turn) {
    many.phases.push_back(turn % 2 == 0 ? phase(kExpanded, turn, 8000) : phase(kShrunk, turn, 3200));
    many.changes.push_back({{std::chrono::seconds{turn}, ChangeKind::kShrink}, 1.0 * turn, 1e-4 * (turn + 1), ""});
  }
  const std::string text = report_text(settings(), many);
  EXPECT_TRUE(has(text, "expanded on 2 cores (50 times)")) << text;
  EXPECT_TRUE(has(text, "100 took 5.05 ms in the median, 10.00 ms at most")) << text;
  EXPECT_EQ(report_json(settings(), many)["phases"].size(), 100U) << "a program can add up by itself";
}

TEST(ProgramReport, StrangersOnTheMachineAreNamed) {
  ProgramHistory disturbed = history();
  for (PhaseTotals& totals : disturbed.phases) {
    totals.machine_all = 4;
    totals.machine_busy = 4;
  }
  EXPECT_TRUE(has(report_text(settings(), disturbed), "disturbed   others used 25 %"))
      << report_text(settings(), disturbed);
}

TEST(ProgramReport, AFailureHasItsReason) {
  ProgramHistory failed = history();
  failed.end->outcome = Outcome::kFailed;
  failed.end->verification = Verification::kNone;
  failed.end->reason = "rank 1: Killed (signal 9)";
  const std::string text = report_text(settings(), failed);
  EXPECT_TRUE(has(text, "failed after 4.50 s\nreason      rank 1: Killed (signal 9)\n")) << text;
}

TEST(ProgramReport, JsonHasTheSameFiguresAndNullForWhatIsNotKnown) {
  const nlohmann::ordered_json json = report_json(settings(), history());
  EXPECT_EQ(json["outcome"], "completed");
  EXPECT_EQ(json["speed_is"], "MPI calls per second");
  EXPECT_EQ(json["phases"][1]["phase"], "shrunk to 1 core, 2 ranks on it");
  EXPECT_DOUBLE_EQ(json["phases"][1]["slowdown"], 2.5);
  EXPECT_TRUE(json["phases"][1]["cpu_use"].is_null());
  EXPECT_EQ(json["phases"][0]["mpi_calls"], 8000);
  EXPECT_NEAR(json["changes"][0]["took_ms"], 0.12, 1e-9);
}

}  // namespace
}  // namespace replay::calibrate
