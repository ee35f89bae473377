#include "scheduler/report/terminal/live_view.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/text_screen.hpp"
#include "tests/unit/metrics/records.hpp"

namespace replay::report {
namespace {

using namespace std::chrono_literals;
using metrics::Records;
using Mode = LiveView::Mode;
using Kind = terminal::Key::Kind;

// A file that reads back what was written to it.
class Paper {
 public:
  [[nodiscard]] std::FILE* file() const { return file_.get(); }
  [[nodiscard]] std::string text() const {
    const int descriptor = ::fileno(file_.get());
    std::string text(static_cast<std::size_t>(::lseek(descriptor, 0, SEEK_END)), '\0');
    EXPECT_EQ(::pread(descriptor, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
    return text;
  }
  // What a terminal shows after it.
  [[nodiscard]] test::TextScreen screen(int columns = 80, int rows = 24) const {
    test::TextScreen screen{columns, rows};
    screen.write(text());
    EXPECT_EQ(screen.faults(), "");
    return screen;
  }

 private:
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{std::tmpfile(), &std::fclose};
};

LiveViewOptions options_for(int columns, int rows, terminal::Colours colours = terminal::Colours::kNone) {
  LiveViewOptions options;
  options.size = terminal::Size{columns, rows};
  options.abilities = terminal::Abilities{true, colours, false};
  options.shortest_wait = 0ms;
  return options;
}

Records small_run() {
  return Records("2x1x3")
      .header("policy", "fcfs-malleable")
      .submit(0, 7, 4, 10)
      .launch_on(0, 7, {{0, 2}, {1, 2}}, 2)
      .submit(1, 8, 1, 5)
      .launch_on(1, 8, {{4, 1}})
      .submit(2, 9, 6, 5);
}

void press(LiveView& view, std::string_view keys) {
  for (const char key : keys) view.press({Kind::kCharacter, key});
}

TEST(LiveView, WithoutATerminalEachEventIsAPlainLine) {
  const Paper paper;
  LiveView view(paper.file(), Mode::kAuto, 3);
  Records("2x1x2")
      .submit(0, 7, 2, 10)
      .launch_on(0.5, 7, {{0, 1}, {1, 1}})
      .resized_on(12.44, 7, {{1, 2}}, 2)
      .resized_on(13, 7, {{0, 1}, {1, 1}}, 1)
      .suspended(14, 7)
      .resumed(15, 7)
      .finish(20, 7)
      .submit(20, 8, 1, 10)
      .finish(21, 8, metrics::ended(Outcome::kCancelled))
      .submit(21, 9, 4, 10)
      .launch_on(21, 9, {{0, 2}, {1, 2}}, 2)
      .finish(22, 9, {Outcome::kFailed, 3, Verification::kNone, -1, "rank 1: killed\x1b[2J"})
      .add(23, log::Note{"node lost"})
      .feed(view);
  view.draw(Instant{30s});
  view.finish();
  EXPECT_EQ(paper.text(),
            "[     0.5 s] job 7 started on 2 cores (cores 0-1)\n"
            "[    12.4 s] job 7 shrunk 2 -> 1 core (core 1)\n"
            "[    13.0 s] job 7 expanded 1 -> 2 cores (cores 0-1)\n"
            "[    14.0 s] job 7 suspended\n"
            "[    15.0 s] job 7 resumed\n"
            "[    20.0 s] job 7 ended after 19.5 s (waited 0.5 s): completed\n"
            "[    21.0 s] job 8 cancelled, never started\n"
            "[    21.0 s] job 9 started on 2 cores (cores 0-1), shrunk: 4 processes\n"
            "[    22.0 s] job 9 ended after 1.0 s (waited 0.0 s): failed, exit code 3: rank 1: killed\n"
            "[    23.0 s] node lost\n");
}

TEST(LiveView, TheAddressOfTheLivePageIsInTheLastRowUntilAKeyAndInTheHelp) {
  const Paper paper;
  LiveViewOptions options = options_for(80, 24);
  options.address = "live page: http://127.0.0.1:41235/" + std::string(40, 'a') + "/";
  LiveView view(paper.file(), Mode::kTerminal, 4, options);
  small_run().feed(view);
  const auto shows = [&](const std::string& text) {
    view.draw(Instant{3s});
    return paper.screen(80, 24).text().find(text) != std::string::npos;
  };
  EXPECT_TRUE(shows("\n" + options.address));
  press(view, "f");
  EXPECT_FALSE(shows("live page"));
  press(view, "?");
  EXPECT_TRUE(shows("\n" + options.address + "\n"));
}

TEST(LiveView, ThePictureShowsClockProgressQueueCoresAndEvents) {
  const Paper paper;
  LiveView view(paper.file(), Mode::kTerminal, 4, options_for(60, 12));
  small_run().feed(view);
  view.draw(Instant{3s});
  EXPECT_EQ(paper.screen(60, 12).text(),
            "fcfs-malleable on 2x1x3                                3.0 s\n"
            "jobs  [...........] 0 of 4 done, 2 running, 1 waiting\n"
            "cores [######.....] 3 of 6 busy, 50 %, 1 job shrunk\n"
            "queue [###########] 1 job, 6 processes, first: 9 (6)\n"
            "2 nodes of 3 cores\n"
            "0 A2 A2 .   1 .  B  .\n"
            "A 7 (4 on 2)  B 8 (1)\n"
            "\n\n\n"
            "[     0.0 s] job 7 started on 2 cores (cores 0-1), shrunk: 4\n"
            "[     1.0 s] job 8 started on 1 core (core 4)\n");
}

TEST(LiveView, TheNextPictureWritesOnlyWhatHasChanged) {
  const Paper paper;
  LiveView view(paper.file(), Mode::kTerminal, 4, options_for(80, 24));
  small_run().feed(view);
  view.draw(Instant{3s});
  const std::size_t first = paper.text().size();
  view.draw(Instant{4s});
  EXPECT_LT(paper.text().size() - first, 30U) << "the clock";
  EXPECT_NE(paper.screen().text().find(" 4.0 s\n"), std::string::npos);
}

TEST(LiveView, TheScreenIsGivenBackAndTheEndIsToldInAFewLines) {
  const Paper paper;
  {
    LiveView view(paper.file(), Mode::kTerminal, 4, options_for(80, 24));
    Records run = small_run();
    run.finish(3, 8, {Outcome::kFailed, 3, Verification::kNone, -1, "no such file"}).feed(view);
    view.draw(Instant{3s});
    EXPECT_TRUE(paper.screen().mode("?1049"));
    EXPECT_FALSE(paper.screen().mode("?25"));
  }
  const test::TextScreen screen = paper.screen();
  EXPECT_FALSE(screen.mode("?1049"));
  EXPECT_TRUE(screen.mode("?25"));
  EXPECT_TRUE(screen.mode("?7"));
  EXPECT_TRUE(paper.text().ends_with(
      "fcfs-malleable on 2x1x3, 3.0 s, jobs: 1 of 4 done, 1 failed, 1 running, 1 waiting\n"
      "[     3.0 s] job 8 ended after 2.0 s (waited 0.0 s): failed, exit code 3: no such file\n"))
      << paper.text();
}

TEST(LiveView, AViewThatHasDrawnNothingChangesNoScreen) {
  const Paper paper;
  { const LiveView view(paper.file(), Mode::kTerminal, 4, options_for(80, 24)); }
  EXPECT_EQ(paper.text().find('\x1b'), std::string::npos);
}

TEST(LiveView, DrawsAtMostSoManyPicturesASecond) {
  const Paper paper;
  LiveViewOptions options = options_for(80, 24);
  options.shortest_wait = 1h;
  LiveView view(paper.file(), Mode::kTerminal, 4, options);
  small_run().feed(view);
  view.draw(Instant{3s});
  const std::string first = paper.text();
  for (int i = 0; i < 100; ++i) view.draw(Instant{4s});
  EXPECT_EQ(paper.text(), first);
}

TEST(LiveView, ColoursOnlyAddToWhatCanBeReadWithoutThem) {
  const auto shown = [](terminal::Colours colours, bool has_colours) {
    const Paper paper;
    LiveView view(paper.file(), Mode::kTerminal, 4, options_for(80, 24, colours));
    small_run().feed(view);
    view.draw(Instant{3s});
    EXPECT_EQ(paper.screen().renditions() > 1, has_colours);
    return paper.screen().text();
  };
  const std::string plain = shown(terminal::Colours::kNone, false);
  EXPECT_EQ(shown(terminal::Colours::kEight, true), plain);
  EXPECT_EQ(shown(terminal::Colours::k256, true), plain);
}

TEST(LiveView, PauseKeepsThePictureWhileTheRunGoesOn) {
  const Paper paper;
  LiveView view(paper.file(), Mode::kTerminal, 4, options_for(80, 24));
  Records run = small_run();
  run.feed(view);
  press(view, "p");
  view.draw(Instant{3s});
  view.record({Instant{5s}, log::Finished{JobId{8}, {}}});
  const std::string paused = paper.text();
  view.draw(Instant{6s});
  EXPECT_EQ(paper.text(), paused) << "not a byte";
  press(view, "f");
  view.draw(Instant{7s});
  EXPECT_NE(paper.screen().text().find("B 8 (1)"), std::string::npos) << "a key draws the paused run again";
  press(view, "p");
  view.draw(Instant{8s});
  EXPECT_EQ(paper.screen().text().find("B 8 (1)"), std::string::npos);
  EXPECT_NE(paper.screen().text().find(" 8.0 s\n"), std::string::npos);
}

TEST(LiveView, FoldGoesThroughWhatTheMachineHas) {
  const Paper paper;
  LiveView view(paper.file(), Mode::kTerminal, 4, options_for(80, 24));
  small_run().feed(view);
  press(view, "ff");
  view.draw(Instant{3s});
  EXPECT_NE(paper.screen().text().find("\n2 nodes of 3 cores, folded to nodes\n0 A: B.\n"), std::string::npos)
      << paper.screen().text();
  press(view, "f");
  view.draw(Instant{3s});
  EXPECT_NE(paper.screen().text().find("\n2 nodes of 3 cores\n0 A2 A2 .   1 .  B  .\n"), std::string::npos);
}

TEST(LiveView, ArrowsScrollAMapThatIsTooTall) {
  const Paper paper;
  LiveView view(paper.file(), Mode::kTerminal, 4, options_for(80, 24));
  Records("64x2x8").feed(view);
  const auto rows = [&](Kind key) {
    view.press({key});
    view.draw(Instant{3s});
    const std::string text = paper.screen().text();
    const std::size_t at = text.find(", rows ");
    return text.substr(at + 7, text.find('\n', at) - at - 7);
  };
  press(view, "f");
  view.draw(Instant{3s});
  EXPECT_EQ(rows(Kind::kUp), "1-13 of 32");
  EXPECT_EQ(rows(Kind::kDown), "2-14 of 32");
  EXPECT_EQ(rows(Kind::kPageDown), "15-27 of 32");
  EXPECT_EQ(rows(Kind::kEnd), "20-32 of 32");
  EXPECT_EQ(rows(Kind::kDown), "20-32 of 32");
  EXPECT_EQ(rows(Kind::kPageUp), "7-19 of 32");
  EXPECT_EQ(rows(Kind::kHome), "1-13 of 32");
}

TEST(LiveView, QuitAsksAgainAndHappensOnce) {
  const Paper paper;
  int quits = 0;
  LiveViewOptions options = options_for(80, 24);
  options.quit = [&quits] { ++quits; };
  LiveView view(paper.file(), Mode::kTerminal, 4, options);
  small_run().feed(view);
  press(view, "q");
  view.draw(Instant{3s});
  EXPECT_NE(paper.screen().text().find("end the run?"), std::string::npos);
  press(view, "n");
  EXPECT_EQ(quits, 0);
  press(view, "q");
  view.press({Kind::kUp});
  EXPECT_EQ(quits, 0) << "any other key says no";
  press(view, "qq");
  EXPECT_EQ(quits, 1);
  press(view, "qqqy");
  EXPECT_EQ(quits, 1) << "the jobs are killed by Ctrl-C only";
  view.draw(Instant{4s});
  EXPECT_NE(paper.screen().text().find("is being ended"), std::string::npos);
}

TEST(LiveView, HelpComesAndGoes) {
  const Paper paper;
  LiveView view(paper.file(), Mode::kTerminal, 4, options_for(80, 24));
  small_run().feed(view);
  const auto has_help = [&] {
    view.draw(Instant{3s});
    return paper.screen().text().find("this help") != std::string::npos;
  };
  press(view, "?");
  EXPECT_TRUE(has_help());
  press(view, "q");
  EXPECT_FALSE(has_help()) << "q leaves the help, not the run";
  press(view, "h");
  EXPECT_TRUE(has_help());
  view.press({Kind::kEscape});
  EXPECT_FALSE(has_help());
}

TEST(LiveView, AReaderThatDoesNotReadHoldsNothingUp) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(::fdopen(ends[1], "w"), &std::fclose);
    LiveView view(out.get(), Mode::kPlain, 0);
    Records records("flat:1");
    for (int i = 0; i < 5'000; ++i) records.add(i, log::Note{std::string(100, 'x')});
    records.feed(view);  // far more than a pipe holds: it would hang here
    ::close(ends[0]);
    ::signal(SIGPIPE, SIG_IGN);
  }
}

// The environment of one test.
class Environment {
 public:
  Environment(std::initializer_list<std::pair<const char*, const char*>> variables) {
    for (const char* name : {"TERM", "COLORTERM", "NO_COLOR", "LC_ALL", "LC_CTYPE", "LANG"}) {
      const char* const value = std::getenv(name);
      before_.emplace_back(name, value == nullptr ? std::optional<std::string>{} : std::string{value});
      ::unsetenv(name);
    }
    for (const auto& [name, value] : variables) ::setenv(name, value, 1);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() {
    for (const auto& [name, value] : before_)
      if (value)
        ::setenv(name, value->c_str(), 1);
      else
        ::unsetenv(name);
  }

 private:
  std::vector<std::pair<const char*, std::optional<std::string>>> before_;
};

terminal::Abilities abilities_in(std::initializer_list<std::pair<const char*, const char*>> variables) {
  const Environment environment{variables};
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  const terminal::Abilities abilities = terminal::abilities_of(terminal);
  ::close(terminal);
  return abilities;
}

TEST(TerminalAbilities, FollowTermColortermNoColorAndTheLocale) {
  using terminal::Abilities, terminal::Colours;
  EXPECT_EQ(abilities_in({{"TERM", "xterm-256color"}, {"LANG", "de_DE.UTF-8"}}),
            (Abilities{true, Colours::k256, true}));
  EXPECT_EQ(abilities_in({{"TERM", "xterm"}}), (Abilities{true, Colours::kEight, false}));
  EXPECT_EQ(abilities_in({{"TERM", "xterm"}, {"COLORTERM", "truecolor"}}), (Abilities{true, Colours::k256, false}));
  EXPECT_EQ(abilities_in({{"TERM", "xterm-256color"}, {"NO_COLOR", "1"}}), (Abilities{true, Colours::kNone, false}));
  EXPECT_EQ(abilities_in({{"TERM", "xterm-256color"}, {"NO_COLOR", ""}}), (Abilities{true, Colours::k256, false}))
      << "an empty NO_COLOR is none";
  EXPECT_FALSE(abilities_in({{"TERM", "dumb"}}).has_pictures);
  EXPECT_FALSE(abilities_in({}).has_pictures);
  EXPECT_FALSE(abilities_in({{"TERM", "xterm"}, {"LC_ALL", "C"}, {"LANG", "de_DE.utf8"}}).has_utf8);
  EXPECT_TRUE(abilities_in({{"TERM", "xterm"}, {"LC_ALL", ""}, {"LANG", "de_DE.utf8"}}).has_utf8);
}

TEST(TerminalAbilities, AFileHasNoPictures) {
  const Environment environment{{"TERM", "xterm"}};
  const Paper paper;
  EXPECT_FALSE(terminal::abilities_of(::fileno(paper.file())).has_pictures);
}

}  // namespace
}  // namespace replay::report
