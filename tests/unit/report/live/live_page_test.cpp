// The live page of runs that are read from event logs, record by record, with browsers that come when they like: at the end
// each knows what the page of the finished run knows.
#include "scheduler/report/live/live_page.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/log/text.hpp"
#include "scheduler/report/page/run_data.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/live_state.hpp"
#include "tests/support/shell.hpp"

namespace replay::report {
namespace {

using test::HttpClient;
using test::SentEvent;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

// A page for tests: pieces are small, and nothing is waited for.
LivePageLimits small_pieces() {
  LivePageLimits limits;
  limits.changes = 40;
  limits.rest = 0ms;
  limits.facts = 0ms;
  limits.last_words = 20'000ms;
  return limits;
}

std::uint16_t port_of(const LivePage& page) { return static_cast<std::uint16_t>(std::stoi(page.url().substr(17))); }

// A browser that asks for the events and nothing else.
class Browser {
 public:
  explicit Browser(const LivePage& page, int receive_buffer = 0) : client(port_of(page), receive_buffer) {
    client.get(page.url().substr(page.url().find('/', 7)) + "events");
  }
  [[nodiscard]] std::vector<SentEvent> events() const { return test::events_in(client.body()); }
  [[nodiscard]] std::size_t count(std::string_view name) const {
    return static_cast<std::size_t>(std::ranges::count(events(), name, &SentEvent::name));
  }

  HttpClient client;
};

// Passes records on, and calls `between` after each.
class Following final : public log::Sink {
 public:
  Following(LivePage& page, std::function<void(const log::Record&, std::size_t)> between)
      : page_(page), between_(std::move(between)) {}
  void header(const log::Header& header) override { page_.header(header); }
  void record(const log::Record& record) override {
    page_.record(record);
    between_(record, ++count_);
  }

 private:
  LivePage& page_;
  std::function<void(const log::Record&, std::size_t)> between_;
  std::size_t count_ = 0;
};

class Live : public testing::Test {
 protected:
  void SetUp() override { ::signal(SIGPIPE, SIG_IGN); }  // as the program does

  /// Simulates with these options; the event log.
  std::filesystem::path simulate(const std::string& options) {
    const auto result =
        test::shell(fmt::format("{} simulate --out r --force {}", REPLAY_PROGRAM, options), folder_.path());
    EXPECT_EQ(result.status, 0) << result.err;
    return folder_ / "r" / "events.log";
  }
  /// A trace of 200 jobs on 64 processors, with what shared nodes need.
  void make_trace() {
    const auto result =
        test::shell(fmt::format("{0} generate lublin --jobs 200 --machine-size 64 --load 1.1 --seed 3 -o a.swf && "
                                "{0} trace declare a.swf --contention table4 --size-rule glomarc:cores=4 -o t.swf",
                                REPLAY_PROGRAM),
                    folder_.path());
    ASSERT_EQ(result.status, 0) << result.out << result.err;
  }
  static std::string synth() { return REPLAY_SOURCE_DIR "/traces/synth.swf"; }

  /// Follows the log to its end, with a browser from the begin, one from the middle and one that reads only at the end. The
  /// log must have records of these kinds.
  void expect_browsers_know_the_run(const std::filesystem::path& log, std::initializer_list<const char*> kinds) {
    for (const char* kind : kinds)
      EXPECT_NE(test::text_of(log).find(fmt::format(" {} ", kind)), std::string::npos) << "no record " << kind;
    if (const std::string missing = test::why_no_node(); !missing.empty()) GTEST_SKIP() << missing;
    LivePage page{0, "t", small_pieces()};
    page.begin_run(log);
    Browser early{page};
    std::optional<Browser> late, lazy;
    Following following{page, [&](const log::Record& record, std::size_t count) {
                          if (count % 7 == 0) page.tick(record.at);
                          if (count == 40) late.emplace(page);
                          if (count == 60) lazy.emplace(page, 4096);
                          early.client.read();
                          if (late) late->client.read();
                        }};
    ASSERT_TRUE(log::read_text(log, following));
    ASSERT_TRUE(lazy) << "the log is too short for this test";
    page.end_run();
    page.finish("over");
    for (Browser* browser : {&early, &*late, &*lazy}) {
      ASSERT_TRUE(test::reads_to_end(browser->client));
      EXPECT_EQ(test::difference_to_page(browser->client.body(), log), "");
      EXPECT_EQ(browser->count("begin"), 1U);
      EXPECT_EQ(browser->events().back().name, "end");
    }
    EXPECT_GT(early.count("records"), 10U);
  }

