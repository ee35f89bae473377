// Tests of figures: what is drawn of runs that are small enough to read, in a bounded size of runs that are not, and what is refused.
#include "scheduler/report/plot/figure.hpp"

#include <fmt/format.h>

#include "scheduler/base/error.hpp"
#include "tests/unit/report/plot/plot_fixture.hpp"

namespace replay::report {
namespace {

using test::kShrunkRun;
using test::Plots;

std::size_t count_of(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

void expect_has(const std::string& figure, std::initializer_list<const char*> parts) {
  for (const char* const part : parts) EXPECT_NE(figure.find(part), std::string::npos) << part << " in\n" << figure;
}

// `jobs` one after the other, two at once, on eight cores.
std::string many_jobs(int jobs) {
  std::string records;
  for (int i = 0; i < jobs; ++i) {
    const int at = i / 2 * 10;
    const char* const cores = i % 2 == 0 ? "0-3:1" : "4-7:1";
    records += fmt::format("{0} submit job={1} processes=4 estimate=10 runtime=10 flexibility=rigid\n", at, i + 1);
    records += fmt::format("{0} start job={1} cores=4 mpl=1 on={2}\n", at, i + 1, cores);
    records += fmt::format("{0} launch job={1} cores=4 mpl=1 on={2}\n", at, i + 1, cores);
    if (i % 2 == 1)
      for (const int job : {i, i + 1}) records += fmt::format("{} finish job={} outcome=completed\n", at + 9, job);
  }
  return records;
}

TEST_F(Plots, AGanttChartNamesHostsBesideTheirCores) {
  const std::string svg = drawn({log("easy", "2x1x1\n#hosts node1 node2", kShrunkRun)}, {});
  for (const char* name : {"[node1]", "[node2]", "[host]"}) EXPECT_NE(svg.find(name), std::string::npos) << name << svg;
  EXPECT_EQ(svg.find("[core]"), std::string::npos);
}

TEST_F(Plots, GanttOfAShrunkJobIsExactlyThis) {
  // 84 mm are 238.11 points; 8 s are 216.97 of them. Core 0 is the lower one.
  EXPECT_EQ(
      drawn({log("fcfs-malleable:max_mpl=2", "1x1x2", kShrunkRun)}, {.width_mm = 84}),
      R"(<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="238.11pt" height="157.8pt" viewBox="0 0 238.11 157.8" role="img">
<title>gantt: fcfs-malleable</title>
<defs>
</defs>
<rect x="0" y="0" width="238.11" height="157.8" fill="#ffffff"/>
<path fill="#9ecae1" d="M19.19 4.3H73.44V122.3H19.19zM73.44 63.3H181.92V122.3H73.44zM181.92 4.3H236.16V122.3H181.92z"/>
<rect x="73.44" y="4.3" width="108.48" height="59" fill="#fee0b6"/>
[hatch]
<path fill="none" stroke="#444444" stroke-width="0.25" d="M19.19 4.3L73.44 4.3L73.44 122.3L19.19 122.3L19.19 4.3M73.44 4.3L181.92 4.3L181.92 63.3L73.44 63.3L73.44 4.3M73.44 63.3L181.92 63.3L181.92 122.3L73.44 122.3L73.44 63.3M181.92 4.3L236.16 4.3L236.16 122.3L181.92 122.3L181.92 4.3"/>
[1] 44.37 65.82
[1] 125.73 95.32
[1] 207.1 65.82
[2] 125.73 36.32
[0] 17.25 132.05
[2] 71.49 132.05
[4] 125.73 132.05
[6] 179.97 132.05
[8] 234.22 132.05
<path fill="none" stroke="#222222" stroke-width="0.5" d="M19.19 122.3L19.19 124.8M73.44 122.3L73.44 124.8M127.68 122.3L127.68 124.8M181.92 122.3L181.92 124.8M236.16 122.3L236.16 124.8"/>
[time, s] 115.9 142.2
[0] 10.8 95.32
[1] 10.8 36.32
<path fill="none" stroke="#222222" stroke-width="0.5" d="M16.69 92.8L19.19 92.8M16.69 33.8L19.19 33.8"/>
[core] 6.4 71.08
<path fill="none" stroke="#222222" stroke-width="0.5" d="M19.19 4.3L236.16 4.3L236.16 122.3L19.19 122.3L19.19 4.3"/>
<rect x="19.19" y="148.75" width="18" height="6" fill="#9ecae1"/>
[hatch]
<path fill="none" stroke="#444444" stroke-width="0.25" d="M19.19 148.75L37.19 148.75L37.19 154.75L19.19 154.75L19.19 148.75"/>
[shrunk] 41.19 154.27
</svg>
)");
}

TEST_F(Plots, GanttShowsSharedCoresSideBySide) {
  const std::string figure = drawn({log("x", "1x1x2",
                                        "0 submit job=1 processes=2 estimate=60 runtime=60 flexibility=rigid\n"
                                        "0 start job=1 cores=2 mpl=1 on=0-1:1 shareable=yes\n"
                                        "0 launch job=1 cores=2 mpl=1 on=0-1:1 shareable=yes\n"
                                        "30 submit job=2 processes=2 estimate=60 runtime=60 flexibility=rigid\n"
                                        "30 start job=2 cores=1 mpl=2 on=1:2 shareable=yes\n"
                                        "30 launch job=2 cores=1 mpl=2 on=1:2 shareable=yes\n"
                                        "60 finish job=1 outcome=completed\n"
                                        "90 finish job=2 outcome=completed\n")},
                                   {});
  expect_has(figure, {"[shared cores]", "[shrunk]"});
  EXPECT_EQ(figure.find("[suspended]"), std::string::npos);
  expect_has(figure, {"M19.19 63.3H164.14V122.3H19.19z",  // job 1 on core 0 until 60 s
                      "M19.19 4.3H91.67V63.3H19.19z",     // on core 1 alone until 30 s
                      "M91.67 33.8H164.14V63.3H91.67z",   // then in the lower half of its row,
                      "M91.67 4.3H164.14V33.8H91.67z"});  // and job 2 in the upper one
}

TEST_F(Plots, FiguresWithALineForEachRunRefuseMoreThanThereAreLooks) {
  std::vector<std::filesystem::path> logs;
  for (int run = 0; run < 9; ++run) logs.push_back(log(fmt::format("p{}", run), "1x1x2", kShrunkRun));
  for (const FigureKind kind : {FigureKind::kQueue, FigureKind::kUtilisation, FigureKind::kSlowdownBySize}) {
    try {
      (void)drawn(logs, {.kind = kind});
      ADD_FAILURE() << "drawn";
    } catch (const UsageError& error) {
      EXPECT_NE(std::string{error.what()}.find("expected at most 8 runs, found 9"), std::string::npos) << error.what();
    }
  }
  EXPECT_NE(drawn(logs, {.kind = FigureKind::kGantt}), "") << "panels, not lines";
}

TEST_F(Plots, GanttMarksJobsInAGroup) {
  const std::string job =
      "0 submit job={0} processes=2 estimate=60 runtime=60 flexibility=rigid\n"
      "0 start job={0} cores=2 mpl=1 on={1}:1 shareable=yes\n"
      "0 launch job={0} cores=2 mpl=1 on={1}:1 shareable=yes\n";
  const std::string figure =
      drawn({log("x", "1x2x2",
                 fmt::format(fmt::runtime(job), 1, "0-1") + fmt::format(fmt::runtime(job), 2, "2-3") +
                     "0 group primary=1 matched=2 way=1 gain=0.5\n40 ungroup primary=1\n"
                     "80 finish job=1 outcome=completed\n80 finish job=2 outcome=completed\n")},
            {});
  expect_has(figure, {"[in a group]", "M19.19 63.3H234.22V64.8H19.19zM19.19 4.3H234.22V5.8H19.19z"});
  EXPECT_EQ(drawn({log("x", "1x1x2", kShrunkRun)}, {}).find("in a group"), std::string::npos);
}

TEST_F(Plots, GanttShowsSuspendedJobsBehindThoseThatRun) {
  const std::string figure = drawn({log("x", "1x1x2",
                                        "0 submit job=1 processes=2 estimate=60 runtime=60 flexibility=rigid\n"
                                        "0 start job=1 cores=2 mpl=1 on=0-1:1\n"
                                        "0 launch job=1 cores=2 mpl=1 on=0-1:1\n"
                                        "20 suspend job=1\n"
                                        "20 suspended job=1\n"
                                        "40 resume job=1\n"
                                        "40 resumed job=1\n"
                                        "80 finish job=1 outcome=completed\n")},
                                   {});
  expect_has(figure, {"[suspended]"});
  EXPECT_EQ(figure.find("[shrunk]"), std::string::npos);
  // The hatch comes before the boxes of the job, which stand at both sides of it.
  EXPECT_LT(figure.find("[hatch]"), figure.find("fill=\"#9ecae1\""));
}

TEST_F(Plots, GanttHatchesNodesThatAreNotUp) {
  const std::string job =
      "0 submit job=1 processes=1 estimate=8 runtime=8 flexibility=rigid\n0 start job=1 cores=1 mpl=1 on=0:1\n"
      "0 launch job=1 cores=1 mpl=1 on=0:1\n";
  const std::string closed = "2 node node=1 state=down\n5 node node=1 state=up\n",
                    end = "8 finish job=1 outcome=completed\n";
  const auto figure = [&](const char* policy, const std::string& records) {
    return drawn({log(policy, "2x1x1", records)}, {});
  };
  EXPECT_NE(figure("easy", job + closed + end).find("[node closed]"), std::string::npos);
  EXPECT_EQ(figure("fcfs", job + end).find("[node closed]"), std::string::npos);
}

TEST_F(Plots, AFigureIsTheSameBytesEachTime) {
  const auto run = log("easy", "1x1x2", kShrunkRun);
  for (std::size_t kind = 0; kind < kFigureNames.size(); ++kind)
    for (const char* const name : {"a.svg", "a.pdf", "a.tikz"}) {
      const FigureOptions options{.kind = static_cast<FigureKind>(kind)};
      const std::string once = figure_of(std::vector{run}, options, name);
      EXPECT_EQ(once, figure_of(std::vector{run}, options, name)) << kFigureNames[kind] << " " << name;
      EXPECT_EQ(once.find("nan"), std::string::npos);
      EXPECT_EQ(once.find("inf"), std::string::npos);
    }
}

TEST_F(Plots, QueueHasALineARunForJobsAndForProcessors) {
  const std::string figure =
      drawn({log("easy", "1x1x2", kShrunkRun), log("fcfs", "1x1x2", kShrunkRun)}, {.kind = FigureKind::kQueue});
  expect_has(figure, {"[waiting jobs]", "[waiting processors]", "[time, s]", "[easy]", "[fcfs]"});
  EXPECT_EQ(count_of(figure, "stroke=\"#0072b2\" stroke-width=\"1\" d="), 3u);  // two curves and the legend
  EXPECT_EQ(count_of(figure, "stroke=\"#d55e00\" stroke-width=\"1\" stroke-dasharray=\"4 2\" d="), 3u);
}

TEST_F(Plots, UtilisationIsTheShareOfTheCoresThatAreBusy) {
  // Two cores busy for 8 s: all of the time.
  expect_has(drawn({log("easy", "1x1x2", kShrunkRun)}, {.kind = FigureKind::kUtilisation}),
             {"[busy cores]", "[mean 100.0 %]"});
  // From 0 s to 16 s on twice as many.
  expect_has(drawn({log("fcfs", "1x1x4", kShrunkRun)}, {.kind = FigureKind::kUtilisation}), {"[mean 50.0 %]"});
}

TEST_F(Plots, UtilisationOfALongRunIsMeansThatSayOfWhat) {
  // Of each 10 s the cores are busy for 9 s; the last pause is none.
  expect_has(drawn({log("easy", "1x1x8", many_jobs(2000))}, {.kind = FigureKind::kUtilisation}),
             {"[busy cores, mean of 2 min]", "[mean 90.0 %]"});
}

TEST_F(Plots, EcdfCountsTheJobsUpToEachValue) {
  // Waits of 0 s and 1 s.
  const std::string figure = drawn({log("easy", "1x1x2", kShrunkRun)}, {.kind = FigureKind::kEcdf});
  expect_has(figure, {"[wait, s]", "[share of the jobs]"});
  const std::string slowdown =
      drawn({log("easy", "1x1x2", kShrunkRun)}, {.kind = FigureKind::kEcdf, .metric = JobMetric::kSlowdown});
  expect_has(slowdown, {"[bounded slowdown (10 s)]"});
}

TEST_F(Plots, EcdfByClassAndBySizeHasACurveForEach) {
  const auto run = log("easy", "1x1x2", kShrunkRun);
  expect_has(drawn({run}, {.kind = FigureKind::kEcdf, .by = CurvesBy::kSize}), {"[1 process]", "[2 to 8 processes]"});
  EXPECT_EQ(drawn({run}, {.kind = FigureKind::kEcdf, .by = CurvesBy::kClass}).find("[short]"), std::string::npos)
      << "of one class alone there is no key";
  std::string classes = kShrunkRun;
  for (const auto& [job, of] : {std::pair{"1", "long"}, {"2", "medium"}}) {
    const std::size_t submitted = classes.find(fmt::format(" submit job={} ", job));
    const std::string at =
        classes.substr(classes.rfind('\n', submitted) + 1, submitted - classes.rfind('\n', submitted) - 1);
    classes.insert(classes.find('\n', submitted) + 1, fmt::format("{} class job={} class={}\n", at, job, of));
  }
  expect_has(drawn({log("other", "1x1x2", classes)}, {.kind = FigureKind::kEcdf, .by = CurvesBy::kClass}),
             {"[medium]", "[long]"});
}

TEST_F(Plots, ARunThatWasInterruptedIsMarkedInTheKey) {
  const auto whole = log("easy", "1x1x2", kShrunkRun);
  const auto part = log("fcfs", "1x1x2", std::string{kShrunkRun} + "9 note text=\"interrupted\"\n");
  expect_has(drawn({whole, part}, {.kind = FigureKind::kEcdf}), {"[easy]", "[fcfs (incomplete)]"});
}

TEST_F(Plots, SlowdownBySizeHasABoxForEachSizeThatJobsHave) {
  const std::string figure = drawn({log("easy", "1x1x2", kShrunkRun)}, {.kind = FigureKind::kSlowdownBySize});
  expect_has(figure, {"[processors of the job, up to]", "[1]", "[2]"});
  EXPECT_EQ(count_of(figure, "fill=\"#bcd9ee\""), 2u);
}

TEST_F(Plots, LabelsAreThePoliciesOrTheFoldersOrTheUsers) {
  const auto easy = log("easy:reservations=1", "1x1x2", kShrunkRun), fcfs = log("fcfs", "1x1x2", kShrunkRun);
  expect_has(drawn({easy, fcfs}, {}), {"[easy]", "[fcfs]"});
  expect_has(drawn({easy, fcfs}, {.labels = {"EASY", "ours & others"}}), {"[EASY]", "[ours &amp; others]"});
  EXPECT_THROW(drawn({easy, fcfs}, {.labels = {"EASY"}}), UsageError);
}

TEST_F(Plots, AWindowCutsWhatIsDrawn) {
  const auto run = log("easy", "1x1x8", many_jobs(20));
  const FigureOptions window{.from = Instant{std::chrono::seconds{40}}, .to = Instant{std::chrono::seconds{60}}};
  const std::string figure = drawn({run}, window);
  expect_has(figure, {"[9]", "[10]", "[11]", "[12]"});
  EXPECT_EQ(figure.find("[13]"), std::string::npos);
  FigureOptions later = window;
  later.from = Instant{std::chrono::seconds{5000}};
  later.to = Instant{std::chrono::seconds{5001}};
  EXPECT_THROW(drawn({run}, later), InputError);
  later.to = later.from;
  EXPECT_THROW(drawn({run}, later), UsageError);
}

TEST_F(Plots, AHundredThousandJobsAreAFileOfBoundedSize) {
  const auto run = log("easy", "1x1x8", many_jobs(100'000));
  for (std::size_t kind = 0; kind < kFigureNames.size(); ++kind)
    EXPECT_LT(figure_of(std::vector{run}, {.kind = static_cast<FigureKind>(kind)}, "a.svg").size(), 200'000u)
        << kFigureNames[kind];
  for (const char* const name : {"a.pdf", "a.tikz"})
    EXPECT_LT(figure_of(std::vector{run}, {.kind = FigureKind::kGantt}, name).size(), 200'000u) << name;
}

TEST_F(Plots, OptionsThatSayNothingAboutTheFigureAreRefused) {
  const auto run = log("easy", "1x1x2", kShrunkRun);
  EXPECT_THROW(drawn({run}, {.metric = JobMetric::kWait}), UsageError);
  EXPECT_THROW(drawn({run}, {.kind = FigureKind::kQueue, .by = CurvesBy::kSize}), UsageError);
  EXPECT_THROW(drawn({run}, {.height_mm = 20.0}), UsageError);
  EXPECT_THROW(static_cast<void>(figure_of(std::vector{run}, {}, "a.png")), UsageError);
}

TEST_F(Plots, ARunWithoutJobsSaysSo) {
  try {
    static_cast<void>(drawn({log("easy", "1x1x2", "")}, {}));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string{error.what()}.find("events.log: no job was submitted"), std::string::npos) << error.what();
  }
  const auto waits = log("fcfs", "1x1x2", "0 submit job=1 processes=2 estimate=16 runtime=8 flexibility=rigid\n");
  EXPECT_THROW(drawn({waits}, {}), InputError);
  EXPECT_THROW(drawn({waits}, {.kind = FigureKind::kEcdf}), InputError);
  EXPECT_THROW(drawn({waits}, {.kind = FigureKind::kSlowdownBySize}), InputError);
}

}  // namespace
}  // namespace replay::report
