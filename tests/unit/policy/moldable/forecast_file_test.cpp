// Tests of a forecast that is learned from a training workload, and of its file: it is read back as written, and errors
// name their place.
#include "scheduler/policy/moldable/forecast_file.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/policy/registry.hpp"
#include "tests/support/schedule.hpp"
#include "tests/support/shell.hpp"

namespace replay::test {
namespace {

Training training() { return {.trace = "w1.swf", .sha256 = std::string(64, 'a'), .machine = 8}; }

// From 00:50 on: a short job at once, two long ones at 01:00 and 01:40, and a last one, at 02:10, which does not count.
Workload workload() {
  const SpeedupCurve downey{DowneySpeedup{.a = 20, .sigma = 0.7}};
  std::vector<TracedJob> jobs{
      job('A').cores(3).runs(10s).arrives(0s),
      job('B').cores(2).runs(4000s).arrives(600s).moldable(SpeedupCurve{ThreePointSpeedup{2}}, 1, 4),
      job('C').cores(4).runs(7201s).arrives(3000s).moldable(downey, 2, 8),
      job('D').cores(8).runs(100s).arrives(4800s),
  };
  Workload result{std::move(jobs)};
  result.zero_time_of_day = 50min;
  return result;
}

TEST(TrainedForecast, CountsWhatWasSubmittedBeforeTheLastJob) {
  const TrainedForecast learned = learned_from(workload(), training());
  EXPECT_EQ(learned.training.jobs, 3);
  const auto& [shorts, mediums, longs] = learned.classes;
  EXPECT_EQ(shorts.jobs, 1);
  EXPECT_EQ(shorts.submitted[1], 1) << "at 00:50";
  EXPECT_EQ(shorts.optimum, 3);
  EXPECT_EQ(shorts.at_optimum_s, 10);
  EXPECT_EQ(shorts.downey_jobs, 0);
  EXPECT_EQ(mediums, TrainedClass{});
  EXPECT_EQ(longs.jobs, 2);
  EXPECT_EQ(longs.submitted[2], 1) << "at 01:00, the slot that begins then";
  EXPECT_EQ(longs.submitted[3], 1) << "at 01:40";
  EXPECT_EQ(longs.least, 1.5);
  EXPECT_EQ(longs.most, 6);
  EXPECT_EQ(longs.downey_jobs, 1);
  EXPECT_EQ(longs.downey_a, 8) << "the machine at most";
  EXPECT_EQ(longs.downey_sigma, 0.7);
  EXPECT_EQ(learned.watched[0], Duration::zero());
  EXPECT_EQ(learned.watched[1], Duration{10min});
  EXPECT_EQ(learned.watched[2], Duration{30min});
  EXPECT_EQ(learned.watched[3], Duration{30min});
  EXPECT_EQ(learned.watched[4], Duration{10min});
  EXPECT_EQ(learned.watched[5], Duration::zero());
}

TEST(TrainedForecast, ExpectsTheWorkOfTheMeanJob) {
  const Forecast forecast = forecast_of(learned_from(workload(), training()));
  // At 00:30, one short job in 10 min: three in the half hour, of 3 processors for 10 s.
  EXPECT_NEAR(forecast.expected_work(30min, 30min, 1), 3 * 3 * 10e6, 1);
  EXPECT_EQ(forecast.expected_work(24h, 30min, 1), 0) << "midnight was never watched";
}

TEST(TrainedForecast, OneInstantTeachesNothing) {
  Workload one;
  one.jobs = std::vector<TracedJob>{job('A').cores(3).runs(10s)};
  EXPECT_EQ(learned_from(one, training()).training.jobs, 0);
}

TEST(ForecastFile, ComesBackAsItWas) {
  TrainedForecast learned = learned_from(workload(), training());
  learned.classes[2].at_optimum_s = 1.0 / 3;  // no short decimal
  learned.watched[7] = Duration{123'456'789'012'345};
  const TemporaryFolder folder;
  const std::string file = (folder / "w1.forecast.json").string(), again = (folder / "again.json").string();
  write_forecast(learned, file);
  const TrainedForecast read = read_forecast(file);
  EXPECT_EQ(read, learned);
  EXPECT_EQ(forecast_of(read).expected_work(0min, 48h, 0.7), forecast_of(learned).expected_work(0min, 48h, 0.7));
  write_forecast(read, again);
  EXPECT_EQ(text_of(again), text_of(file));
}

std::string message(const std::function<void(nlohmann::json&)>& change) {
  nlohmann::json json = nlohmann::json::parse(to_json(learned_from(workload(), training())).dump());
  change(json);
  try {
    (void)trained_forecast_of(json, "f.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(ForecastFile, ErrorsNameThePlace) {
  using nlohmann::json;
  const std::string kind = "expected a forecast (\"format\": \"replay-forecast\"), found ";
  EXPECT_EQ(message([](json&) {}), "nothing was thrown");
  EXPECT_EQ(message([](json& j) { j = json::array(); }), "f.json: forecast: " + kind + "a list");
  EXPECT_EQ(message([](json& j) { j["format"] = "replay-profile"; }), "f.json: format: " + kind + "\"replay-profile\"");
  EXPECT_EQ(message([](json& j) { j["version"] = 2; }),
            "f.json: version: expected 1: replay trace forecast writes a new one, found 2");
  EXPECT_EQ(message([](json& j) { j.erase("trained_on"); }),
            "f.json: forecast: expected a member 'trained_on', found an object");
  EXPECT_EQ(message([](json& j) { j["trained_on"]["trace"] = ""; }),
            "f.json: trained_on.trace: expected the name of a file, found \"\"");
  EXPECT_EQ(message([](json& j) { j["trained_on"]["sha256"] = "abc"; }),
            "f.json: trained_on.sha256: expected 64 hexadecimal digits, as sha256sum prints them, found \"abc\"");
  EXPECT_EQ(message([](json& j) { j["trained_on"]["machine"] = 0; }),
            "f.json: trained_on.machine: expected a count >= 1, found 0");
  EXPECT_EQ(message([](json& j) { j["trained_on"]["jobs"] = 7; }),
            "f.json: trained_on.jobs: expected the 3 jobs of all classes, found 7");
  EXPECT_EQ(message([](json& j) { j["trained_on"]["jobs"] = -1; }),
            "f.json: trained_on.jobs: expected a count of jobs, found -1");
  EXPECT_EQ(message([](json& j) { j["classes"].erase("medium"); }),
            "f.json: classes: expected a member 'medium', found an object");
  EXPECT_EQ(message([](json& j) { j["classes"]["long"]["jobs"] = 3; }),
            "f.json: classes.long.jobs: expected the 2 jobs of all its slots, found 3");
  EXPECT_EQ(message([](json& j) { j["classes"]["long"]["mean_optimum"] = 9; }),
            "f.json: classes.long.mean_optimum: expected a number 1..8, found 9");
  EXPECT_EQ(message([](json& j) { j["classes"]["long"]["mean_time_at_optimum_s"] = "an hour"; }),
            "f.json: classes.long.mean_time_at_optimum_s: expected a number 0..1000000000, found \"an hour\"");
  EXPECT_EQ(message([](json& j) { j["classes"]["long"]["mean_most"] = 1; }),
            "f.json: classes.long.mean_most: expected a number 1.5..8, found 1");
  EXPECT_EQ(message([](json& j) { j["classes"]["long"]["downey_jobs"] = 3; }),
            "f.json: classes.long.downey_jobs: expected at most the 2 jobs of the class, found 3");
  EXPECT_EQ(message([](json& j) { j["classes"]["long"]["mean_a"] = 0.5; }),
            "f.json: classes.long.mean_a: expected a number 1..8, found 0.5");
  EXPECT_EQ(message([](json& j) { j["classes"]["long"].erase("mean_sigma"); }),
            "f.json: classes.long: expected a member 'mean_sigma', found an object");
  EXPECT_EQ(message([](json& j) { j["slots"].erase(5); }), "f.json: slots: expected 48 half hours, found a list");
  EXPECT_EQ(message([](json& j) { j["slots"][5]["time"] = "02:00"; }),
            "f.json: slots[5].time: expected \"02:30\", found \"02:00\"");
  EXPECT_EQ(message([](json& j) { j["slots"][5]["watched_s"] = -1; }),
            "f.json: slots[5].watched_s: expected a number 0..1000000000, found -1");
  EXPECT_EQ(message([](json& j) { j["slots"][5]["short"] = 0.5; }),
            "f.json: slots[5].short: expected a count of jobs, found 0.5");
}

TEST(ForecastFile, APolicyReadsItAndSaysWhatItHasLearnedFrom) {
  const TemporaryFolder folder;
  const std::string file = (folder / "a,b:c.json").string();
  const TrainedForecast learned = learned_from(workload(), training());
  write_forecast(learned, file);
  const NamedPolicy named = make_policy("scojo-p:predict={" + file + "}");
  ASSERT_TRUE(named.policy->traits().training);
  EXPECT_EQ(*named.policy->traits().training, learned.training);
  EXPECT_EQ(named.files, std::vector{file});
  EXPECT_EQ(make_policy(named.full_text).full_text, named.full_text) << "its braces are kept";
  for (const char* word : {"scojo-p", "scojo-p:predict=past", "scojo-p:predict=off"}) {
    EXPECT_FALSE(make_policy(word).policy->traits().training) << word;
    EXPECT_TRUE(make_policy(word).files.empty()) << word;
  }
}

TEST(ForecastFile, WhatIsNoFileIsAMistakeInThePolicy) {
  try {
    (void)make_policy("scojo-p:predict=pst");
    ADD_FAILURE() << "nothing was thrown";
  } catch (const UsageError& error) {
    EXPECT_STREQ(
        error.what(),
        "policy 'scojo-p', parameter 'predict': expected the name of a file or past or off, found 'pst', which "
        "is no file");
  }
  EXPECT_EQ(full_text_of("scojo-p:predict=pst:ideal=1"), "scojo-p:predict=pst:ideal=1:delta=0.01:max_bad=2:aging=top")
      << "no file is read";
  const TemporaryFolder folder;
  write_text(folder / "f.json", "{");
  EXPECT_THROW((void)make_policy("scojo-p:predict=" + (folder / "f.json").string()), InputError);
  EXPECT_THROW((void)make_policy("scojo-p:predict="), UsageError);
}

}  // namespace
}  // namespace replay::test
