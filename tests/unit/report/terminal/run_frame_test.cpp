#include "scheduler/report/terminal/run_frame.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/unit/report/terminal/runs.hpp"

namespace replay::report {
namespace {

// Frames below are whole screens, row by row.

TEST(RunFrame, TwoCoresOn80x24) {
  EXPECT_EQ(picture(two_cores(), screen(80, 24)),
            R"(fcfs-malleable on 1x1x2                                                    2.0 s
jobs  [...............] 0 of 10 done, 2 running, 1 waiting
cores [###############] 2 of 2 busy, 100 %, 1 job shrunk
queue [###############] 1 job, 2 processes, first: 9 (2)
1 node of 2 cores
0 A2 B
A 7 (2 on 1)  B 8 (1)













[     0.0 s] job 7 started on 2 cores (cores 0-1)
[     1.0 s] job 7 shrunk 2 -> 1 core (core 0)
[     1.0 s] job 8 started on 1 core (core 1)
f fold: auto  p pause  q quit  ? help
)");
}

TEST(RunFrame, TwoCoresOn40x10WithBlockCharacters) {
  EXPECT_EQ(picture(two_cores(), screen(40, 10, true)), R"(fcfs-malleable on 1x1x2            2.0 s
jobs  ░░░░░░░░░░ 0 of 10 done, 2 running
cores ██████████ 2 of 2 busy, 100 %
queue ██████████ 1 job, 2 processes
0 A2 B
A 7 (2 on 1)  B 8 (1)
[     0.0 s] job 7 started on 2 cores (c
[     1.0 s] job 7 shrunk 2 -> 1 core (c
[     1.0 s] job 8 started on 1 core (co
f fold: auto  p pause  q quit  ? help
)");
}

TEST(RunFrame, SixtyFourEmulatedCoresWithShrunkSharedSuspendedAndFailedJobsOn80x24) {
  EXPECT_EQ(picture(sixty_four_cores(), screen(80, 24)),
            R"(scojo-pect on emulated:16x2x2                                             13.0 s
jobs  [##.............] 1 of 10 done, 1 failed, 4 running, 10 waiting
cores [######.........] 24 of 64 busy, 38 %, 2 jobs shrunk, 4 cores shared
queue [###############] 10 jobs, 69 processes, first: 6 (24), 20 (1), 21 (2)
16 nodes of 2 x 2 cores
 0 A  A   A  A    1 B2 B2  B2 B2   2 .  .   .  .    3 .  .   .  .
 4 C  C   C  C    5 C  C   C  C    6 CD CD  CD CD   7 D2 D2  D2 D2
 8 .  .   .  .    9 .  .   .  .   10 .  .   .  .   11 .  .   .  .
12 .  .   .  .   13 .  .   .  .   14 .  .   .  .   15 .  .   .  .
A 1 (4)  B 2 (8 on 4)  C 3 (12)  D 4 (16 on 8)  E 5 (20, suspended)





[     0.0 s] job 1 started on 4 cores (cores 0-3)
[     1.0 s] job 2 started on 4 cores (cores 4-7), shrunk: 8 processes
[     2.0 s] job 3 started on 12 cores (cores 16-27)
[     2.0 s] job 4 started on 8 cores (cores 24-31), shrunk: 16 processes
[     3.0 s] job 5 started on 20 cores (cores 40-59)
[    10.0 s] job 5 suspended
[    11.0 s] job 12 started on 1 core (core 63)
[    12.0 s] job 12 ended after 1.0 s (waited 0.0 s): failed, exit code 3: rank
f fold: auto  p pause  q quit  ? help
)");
}

TEST(RunFrame, TheSameOn40x10InNarrowCells) {
  EXPECT_EQ(picture(sixty_four_cores(), screen(40, 10)), R"(scojo-pect on emulated:16x2x2     13.0 s
jobs  [#.........] 1 of 10 done
cores [####......] 24 of 64 busy, 38 %
queue [##########] 10 jobs, 69 processes
 0 AA   1 BB   2 ..   3 ..   4 CC   5 CC
 6 &&   7 DD   8 ..   9 ..  10 ..  11 ..
12 ..  13 ..  14 ..  15 ..
A 1 (4)  B 2 (8 on 4)  and 3 more
[    12.0 s] job 12 ended after 1.0 s (w
f fold: auto  p pause  q quit  ? help
)");
}

TEST(RunFrame, TheSameOn200x50) {
  EXPECT_EQ(
      picture(sixty_four_cores(), screen(200, 50, true)),
      R"(scojo-pect on emulated:16x2x2                                                                                                                                                                     13.0 s
jobs  ███▊░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░ 1 of 10 done, 1 failed, 4 running, 10 waiting, 1 suspended
cores █████████████▉░░░░░░░░░░░░░░░░░░░░░░░ 24 of 64 busy, 38 %, 2 jobs shrunk, 4 cores shared
queue █████████████████████████████████████ 10 jobs, 69 processes, first: 6 (24), 20 (1), 21 (2), 22 (3), 23 (4), 24 (5), 25 (6), 26 (7), 27 (8), 28 (9)
16 nodes of 2 x 2 cores
 0 A  A   A  A    1 B2 B2  B2 B2   2 ·  ·   ·  ·    3 ·  ·   ·  ·    4 C  C   C  C    5 C  C   C  C    6 CD CD  CD CD   7 D2 D2  D2 D2   8 ·  ·   ·  ·    9 ·  ·   ·  ·   10 ·  ·   ·  ·
11 ·  ·   ·  ·   12 ·  ·   ·  ·   13 ·  ·   ·  ·   14 ·  ·   ·  ·   15 ·  ·   ·  ·
A 1 (4)  B 2 (8 on 4)  C 3 (12)  D 4 (16 on 8)  E 5 (20, suspended)

































[     0.0 s] job 1 started on 4 cores (cores 0-3)
[     1.0 s] job 2 started on 4 cores (cores 4-7), shrunk: 8 processes
[     2.0 s] job 3 started on 12 cores (cores 16-27)
[     2.0 s] job 4 started on 8 cores (cores 24-31), shrunk: 16 processes
[     3.0 s] job 5 started on 20 cores (cores 40-59)
[    10.0 s] job 5 suspended
[    11.0 s] job 12 started on 1 core (core 63)
[    12.0 s] job 12 ended after 1.0 s (waited 0.0 s): failed, exit code 3: rank 0: no such file
f fold: auto  p pause  q quit  ? help
)");
}

TEST(RunFrame, AThousandCoresAreFoldedToPackagesOn80x24) {
  EXPECT_EQ(picture(full("64x2x8", 1024, 24, 40), screen(80, 24, true)),
            R"(easy on 64x2x8                                                            41.0 s
jobs  ░░░░░░░░░░░░░░░ 0 of 10 done, 41 running, 0 waiting
cores ██████████████▍ 984 of 1024 busy, 96 %
queue ░░░░░░░░░░░░░░░ empty
64 nodes of 2 x 8 cores, folded to packages
 0 A█ A█   1 A█ B█   2 B█ B█   3 C█ C█   4 C█ D█   5 D█ D█   6 E█ E█   7 E█ F█
 8 F█ F█   9 G█ G█  10 G█ H█  11 H█ H█  12 I█ I█  13 I█ J█  14 J█ J█  15 K█ K█
16 K█ L█  17 L█ L█  18 M█ M█  19 M█ N█  20 N█ N█  21 O█ O█  22 O█ P█  23 P█ P█
24 Q█ Q█  25 Q█ R█  26 R█ R█  27 S█ S█  28 S█ T█  29 T█ T█  30 U█ U█  31 U█ V█
32 V█ V█  33 W█ W█  34 W█ X█  35 X█ X█  36 Y█ Y█  37 Y█ Z█  38 Z█ Z█  39 a█ a█
40 a█ b█  41 b█ b█  42 c█ c█  43 c█ d█  44 d█ d█  45 e█ e█  46 e█ f█  47 f█ f█
48 g█ g█  49 g█ h█  50 h█ h█  51 i█ i█  52 i█ j█  53 j█ j█  54 k█ k█  55 k█ l█
56 l█ l█  57 m█ m█  58 m█ n█  59 n█ n█  60 o█ o█  61 o█ ·   62 ·  ·   63 ·  ·
A 1 (24)  B 2 (24)  C 3 (24)  D 4 (24)  E 5 (24)  F 6 (24)  G 7 (24)  H 8 (24)
I 9 (24)  J 10 (24)  K 11 (24)  L 12 (24)  M 13 (24)  N 14 (24)  O 15 (24)
P 16 (24)  Q 17 (24)  R 18 (24)  S 19 (24)  T 20 (24)  U 21 (24)  V 22 (24)
W 23 (24)  X 24 (24)  Y 25 (24)  Z 26 (24)  a 27 (24)  b 28 (24)  c 29 (24)
d 30 (24)  e 31 (24)  f 32 (24)  g 33 (24)  h 34 (24)  i 35 (24)  j 36 (24)
k 37 (24)  l 38 (24)  m 39 (24)  n 40 (24)  o 41 (24)
[    38.0 s] job 38 started on 24 cores (cores 888-911)
[    39.0 s] job 39 started on 24 cores (cores 912-935)
[    40.0 s] job 40 started on 24 cores (cores 936-959)
[    41.0 s] job 41 started on 24 cores (cores 960-983)
f fold: auto  p pause  q quit  ? help
)");
}

TEST(RunFrame, AThousandCoresAreFoldedToNodesOn40x10) {
  EXPECT_EQ(picture(full("64x2x8", 1024, 24, 40), screen(40, 10)), R"(easy on 64x2x8                    41.0 s
jobs  [..........] 0 of 10 done
cores [##########] 984 of 1024 busy
queue [..........] empty
 0 A&BC&DE&FG  10 &HI&JK&LM&
20 NO&PQ&RS&T  30 U&VW&XY&Za
40 &bc&de&fg&  50 hi&jk&lm&n
A 1 (24)  B 2 (24)  and 39 more
[    41.0 s] job 41 started on 24 cores
arrows scroll  f fold: auto  p pause
)");
}

TEST(RunFrame, AThousandCoresStandInFullOn200x50) {
  const std::string frame = picture(full("64x2x8", 1024, 24, 40), screen(200, 50));
  EXPECT_NE(frame.find("\n64 nodes of 2 x 8 cores\n"), std::string::npos) << frame;
  EXPECT_NE(frame.find("\n60 o  o  o  o  o  o  o  o   o  o  o  o  o  o  o  o   61 o  o  o  o  o  o  o  o   .  .  .  .  "
                       ".  .  .  .   62 .  .  .  .  .  .  .  .   .  .  .  .  .  .  .  .\n"),
            std::string::npos)
      << frame;
}

TEST(RunFrame, GroupsAndTheSliceHaveARowOnceThePolicySpeaksOfThem) {
  Records records = sixty_four_cores();
  records.add(14, SliceBegun{JobClass::kMedium, Instant{from_seconds(13)}, Instant{from_seconds(60)}})
      .add(14, GroupFormed{JobId{3}, {JobId{4}, JobId{12}}, 1, 0.2})
      .add(14, GroupFormed{JobId{1}, {JobId{2}}, 1, 0.2});
  EXPECT_NE(picture(records, screen(80, 24)).find("\nslice medium, until 60.0 s; groups 1+2, 3+4\n16 nodes"),
            std::string::npos)
      << "job 12 has ended\n"
      << picture(records, screen(80, 24));
}

TEST(RunFrame, AMapThatIsTooTallIsScrolledAndTheScreenSaysWhere) {
  FrameChoice choice = screen(80, 24);
  choice.fold = Fold::kCores;
  choice.scroll = 5;
  const RunFrame shown = run_frame(watched(full("64x2x8", 1024, 24, 40)), choice);
  EXPECT_EQ(shown.map_rows, 12);
  EXPECT_EQ(shown.most_scroll, 20);
  EXPECT_EQ(shown.frame.to_text(), R"(easy on 64x2x8                                                            41.0 s
jobs  [...............] 0 of 10 done, 41 running, 0 waiting
cores [##############.] 984 of 1024 busy, 96 %
queue [...............] empty
64 nodes of 2 x 8 cores, rows 6-17 of 32
10 G G G G G G G G  H H H H H H H H   11 H H H H H H H H  H H H H H H H H
12 I I I I I I I I  I I I I I I I I   13 I I I I I I I I  J J J J J J J J
14 J J J J J J J J  J J J J J J J J   15 K K K K K K K K  K K K K K K K K
16 K K K K K K K K  L L L L L L L L   17 L L L L L L L L  L L L L L L L L
18 M M M M M M M M  M M M M M M M M   19 M M M M M M M M  N N N N N N N N
20 N N N N N N N N  N N N N N N N N   21 O O O O O O O O  O O O O O O O O
22 O O O O O O O O  P P P P P P P P   23 P P P P P P P P  P P P P P P P P
24 Q Q Q Q Q Q Q Q  Q Q Q Q Q Q Q Q   25 Q Q Q Q Q Q Q Q  R R R R R R R R
26 R R R R R R R R  R R R R R R R R   27 S S S S S S S S  S S S S S S S S
28 S S S S S S S S  T T T T T T T T   29 T T T T T T T T  T T T T T T T T
30 U U U U U U U U  U U U U U U U U   31 U U U U U U U U  V V V V V V V V
32 V V V V V V V V  V V V V V V V V   33 W W W W W W W W  W W W W W W W W
A 1 (24)  B 2 (24)  C 3 (24)  D 4 (24)  E 5 (24)  F 6 (24)  G 7 (24)  H 8 (24)
I 9 (24)  J 10 (24)  K 11 (24)  L 12 (24)  M 13 (24)  N 14 (24)  and 27 more
[    38.0 s] job 38 started on 24 cores (cores 888-911)
[    39.0 s] job 39 started on 24 cores (cores 912-935)
[    40.0 s] job 40 started on 24 cores (cores 936-959)
[    41.0 s] job 41 started on 24 cores (cores 960-983)
arrows scroll  f fold: cores  p pause  q quit  ? help
)");
}

TEST(RunFrame, ScrollingBeyondTheEndShowsTheEnd) {
  FrameChoice choice = screen(80, 24);
  choice.fold = Fold::kCores;
  choice.scroll = 20;
  const std::string last = picture(full("64x2x8", 1024, 24, 40), choice);
  choice.scroll = 1000;
  EXPECT_EQ(picture(full("64x2x8", 1024, 24, 40), choice), last);
  EXPECT_NE(last.find("rows 21-32 of 32"), std::string::npos) << last;
}

TEST(RunFrame, TheMapDoesNotMoveWhileJobsComeAndGo) {
  const auto row_of_map = [](const Records& records) {
    const std::string frame = picture(records, screen(80, 24));
    return frame.substr(0, frame.find("16 nodes")).size();
  };
  Records empty("16x2x2");
  const std::string frame = picture(empty, screen(80, 24));
  EXPECT_EQ(std::ranges::count(frame.substr(0, frame.find("16 nodes")), '\n'), 4);
  EXPECT_GT(row_of_map(sixty_four_cores()), 0U);
  for (const std::string machine : {"64x2x8", "1x1x1024", "128x1x8"}) {
    Records none(machine);
    FrameChoice choice = screen(80, 24);
    EXPECT_EQ(run_frame(watched(none), choice).map_rows, run_frame(watched(full(machine, 1024, 7, 0)), choice).map_rows)
        << machine;
  }
}

TEST(RunFrame, AThousandCoresWithoutNodesFitOn80x24) {
  for (const std::string machine : {"1x1x1024", "1024x1"}) {
    const RunFrame shown = run_frame(watched(full(machine, 1024, 24, 40)), screen(80, 24));
    EXPECT_EQ(shown.most_scroll, 0) << shown.frame.to_text();
  }
}

TEST(RunFrame, WithoutTheNumberOfJobsThereIsNoBarForThem) {
  FrameChoice choice = screen(80, 24);
  choice.all_jobs.reset();
  EXPECT_NE(picture(two_cores(), choice).find("\njobs  0 done, 2 running, 1 waiting\n"), std::string::npos);
}

TEST(RunFrame, TheQueuesBarIsRelativeToItsLongest) {
  Records records("flat:4");
  for (int job = 1; job <= 4; ++job) records.submit(0, job, 1, 1);
  for (int job = 1; job <= 3; ++job) records.finish(1, job, metrics::ended(Outcome::kCancelled));
  EXPECT_NE(
      picture(records, screen(80, 24)).find("\nqueue [####...........] 1 job (most 4), 1 process, first: 4 (1)\n"),
      std::string::npos)
      << picture(records, screen(80, 24));
}

TEST(RunFrame, ANoticeTakesThePlaceOfTheKeys) {
  FrameChoice choice = screen(60, 12);
  choice.notice = "paused, the run goes on";
  const std::string frame = picture(two_cores(), choice);
  EXPECT_TRUE(frame.ends_with("\npaused, the run goes on\n")) << frame;
  EXPECT_EQ(frame.find("q quit"), std::string::npos) << frame;
}

TEST(RunFrame, WithoutKeysTheLastRowIsForEvents) {
  FrameChoice choice = screen(80, 8);
  choice.has_keys = false;
  EXPECT_TRUE(picture(two_cores(), choice).ends_with("job 8 started on 1 core (core 1)\n"));
}

TEST(RunFrame, TheHelpNamesEveryKeyAndSign) {
  FrameChoice choice = screen(80, 24);
  choice.has_help = true;
  const std::string frame = picture(two_cores(), choice);
  for (const char* word : {"fold:", "pause", "scroll", "end the run", "draw again", "this help", "idle", "shrunk"})
    EXPECT_NE(frame.find(word), std::string::npos) << word << "\n" << frame;
}

TEST(RunFrame, NoSizeIsTooSmallAndNoRowTooLong) {
  Records records = sixty_four_cores();
  records.header("policy", std::string(300, 'p'));
  const WatchedRun run = watched(records);
  for (const bool has_help : {false, true}) {
    for (int columns = 1; columns < 120; ++columns) {
      for (const int rows : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15, 16, 24, 50}) {
        FrameChoice choice = screen(columns, rows, true);
        choice.has_help = has_help;
        const terminal::Frame frame = run_frame(run, choice).frame;
        ASSERT_EQ(frame.columns(), columns);
        ASSERT_EQ(frame.rows(), rows);
      }
    }
  }
}

TEST(RunFrame, TheClockIsSeenHoweverLongThePolicysNameIs) {
  Records records("1x1x2");
  records.header("policy", std::string(300, 'p')).submit(5, 1, 1, 1);
  const std::string frame = picture(records, screen(40, 10));
  EXPECT_EQ(frame.substr(0, frame.find('\n')), std::string(33, 'p') + "  5.0 s");
}

TEST(RunFrame, ATitleThatIsTooLongIsToldWithoutThePolicysParameters) {
  Records records("emulated:16x2x2");
  records.header("policy", "fcfs-malleable:max_mpl=2:criterion=oldest:expand=queue-empty");
  EXPECT_TRUE(picture(records, screen(80, 24)).starts_with("fcfs-malleable on emulated:16x2x2       "));
  EXPECT_TRUE(
      picture(records, screen(120, 24)).starts_with("fcfs-malleable:max_mpl=2:criterion=oldest:expand=queue-em"));
}

TEST(RunFrame, TextThatIsNotAsciiIsShownOnlyWhereTheLocaleHasIt) {
  Records records("1x1x2");
  records.add(1, log::Note{"Knoten f\xc3\xa4llt aus \xe2\x96\x88"});
  EXPECT_NE(picture(records, screen(80, 24, true)).find("Knoten fällt aus █"), std::string::npos);
  const std::string ascii = picture(records, screen(80, 24));
  EXPECT_NE(ascii.find("Knoten f?llt aus ?"), std::string::npos);
  EXPECT_TRUE(std::ranges::all_of(ascii, [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
}

TEST(RunFrame, AJobHasTheSameColourInTheMapAndInTheListOfJobs) {
  const terminal::Frame frame = run_frame(watched(two_cores()), screen(80, 24)).frame;
  EXPECT_EQ(frame.at(5, 2).glyph, U'A');
  EXPECT_EQ(frame.at(5, 2).style.kind, terminal::Style::Kind::kPatch);
  EXPECT_EQ(frame.at(6, 0), frame.at(5, 2));
  EXPECT_NE(frame.at(5, 5).style, frame.at(5, 2).style) << "the next job has another one";
}

TEST(RunFrame, FailuresStandOut) {
  const terminal::Frame frame = run_frame(watched(sixty_four_cores()), screen(80, 24)).frame;
  EXPECT_EQ(frame.at(22, 0).style, terminal::kAlert);
  EXPECT_EQ(frame.at(21, 0).style, terminal::kPlain);
}

TEST(RunFrame, BeforeTheHeaderThereIsNoMap) {
  const RunFrame shown = run_frame(WatchedRun{}, screen(80, 24));
  EXPECT_EQ(shown.map_rows, 0);
  EXPECT_NE(shown.frame.to_text().find("0 of 0 busy"), std::string::npos);
}

}  // namespace
}  // namespace replay::report
