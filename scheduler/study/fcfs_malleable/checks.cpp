// Checks of the statements in the text of the FCFS-malleable paper, sections 5.1 and 6.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "scheduler/base/text/add_item.hpp"
#include "scheduler/study/fcfs_malleable/simulated_values.hpp"

namespace replay::study {
namespace {

using namespace malleable;
using SimulatedValues = MalleableValues;

std::string listed(const SimulatedValues& simulated, const auto& text) {
  std::string list;
  for (std::size_t l = 0; l < simulated.outcome.logs.size(); ++l)
    add_item(list, ", ", "{} {}", simulated.outcome.logs[l].name, text(l));
  return list;
}

Check response_check(const SimulatedValues& simulated) {
  Check check{.statement = "FCFS-malleable has better average response than EASY on every log (5.1)", .holds = true};
  for (std::size_t l = 0; l < simulated.outcome.logs.size(); ++l)
    check.holds = check.holds && simulated.change(l, simulated.main_range(l), kMalleable, "mean_response") < 0;
  check.found = listed(simulated, [&](std::size_t l) {
    return fmt::format("{:+.1f} %", simulated.change(l, simulated.main_range(l), kMalleable, "mean_response"));
  });
  return check;
}

Check blue_check(const SimulatedValues& simulated, std::size_t blue) {
  const auto change = [&](std::size_t l) {
    return simulated.change(l, simulated.main_range(l), kMalleable, "mean_response");
  };
  Check check{.statement = "Most of all on SDSC Blue (5.1)", .holds = true};
  for (std::size_t l = 0; l < simulated.outcome.logs.size(); ++l)
    check.holds = check.holds && change(blue) <= change(l);
  for (const std::string& range : simulated.outcome.logs[blue].ranges)
    add_item(check.found, ", ", "{}: {:+.1f} %", range, simulated.change(blue, range, kMalleable, "mean_response"));
  check.why = kWhyRange;
  return check;
}

Check slowdown_check(const SimulatedValues& simulated) {
  Check check{.statement = "Its average slowdown is better on CTC and SDSC Blue, and worse on SDSC (5.1)",
              .holds = true};
  for (std::size_t l = 0; l < simulated.outcome.logs.size(); ++l) {
    const bool should_be_worse = simulated.outcome.logs[l].name == kSdscSp2Log.name;
    const double change = simulated.change(l, simulated.main_range(l), kMalleable, "mean_slowdown");
    check.holds = check.holds && (change > 0) == should_be_worse;
    for (const std::string& range : simulated.outcome.logs[l].ranges)
      add_item(check.found, "; ", "{}, {}: {:+.1f} %", simulated.outcome.logs[l].name, range,
               simulated.change(l, range, kMalleable, "mean_slowdown"));
  }
  check.why = kWhyRange;
  return check;
}

Check execution_check(const SimulatedValues& simulated) {
  const auto ratio = [&](std::size_t l) {
    return simulated.value(l, simulated.main_range(l), kMalleable, "mean_execution") /
           simulated.value(l, simulated.main_range(l), kEasy, "mean_execution");
  };
  Check check{.statement = "Execution times grow, but not to twice those of EASY (5.1)", .holds = true};
  for (std::size_t l = 0; l < simulated.outcome.logs.size(); ++l)
    check.holds = check.holds && ratio(l) > 1 && ratio(l) < 2;
  check.found = listed(simulated, [&](std::size_t l) { return fmt::format("{:.2f} times", ratio(l)); });
  return check;
}

Check mpl_check(const SimulatedValues& simulated) {
  const auto mpl = [&](std::size_t l, std::string_view policy) {
    return simulated.value(l, simulated.main_range(l), policy, "mean_mpl");
  };
  Check check{.statement = "Its average MPL is above that of EASY and below 2 (Table 3)", .holds = true};
  for (std::size_t l = 0; l < simulated.outcome.logs.size(); ++l)
    check.holds = check.holds && mpl(l, kMalleable) > mpl(l, kEasy) && mpl(l, kMalleable) < 2;
  check.found = listed(
      simulated, [&](std::size_t l) { return fmt::format("{:.2f} > {:.2f}", mpl(l, kMalleable), mpl(l, kEasy)); });
  return check;
}

Check fragmentation_check(const SimulatedValues& simulated) {
  constexpr double kNone = 0.5;  // %
  Check check{.statement = "It leaves no fragmentation (5.1; here: less than 0.5 %)", .holds = true};
  const auto of = [&](std::size_t l, std::string_view policy) {
    return percent(simulated.value(l, simulated.main_range(l), policy, "fragmentation"));
  };
  bool eager_leaves_less = true;
  for (std::size_t l = 0; l < simulated.outcome.logs.size(); ++l) {
    check.holds = check.holds && of(l, kMalleable) < kNone;
    eager_leaves_less = eager_leaves_less && of(l, kEager) < of(l, kMalleable);
  }
  check.found = listed(simulated, [&](std::size_t l) {
    return fmt::format("{:.2f} % (eager {:.2f} %)", of(l, kMalleable), of(l, kEager));
  });
  if (eager_leaves_less) check.why = kWhyFree;
  return check;
}

Check sweep_check(const SimulatedValues& simulated, std::size_t sdsc) {
  constexpr double kBelow = 0.9;
  const std::string& range = simulated.main_range(sdsc);
  const double easy = simulated.value(sdsc, range, kEasy, "mean_slowdown");
  Check check{.statement = "With long jobs' CPU use under 90 % its slowdown on SDSC is smaller than that of EASY (5.1)",
              .holds = true,
              .found = fmt::format("EASY {:.1f}", easy)};
  double least = std::numeric_limits<double>::max(), most = 0;
  for (const double use : swept_uses(simulated.outcome)) {
    const double slowdown = simulated.value(sdsc, range, kMalleable, "mean_slowdown", use);
    if (use < kBelow) check.holds = check.holds && slowdown < easy;
    least = std::min(least, slowdown), most = std::max(most, slowdown);
    check.found += fmt::format(", {:.0f} %: {:.1f}", percent(use), slowdown);
  }
  check.why =
      fmt::format("only {} of the log's {} jobs are long, so their CPU use moves the slowdown by {:.1f} % in all",
                  simulated.outcome.logs[sdsc].long_jobs, simulated.outcome.logs[sdsc].jobs, (most / least - 1) * 100);
  return check;
}

}  // namespace

std::vector<Check> malleable_checks(const MalleableValues& simulated) {
  const auto blue = simulated.log_called(kSdscBlueLog.name), sdsc = simulated.log_called(kSdscSp2Log.name);
  std::vector<Check> checks;
  if (blue && sdsc && simulated.log_called(kCtcLog.name)) {  // statements about all three logs
    checks.push_back(response_check(simulated));
    checks.push_back(blue_check(simulated, *blue));
    checks.push_back(slowdown_check(simulated));
  }
  checks.push_back(execution_check(simulated));
  checks.push_back(mpl_check(simulated));
  checks.push_back(fragmentation_check(simulated));
  if (sdsc) checks.push_back(sweep_check(simulated, *sdsc));
  return checks;
}

}  // namespace replay::study
