#include "scheduler/report/page/page.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "scheduler/base/file/temporary_folder.hpp"
#include "tests/support/memory_bytes.hpp"
#include "tests/support/shell.hpp"
#include "tests/unit/report/page/page_reader.hpp"
#include "tests/unit/report/page/small_logs.hpp"

namespace replay::report {
namespace {

using nlohmann::ordered_json;
using test::PageReader;
using test::script_elements;
using test::string_sink;
using Numbers = std::vector<double>;
using Lines = std::vector<std::string>;

class WrittenPage : public testing::Test {
 protected:
  RunData read(const std::string& log) {
    test::write_text(folder_ / "events.log", log);
    return read_run(folder_ / "events.log");
  }
  static std::string page_of(std::string_view title, std::span<const RunData> runs,
                             std::span<const PageDifference> differences = {}) {
    std::string html;
    write_page(*string_sink(html), title, runs, differences);
    return html;
  }
  std::string page_of(std::string_view title, const std::string& log) {
    const RunData run = read(log);
    return page_of(title, std::span{&run, 1});
  }
  TemporaryFolder folder_;
};

TEST_F(WrittenPage, HasTheDataItsBlocksAndOneScript) {
  const std::string html = page_of("a run", test::kShrinking);
  const PageReader page(html);
  EXPECT_EQ(page.scripts(), 1u);
  EXPECT_GT(page.blocks(), 40u);
  EXPECT_TRUE(html.starts_with("<!DOCTYPE html>"));
  EXPECT_TRUE(html.ends_with("</html>") || html.ends_with("</html>\n"));
  EXPECT_NE(html.find("<title>a run</title>"), std::string::npos);
  EXPECT_EQ(page.json().at("format"), 1);
  EXPECT_EQ(page.json().at("title"), "a run");
  EXPECT_EQ(page.json().at("live"), false);
  EXPECT_EQ(page.json().at("differences"), ordered_json::array());
}

TEST_F(WrittenPage, NeedsNoNetwork) {
  const std::string html = page_of("a run", test::kShrinking);
  EXPECT_NE(html.find("connect-src 'none'"), std::string::npos);
  const std::string head = html.substr(0, html.find("<script"));
  for (const char* word : {"src=", "<link", "@import", "url(http"})
    EXPECT_EQ(head.find(word), std::string::npos) << word;
}

// docs/formats/report-page.md has this run as its example.
TEST_F(WrittenPage, ColumnsReadAsTheScriptReadsThem) {
  const PageReader page(page_of("a run", test::kShrinking));
  const ordered_json& run = page.run();
  const auto numbers = [&](const char* table, const char* name) { return page.numbers(run.at(table).at(name)); };
  EXPECT_EQ(numbers("jobs", "id"), (Numbers{1, 2, 3, 4}));
  EXPECT_EQ(numbers("jobs", "class"), (Numbers{0, 0, 1, 2}));
  EXPECT_EQ(numbers("jobs", "outcome"), (Numbers{0, 1, 255, 5}));
  EXPECT_TRUE(std::isnan(numbers("jobs", "start")[3]));
  EXPECT_EQ(page.texts(run.at("jobs").at("reason")), (Lines{"", "residual", "", "it needs 8 cores"}));
  EXPECT_FALSE(run.at("jobs").contains("id_text"));
  EXPECT_EQ(numbers("resizes", "job"), (Numbers{0, 0}));
  EXPECT_EQ(numbers("resizes", "at"), (Numbers{2.5, 8}));
  EXPECT_EQ(numbers("resizes", "for"), (Numbers{1, -1}));
  EXPECT_EQ(numbers("stretches", "job"), (Numbers{0, 1, 0, 0, 2}));
  EXPECT_EQ(numbers("stretches", "from"), (Numbers{0, 2.5, 2.5, 8, 12}));
  EXPECT_EQ(numbers("stretches", "flags"), (Numbers{0, 0, 4, 0, 0}));
  EXPECT_EQ(numbers("series", "mpl"), (Numbers{1, 1, 1.5, 1.5, 2, 1, 1}));
  EXPECT_EQ(numbers("why", "job"), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(page.texts(run.at("why").at("text")).size(), 4u);
  EXPECT_EQ(run.at("name"), folder_.path().filename().string());
  EXPECT_EQ(run.at("body"), "live");
  EXPECT_EQ(run.at("header").at(2), (ordered_json{"policy", "fcfs-malleable"}));
  EXPECT_EQ(run.at("shape").dump(), R"({"cores":4,"nodes":1,"packages":2,"cores_per_package":2})");
  EXPECT_EQ(run.at("complete"), false);
  EXPECT_EQ(run.at("end"), 20);
  EXPECT_EQ(run.at("jobs_in_all"), 4);
  EXPECT_EQ(run.at("classes_from"), "runtime");
  EXPECT_EQ(run.at("classes").dump(), R"(["short","medium","long"])");
  EXPECT_EQ(run.at("outcomes").dump(), R"(["completed","failed","overrun","killed","cancelled","rejected","lost"])");
  EXPECT_EQ(run.at("warnings").at(1).dump(),
            R"({"kind":"failed","text":"job 2 failed with exit code 1: residual","job":1,"at":7.5})");
  EXPECT_EQ(run.at("warnings").at(0).dump(), R"({"kind":"cut","text":"1 job had not ended when the log did"})");
}

TEST_F(WrittenPage, FiguresHaveTheirUnitDefinitionAndWithSeedsTheirInterval) {
  RunData run = read(test::kShrinking);
  run.intervals.push_back({"mean_wait", 0.5, 0.125, std::nan("")});
  const PageReader page(page_of("a run", std::span{&run, 1}));
  const auto& metrics = page.run().at("metrics");
  const auto find = [&metrics](const char* name) {
    return *std::ranges::find_if(metrics, [name](const ordered_json& one) { return one.at("name") == name; });
  };
  EXPECT_EQ(find("mean_wait").at("label"), "mean wait");
  EXPECT_EQ(find("mean_wait").at("unit"), "s");
  EXPECT_EQ(find("mean_wait").at("value"), 0.25);
  EXPECT_EQ(find("mean_wait").at("mean"), 0.5);
  EXPECT_EQ(find("mean_wait").at("low"), 0.125);
  EXPECT_TRUE(find("mean_wait").at("high").is_null());
  EXPECT_FALSE(find("mean_response").contains("low"));
}

TEST_F(WrittenPage, NodesThatDifferStandInGroups) {
  const PageReader page(page_of("a run", "#replay-events 1\n#machine 2x2x4+1x1x2\n"));
  EXPECT_EQ(page.run().at("shape").dump(), R"({"cores":18,"nodes":3,"groups":[[2,2,4],[1,1,2]]})");
}

TEST_F(WrittenPage, HostsAreThereIfTheLogHasThem) {
  const PageReader named(page_of("a run", "#replay-events 1\n#machine 2x1x1\n#hosts left right\n"));
  EXPECT_EQ(named.run().at("hosts").dump(), R"(["left","right"])");
  const PageReader other(page_of("a run", "#replay-events 1\n#machine 2x1x1\n"));
  EXPECT_FALSE(other.run().contains("hosts"));
}

TEST_F(WrittenPage, APoolHasNoNodes) {
  const PageReader page(page_of("a run", "#replay-events 1\n#machine flat:6\n"));
  EXPECT_EQ(page.run().at("shape").dump(), R"({"cores":6,"nodes":0,"packages":1,"cores_per_package":6})");
  EXPECT_EQ(page.numbers(page.run().at("jobs").at("id")), Numbers{});
}

TEST_F(WrittenPage, JobNumbersThatADoubleCannotHoldAreThereAsTextToo) {
  const PageReader page(page_of("a run",
                                "#replay-events 1\n#machine flat:6\n"
                                "0 submit job=9007199254740993 processes=1 estimate=1 runtime=1 flexibility=rigid\n"
                                "0 submit job=7 processes=1 estimate=1 runtime=1 flexibility=rigid\n"));
  EXPECT_EQ(page.texts(page.run().at("jobs").at("id_text")), (Lines{"9007199254740993", "7"}));
}

TEST_F(WrittenPage, DifferencesAreColumnsToo) {
  const std::vector<RunData> runs{read(test::kShrinking), read(test::kShrinking)};
  PageDifference parted{.run = 1, .against = 0, .tolerance = 1};
  parted.parts = true;
  parted.at = 2;
  parted.job = 1;
  parted.first = "A starts job 2\nB does not";
  parted.text = "all\nof it";
  parted.remarks = {"the runs differ in their body"};
  parted.jobs = {1, 2};
  parted.wait_difference = {4, std::nan("")};
  PageDifference same{.run = 1, .against = 0};
  const PageReader page(page_of("two runs", runs, std::vector{parted, same}));
  const ordered_json& first = page.json().at("differences").at(0);
  EXPECT_EQ(first.at("first").dump(), R"({"at":2.0,"text":"A starts job 2\nB does not","job":1})");
  EXPECT_EQ(first.at("text"), "all\nof it");
  EXPECT_EQ(first.at("remarks").dump(), R"(["the runs differ in their body"])");
  EXPECT_EQ(page.numbers(first.at("jobs")), (Numbers{1, 2}));
  EXPECT_EQ(page.numbers(first.at("wait_difference"))[0], 4);
  EXPECT_TRUE(page.json().at("differences").at(1).at("first").is_null());
}

// ---- text of foreign origin ----

// Ends an element, an attribute, a comment; control characters; an override of direction; no UTF-8.
constexpr const char* kHostile =
    "</script><script>alert(1)</script> <!-- \"'&amp; ]]> \x1b[31mred\x1b[0m \x01\x7f \u202Eright \xC3\x28 @DATA@ "
    "@TITLE@";

TEST_F(WrittenPage, NoTextOfTheRunEndsAnElement) {
  RunData run = read(test::kShrinking);
  run.name = run.path = kHostile;
  run.header.set("policy", kHostile);
  run.header.set(kHostile, kHostile);
  run.jobs.reason[1] = run.why.text[1] = kHostile;
  run.warnings[0].text = kHostile;
  run.limits = {kHostile};
  PageDifference difference{.run = 0, .against = 0};
  difference.parts = true;
  difference.first = difference.text = kHostile;
  difference.remarks = {kHostile};
  const std::string html = page_of(kHostile, std::span{&run, 1}, std::span{&difference, 1});
  const PageReader page(html);
  EXPECT_EQ(page.scripts(), 1u);
  constexpr const char* kClean =
      "</script><script>alert(1)</script> <!-- \"'&amp; ]]> red  right \uFFFD( @DATA@ @TITLE@";
  for (const auto& text :
       {page.json().at("title"), page.run().at("name"), page.run().at("folder"), page.run().at("policy"),
        page.run().at("header").back().at(1), page.run().at("limits").at(0), page.run().at("warnings").at(0).at("text"),
        page.json().at("differences").at(0).at("text"), page.json().at("differences").at(0).at("remarks").at(0)})
    EXPECT_EQ(text, kClean);
  EXPECT_EQ(page.texts(page.run().at("jobs").at("reason"))[1], kClean);
  EXPECT_EQ(page.texts(page.run().at("why").at("text"))[1], kClean);
  EXPECT_NE(
      html.find(
          "<title>&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt; &lt;!-- &quot;'&amp;amp; ]]&gt; red  right "
          "\uFFFD( @DATA@ @TITLE@</title>"),
      std::string::npos);
  for (const char byte : {'\x01', '\x1b', '\x7f', '\0'}) EXPECT_EQ(html.find(byte), std::string::npos) << int{byte};
  EXPECT_EQ(html.find("\xC3\x28"), std::string::npos) << "no byte that is not UTF-8";
}

TEST_F(WrittenPage, OfALogWithSuchTextsIsWhole) {
  std::string log = test::kShrinking;
  log.replace(log.find("small.swf"), 9, "</script><img src=x onerror=alert(1)>\\x01\\x1b[2J.swf");
  log.replace(log.find("residual"), 8, "</SCRIPT >\\x00\\xff \\\"quoted\\\"");
  const PageReader page(page_of("a run", log));
  EXPECT_EQ(page.scripts(), 1u);
  EXPECT_EQ(page.run().at("trace"), "</script><img src=x onerror=alert(1)>.swf");
  EXPECT_EQ(page.texts(page.run().at("jobs").at("reason"))[1], "</SCRIPT >\uFFFD \"quoted\"");
}

// ---- a run that goes on ----

TEST(LivePage, HasNoRunsAndMayConnectToItsServerOnly) {
  const std::string html = live_page("</title><script>", "/TOKEN/events?a=1&b=</script>");
  const PageReader page(html);
  EXPECT_EQ(page.scripts(), 1u);
  EXPECT_EQ(page.blocks(), 0u);
  EXPECT_EQ(page.json().at("runs"), ordered_json::array());
  EXPECT_EQ(page.json().at("live").at("events"), "/TOKEN/events?a=1&b=</script>");
  EXPECT_NE(html.find("connect-src 'self'"), std::string::npos);
  EXPECT_NE(html.find("<title>&lt;/title&gt;&lt;script&gt;</title>"), std::string::npos);
}

}  // namespace
}  // namespace replay::report
