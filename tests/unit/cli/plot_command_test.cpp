// Tests of `replay plot`: it writes the file that it names, whole, and says what it expects.
#include "tests/unit/cli/comparing_fixture.hpp"

namespace replay::test {
namespace {

class Plotting : public Comparing {
 protected:
  Plotting() { simulate_both(); }
};

TEST_F(Plotting, WritesEveryFigureInEveryFormatAndPrintsItsPath) {
  for (const char* const figure : {"gantt", "queue", "ecdf", "slowdown-by-size", "utilisation"})
    for (const char* const ending : {"svg", "pdf", "tikz", "tex"}) {
      const std::string file = std::string{figure} + "." + ending;
      expect_says("plot runs --figure " + std::string{figure} + " -o " + file, 0, {file.c_str()});
      EXPECT_GT(text_of(folder_ / file).size(), 500u) << file;
    }
  expect_says("plot runs/easy/events.log --figure ecdf --metric slowdown --bound 1s --by size --width double -o a.svg",
              0, {"a.svg"});
}

TEST_F(Plotting, ReplacesTheFileAsAWhole) {
  expect_says("plot runs --figure gantt -o a.svg", 0, {});
  const std::string before = text_of(folder_ / "a.svg");
  expect_says("plot runs --figure gantt --from 1d --to 2d -o a.svg", 1, {"expected a job on cores"});
  EXPECT_EQ(text_of(folder_ / "a.svg"), before);
  expect_says("plot runs --figure gantt -o a.svg", 0, {});
  EXPECT_EQ(text_of(folder_ / "a.svg"), before);
}

TEST_F(Plotting, SaysWhatItExpects) {
  expect_says("plot runs --figure gant -o a.svg", 2, {"there is no figure 'gant'; did you mean 'gantt'?"});
  expect_says("plot runs --figure gantt -o a.png", 2, {"-o: expected a name that ends in .svg, .pdf", "'a.png'"});
  expect_says("plot runs --figure gantt", 2, {"--out"});
  expect_says("plot runs --figure gantt --metric wait -o a.svg", 2, {"--metric: is for the figures ecdf"});
  expect_says("plot runs --figure ecdf --metric mean -o a.svg", 2, {"wait,response,slowdown", "'mean'"});
  expect_says("plot runs --figure ecdf --bound 0 -o a.svg", 2, {"--bound", "above 0"});
  expect_says("plot runs --figure gantt --width huge -o a.svg", 2, {"--width", "'huge'"});
  expect_says("plot runs --figure gantt --height 21 -o a.svg", 2, {"--height: expected at least"});
  expect_says("plot runs --figure gantt --label one -o a.svg", 2, {"--label: expected one for each of the 2 runs"});
  expect_says("plot nowhere --figure gantt -o a.svg", 1, {"nowhere"});
  expect_says("plot runs --figure gantt -o no/such/folder/a.svg", 1, {"no/such/folder/a.svg", "cannot be created"});
}

TEST_F(Comparing, PlotsAMetricOfAStudyOverAnAxis) {
  const std::string study = REPLAY_SOURCE_DIR "/tests/data/sweep.csv";
  for (const char* const ending : {"svg", "pdf", "tikz", "tex"}) {
    const std::string file = std::string{"a."} + ending;
    expect_says("plot " + study +
                    " --figure metric-over:malleable:utilisation --where load=0.8 --label A --label B --label C " +
                    "--title Shares --width double --height 60 -o " + file,
                0, {file.c_str()});
    EXPECT_GT(text_of(folder_ / file).size(), 500u) << file;
  }
  expect_says("plot " + study + " --figure metric-over -o a.svg", 2,
              {"expected metric-over:AXIS or metric-over:AXIS:METRIC"});
  expect_says("plot " + study + " --figure metric-ove -o a.svg", 2,
              {"there is no figure 'metric-ove'; did you mean 'metric-over'?"});
  expect_says("plot " + study + " --figure metric-over:load --metric wait -o a.svg", 2,
              {"--metric: is for figures of runs"});
  expect_says("plot " + study + " --figure metric-over:load --bound 1s -o a.svg", 2,
              {"--bound: is for figures of runs"});
  expect_says("plot " + study + " --figure metric-over:load --where 0.5 -o a.svg", 2,
              {"--where: expected AXIS=VALUE", "'0.5'"});
  expect_says("plot " + study + " " + study + " --figure metric-over:load -o a.svg", 2,
              {"the folder of one study, found 2"});
  expect_says("plot . --figure metric-over:load -o a.svg", 1, {"expected the folder of a study with its sweep.csv"});
  expect_says("plot . --figure gantt --where load=1 -o a.svg", 2, {"--where: is for the figure metric-over"});
}

TEST_F(Comparing, ThePicturesOfTheDocumentationAreWhatTheProgramDraws) {
  const std::string source = REPLAY_SOURCE_DIR;
  expect_says(
      "simulate --trace " + source + "/traces/synth.swf --policy fcfs,fcfs-malleable --machine 1x1x2 --out synth", 0,
      {});
  for (const char* const figure : {"gantt", "queue", "ecdf", "slowdown-by-size", "utilisation"}) {
    expect_says("plot synth --figure " + std::string{figure} + " -o a.svg", 0, {});
    EXPECT_EQ(text_of(folder_ / "a.svg"), text_of(source + "/docs/plot/" + figure + ".svg")) << figure;
  }
  expect_says("plot " + source + "/tests/data/sweep.csv --figure metric-over:load -o a.svg", 0, {});
  EXPECT_EQ(text_of(folder_ / "a.svg"), text_of(source + "/docs/plot/metric-over.svg"));
}

}  // namespace
}  // namespace replay::test
