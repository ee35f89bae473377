#include "scheduler/cli/live_view.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <memory>
#include <string>

#include "tests/unit/metrics/records.hpp"

namespace replay::cli {
namespace {

using namespace std::chrono_literals;
using metrics::Records;
using Mode = LiveView::Mode;

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

 private:
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{std::tmpfile(), &std::fclose};
};

LiveViewOptions screen(int columns, int rows, bool colour = false) {
  return {.columns = columns, .rows = rows, .colour = colour, .shortest_wait = 0ms};
}

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// The final picture: the text after the last return to the first line, without escapes.
std::string last_picture(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\x1b') {
      plain += text[i];
      continue;
    }
    i = text.find_first_of("ABCDEFGHJKmhl", i + 1);
    if (text[i] == 'A') plain.clear();
  }
  plain.erase(0, plain.find_first_not_of('\r'));
  return plain;
}

// The picture that a view shows after these records.
std::string picture_of(const Records& records, LiveViewOptions options, std::size_t jobs = 4) {
  const Paper paper;
  {
    LiveView view(paper.file(), Mode::kTerminal, jobs, options);
    records.feed(view);
    view.draw(Instant{});
  }
  return last_picture(paper.text());
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

TEST(LiveView, ThePictureShowsClockProgressQueueCoresAndEvents) {
  EXPECT_EQ(picture_of(small_run(), screen(80, 24)),
            "fcfs-malleable on 2x1x3   2.0 s\n"
            "[....................] 0 of 4 jobs done, 2 running, 1 waiting\n"
            "queue: job 9 (6)\n"
            "running: A=job 7 (4 on 2), B=job 8 (1)\n"
            "node 0  A2 A2 . \n"
            "node 1  .  B  . \n"
            "[     0.0 s] job 7 started on 2 cores (cores 0-1), shrunk: 4 processes\n"
            "[     1.0 s] job 8 started on 1 core (core 4)\n");
}

TEST(LiveView, OnAPoolTheMapIsFilledFromTheLowestCore) {
  const std::string picture = picture_of(
      Records("flat:6").submit(0, 1, 2, 1).launch(0, 1, 2).submit(0, 2, 4, 1).launch(0, 2, 2, 2), screen(80, 24));
  EXPECT_NE(picture.find("pool 0  A  A  B2 B2 .  . \n"), std::string::npos) << picture;
  EXPECT_NE(picture.find("job 2 started on 2 cores, shrunk"), std::string::npos) << picture;
}

TEST(LiveView, LettersAreUsedAgainAndOnlyWhileTheirJobRuns) {
  const std::string picture =
      picture_of(Records("flat:2").submit(0, 1, 1, 1).launch(0, 1, 1).finish(1, 1).submit(1, 2, 1, 1).launch(1, 2, 1),
                 screen(80, 24));
  EXPECT_NE(picture.find("running: A=job 2 (1)"), std::string::npos) << picture;
}

TEST(LiveView, APictureIsNeverTallerOrWiderThanItsTerminal) {
  Records records("100x1x64");
  records.header("policy", std::string(300, 'p'));
  for (int job = 0; job < 90; ++job) records.submit(0, job, 64, 1);
  for (int job = 0; job < 80; ++job) {
    std::vector<test::OnCore> named(64, {0, 1});
    for (int core = 0; core < 64; ++core) named[static_cast<std::size_t>(core)].core = job * 64 + core;
    records.launch_on(0, job, named);
  }
  for (const auto& [columns, rows] : {std::pair{80, 24}, {40, 10}, {10, 10}, {200, 60}}) {
    const std::string picture = picture_of(records, screen(columns, rows));
    EXPECT_LT(count(picture, "\n"), static_cast<std::size_t>(rows));
    for (std::size_t at = 0; at < picture.size();) {
      const std::size_t end = picture.find('\n', at);
      EXPECT_LT(end - at, static_cast<std::size_t>(columns)) << picture.substr(at, end - at);
      at = end + 1;
    }
  }
}

TEST(LiveView, CoresThatDoNotFitAreCounted) {
  Records records("50x1x4");
  records.submit(0, 1, 4, 1).launch_on(0, 1, {{196, 1}, {197, 1}, {198, 1}, {199, 1}});
  const std::string picture = picture_of(records, screen(80, 24));
  EXPECT_NE(picture.find("more cores: 4 busy\n"), std::string::npos) << picture;
}

TEST(LiveView, ANewPictureGoesOverTheOldOne) {
  const Paper paper;
  LiveView view(paper.file(), Mode::kTerminal, 4, screen(80, 24));
  small_run().feed(view);
  view.draw(Instant{3s});
  view.draw(Instant{4s});
  EXPECT_EQ(count(paper.text(), "\x1b[8A\r"), 1u) << "eight lines, so eight up";
  EXPECT_NE(last_picture(paper.text()).find("   4.0 s\n"), std::string::npos);
}

TEST(LiveView, TheCursorComesBack) {
  const Paper paper;
  {
    LiveView view(paper.file(), Mode::kTerminal, 4, screen(80, 24));
    small_run().feed(view);
    view.draw(Instant{3s});
    EXPECT_TRUE(paper.text().starts_with("\x1b[?25l"));
    EXPECT_EQ(count(paper.text(), "\x1b[?25h"), 0u);
  }
  EXPECT_TRUE(paper.text().ends_with("\x1b[?25h"));
}

TEST(LiveView, DrawsAtMostSoManyPicturesASecond) {
  const Paper paper;
  LiveViewOptions options = screen(80, 24);
  options.shortest_wait = 1h;
  LiveView view(paper.file(), Mode::kTerminal, 4, options);
  small_run().feed(view);
  for (int i = 0; i < 100; ++i) view.draw(Instant{3s});
  EXPECT_EQ(count(paper.text(), "\x1b[?25l"), 1u);
}

TEST(LiveView, ColoursOnlyAddToWhatCanBeReadWithoutThem) {
  EXPECT_EQ(picture_of(small_run(), screen(80, 24, true)), picture_of(small_run(), screen(80, 24, false)));
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

}  // namespace
}  // namespace replay::cli