  TemporaryFolder folder_;
};

TEST_F(Live, KnowsARunWithShrunkJobs) {
  expect_browsers_know_the_run(simulate("--policy fcfs-malleable --machine 1x1x2 --trace " + synth()), {"resized"});
}

TEST_F(Live, KnowsARunOnAPool) {
  make_trace();
  expect_browsers_know_the_run(simulate("--policy fcfs-malleable --trace a.swf"), {"resized"});
}

TEST_F(Live, KnowsARunWithKilledAndCancelledJobs) {
  make_trace();
  expect_browsers_know_the_run(simulate("--policy easy --trace a.swf --until 12h"), {"kill"});
}

TEST_F(Live, KnowsARunWithSlicesSuspensionsAndGroups) {
  make_trace();
  expect_browsers_know_the_run(
      simulate("--policy 'scojo-pect:inner={g-lomarc-ts}' --machine 64x2x2 --runtime-model pairs --trace t.swf"),
      {"slice", "suspended", "group", "ungroup", "class"});
}

TEST_F(Live, SendsNothingTwiceToABrowserThatKeepsUp) {
  const auto log = simulate("--policy fcfs --machine 1x2x2 --trace " + synth());
  LivePage page{0, "t", small_pieces()};
  page.begin_run(log);
  Browser browser{page};
  Following following{page, [&](const log::Record& record, std::size_t) { page.tick(record.at); }};
  ASSERT_TRUE(log::read_text(log, following));
  page.end_run();
  page.finish("over");
  ASSERT_TRUE(test::reads_to_end(browser.client));
  std::size_t stretches = 0, points = 0;
  for (const SentEvent& event : browser.events()) {
    const auto json = nlohmann::json::parse(event.data);
    if (event.name != "records") continue;
    if (json.contains("stretches"))
      for (const auto& to : json["stretches"]["to"]) stretches += to.is_null() ? 0U : 1U;
    if (json.contains("series")) points += json["series"]["time"].size();
  }
  const RunData run = read_run(log);
  EXPECT_EQ(stretches, run.stretches.size());
  EXPECT_EQ(points + 1, run.series.time.size()) << "the last one is told as the present load only";
}

TEST_F(Live, ABrowserThatDoesNotReadCostsABoundedAmountAndStopsNoOther) {
  make_trace();
  const auto log = simulate("--policy fcfs-malleable --trace a.swf");
  LivePageLimits limits = small_pieces();
  limits.waiting = 20'000;
  LivePage page{0, "t", limits};
  page.begin_run(log);
  Browser lazy{page, 4096}, reading{page};
  std::chrono::steady_clock::duration longest{};
  Following following{page, [&](const log::Record& record, std::size_t) {
                        const auto begin = std::chrono::steady_clock::now();
                        page.tick(record.at);
                        longest = std::max(longest, std::chrono::steady_clock::now() - begin);
                        reading.client.read();
                      }};
  ASSERT_TRUE(log::read_text(log, following));
  EXPECT_LT(longest, 2s) << "no tick waits for a browser";
  EXPECT_GT(reading.count("records"), 100U);
  // It gets fewer and larger pieces.
  for (int i = 0; i < 300; ++i) {
    page.tick({});
    lazy.client.read();
  }
  page.end_run();
  page.finish("over");
}

TEST_F(Live, TheSecondRunBeginsAnewInTheBrowserOfTheFirst) {
  if (const std::string missing = test::why_no_node(); !missing.empty()) GTEST_SKIP() << missing;
  LivePage page{0, "t", small_pieces()};
  Browser browser{page};
  std::filesystem::path log;
  for (const char* policy : {"easy", "fcfs-malleable"}) {
    log = simulate(fmt::format("--policy {} --machine 1x2x2 --trace {}", policy, synth()));
    page.begin_run(log);
    Following following{page, [&](const log::Record& record, std::size_t) { page.tick(record.at); }};
    ASSERT_TRUE(log::read_text(log, following));
    page.end_run();
  }
  page.finish("over");
  ASSERT_TRUE(test::reads_to_end(browser.client));
  EXPECT_EQ(browser.count("begin"), 2U);
  EXPECT_EQ(browser.count("end"), 1U);
  EXPECT_EQ(test::difference_to_page(browser.client.body(), log), "");
}

TEST_F(Live, SaysWhyItEnds) {
  LivePage page{0, "t", small_pieces()};
  page.begin_run(folder_ / "events.log");
  page.header({{{"machine", "1x1x2"}}});
  Browser browser{page};
  page.tick({});
  page.finish("the run was interrupted \x1b[2J");
  ASSERT_TRUE(test::reads_to_end(browser.client));
  EXPECT_EQ(browser.events().back().name, "end");
  EXPECT_EQ(browser.events().back().data, R"({"text":"the run was interrupted ","complete":false})");
}

TEST_F(Live, ARunThatEndsByAnExceptionEndsThePage) {
  std::optional<LivePage> page;
  page.emplace(0, "t", small_pieces());
  page->begin_run(folder_ / "events.log");
  page->header({{{"machine", "1x1x2"}}});
  Browser browser{*page};
  page->tick({});
  page.reset();
  ASSERT_TRUE(test::reads_to_end(browser.client));
  EXPECT_EQ(browser.events().back().data, R"({"text":"the run ended early","complete":false})");
}

TEST_F(Live, ARecordThatCannotBeTrueEndsThePageAndNotTheRun) {
  LivePage page{0, "t", small_pieces()};
  page.begin_run(folder_ / "events.log");
  page.header({{{"machine", "1x1x2"}}});
  Browser browser{page};
  page.tick({});
  EXPECT_NO_THROW(page.record({Instant{}, log::Finished{JobId{7}, {}}}));
  EXPECT_NO_THROW(page.tick({}));
  EXPECT_NO_THROW(page.record({Instant{}, log::SuspendDone{JobId{7}}}));
  ASSERT_TRUE(test::reads_to_end(browser.client));
  EXPECT_NE(browser.events().back().data.find("this page stopped"), std::string::npos);
}

TEST_F(Live, WithoutABrowserTheEndIsNotWaitedFor) {
  LivePageLimits limits;
  limits.last_words = 60'000ms;
  LivePage page{0, "t", limits};
  page.begin_run(folder_ / "events.log");
  page.header({{{"machine", "1x1x2"}}});
  const auto begin = std::chrono::steady_clock::now();
  page.end_run();
  page.finish("over");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
}

TEST_F(Live, ABrowserThatDoesNotReadHoldsTheEndUpForABoundedTimeOnly) {
  make_trace();
  const auto log = simulate("--policy fcfs-malleable --trace a.swf");
  LivePageLimits limits = small_pieces();
  limits.last_words = 50ms;
  LivePage page{0, "t", limits};
  page.begin_run(log);
  Browser lazy{page, 4096};
  Following following{page, [&](const log::Record& record, std::size_t) { page.tick(record.at); }};
  ASSERT_TRUE(log::read_text(log, following));
  page.end_run();
  page.finish("over");
  SUCCEED() << "it ended";
}

TEST_F(Live, ThePageNamesItsEvents) {
  LivePage page{0, "live: <t>", small_pieces()};
  HttpClient client{port_of(page)};
  client.get(page.url().substr(page.url().find('/', 7)));
  ASSERT_TRUE(test::reads_to_end(client, [&page] { page.tick({}); }));
  EXPECT_NE(client.body().find("<title>live: &lt;t&gt;</title>"), std::string::npos);
  EXPECT_NE(client.body().find(R"("live":{"events":"events"})"), std::string::npos);
}

TEST_F(Live, TheServerForbidsWhatThePageForbidsItself) {
  LivePage page{0, "t", small_pieces()};
  HttpClient client{port_of(page)};
  client.get(page.url().substr(page.url().find('/', 7)));
  ASSERT_TRUE(test::reads_to_end(client, [&page] { page.tick({}); }));
  const std::string html = client.body();
  const std::size_t begin = html.find("default-src");
  const std::string of_page = html.substr(begin, html.find('"', begin) - begin);
  EXPECT_NE(client.received().find(fmt::format("Content-Security-Policy: {}; frame-ancestors 'none'\r\n", of_page)),
            std::string::npos)
      << "the header's policy in page_server.cpp differs from that of page.html";
}

}  // namespace
}  // namespace replay::report
