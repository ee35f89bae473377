#include "scheduler/calibrate/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "scheduler/calibrate/downey_fit.hpp"
#include "scheduler/calibrate/plan.hpp"
#include "scheduler/runtime_model/overheads.hpp"

namespace replay::calibrate {
namespace {

constexpr double kLeastRuntime = 1e-4;  // s: speedups divide by it
constexpr double kApart = 60;           // s between the first readings of a figure, if there is enough to measure

bool is_complete(const std::vector<Figure>& figures) {
  return !figures.empty() &&
         std::ranges::all_of(figures, [](const Figure& f) { return f.runs >= static_cast<int>(kLeastReadings); });
}

// The largest ratio of spread to tolerance of the figures. Up to 1 they have settled.
double worst_excess(const std::vector<Figure>& figures, const std::vector<Tolerance>& bounds) {
  double worst = 0;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const double relative = figures[i].spread / bounds[i].spread;
    const double absolute = bounds[i].absolute > 0 ? figures[i].spread * std::abs(figures[i].value) / bounds[i].absolute
                                                   : std::numeric_limits<double>::infinity();
    worst = std::max(worst, std::min(relative, absolute));
  }
  return worst;
}

bool is_disturbed(const std::vector<Figure>& figures) { return std::ranges::any_of(figures, &Figure::disturbed); }

// New figures replace old ones that are worse: disturbed by other processes, or with readings further apart.
bool are_better(const std::vector<Figure>& figures, const std::vector<Figure>& than, Kind kind, double spread) {
  if (than.empty() || is_disturbed(figures) != is_disturbed(than)) return than.empty() || is_disturbed(than);
  const std::vector<Tolerance> bounds = tolerances(kind, spread);
  return worst_excess(figures, bounds) <= worst_excess(than, bounds);
}

bool have_settled(const std::vector<Figure>& figures, Kind kind, double spread) {
  const std::vector<Tolerance> bounds = tolerances(kind, spread);
  for (std::size_t i = 0; i < figures.size(); ++i)
    if (!is_settled(figures[i], bounds[i])) return false;
  return !figures.empty();
}

class Calibrator {
 public:
  Calibrator(Profile& profile, Measurer& measurer, const Limits& limits, const std::function<double()>& elapsed_s,
             const Watcher& watcher)
      : profile_(profile), measurer_(measurer), limits_(limits), elapsed_s_(elapsed_s), watcher_(watcher) {}

  CalibrationResult run(const std::vector<Measurement>& plan) {
    std::vector<Measurement> missing, again;
    for (const Measurement& m : plan) {
      if (is_settled_in(profile_, m, limits_.spread))
        ++result_.kept;
      else
        (is_complete(figures_in(profile_, m)) ? again : missing).push_back(m);
    }
    missing.insert(missing.end(), again.begin(), again.end());
    count_ = missing.size();
    try {
      for (const Measurement& m : missing) begin(m);
      complete_group();
      while (go_round()) {
      }
    } catch (const Interrupted&) {
      result_.interrupted = true;
    }
    for (const Open& open : open_)
      if (!is_settled_in(profile_, open.m, limits_.spread)) result_.unsettled.push_back(open.m);
    fit_speedups(profile_);
    return std::move(result_);
  }

 private:
  // A measurement that has been begun.
  struct Open {
    Measurement m;
    std::size_t index;
    std::vector<Figure> before;                  // what the profile had of it, from enough readings
    std::vector<std::vector<Reading>> readings;  // of each figure
    std::vector<Figure> figures{};
    std::size_t turns = 0;
    double seconds = 0;  // that the last reading took
    [[nodiscard]] std::size_t count() const { return readings[0].size(); }
  };

  [[nodiscard]] double left() const { return limits_.budget_s - elapsed_s_(); }

  // Takes the first reading. The others follow when first readings have been taken for a minute.
  void begin(const Measurement& m) {
    const std::size_t index = begun_++;
    if (const auto reason = what_is_missing(m)) return reason->empty() ? leave_out(m) : refuse(m, *reason);
    std::vector<Figure> before = figures_in(profile_, m);
    if (!is_complete(before)) before.clear();
    if (expected_seconds(m, profile_) * static_cast<double>(kLeastReadings) > left() - owed()) {
      // The profile keeps the earlier figures, although they have not settled.
      if (before.empty()) return leave_out(m);
      return result_.unsettled.push_back(m);
    }
    if (group_.empty()) group_began_ = elapsed_s_();
    Open open{m, index, std::move(before), std::vector<std::vector<Reading>>(tolerances(m.kind, 0).size())};
    if (const std::string refused = read(open); !refused.empty()) return refuse(m, refused);
    if (open.before.empty()) keep(open);  // later measurements depend on it
    group_.push_back(std::move(open));
    if (elapsed_s_() - group_began_ >= kApart) complete_group();
  }

  // Time for the group's missing readings, s.
  [[nodiscard]] double owed() const {
    double sum = 0;
    for (const Open& open : group_)
      sum += open.seconds * static_cast<double>(kLeastReadings - std::min(kLeastReadings, open.count()));
    return sum;
  }

  // Takes as many readings as a figure needs, one of each measurement in turn. So the readings of one figure lie apart:
  // other load slows a machine for seconds or a minute, and consecutive readings would all be slow, and agree.
  void complete_group() {
    for (std::size_t round = 1; round < kLeastReadings; ++round)
      for (Open& open : group_)
        if (open.count() < kLeastReadings && open.seconds <= left())
          (void)read(open);  // if it is refused now, the earlier readings remain
    for (Open& open : group_) {
      ++result_.measured;
      keep(open);
      open_.push_back(std::move(open));
    }
    group_.clear();
  }

  // Takes one more reading of each measurement that has not settled. Returns whether there was one.
  bool go_round() {
    bool has_read = false;
    for (Open& open : open_) {
      if (have_settled(open.figures, open.m.kind, limits_.spread) ||
          open.count() >= static_cast<std::size_t>(most(open.m)) ||
          std::max(expected_seconds(open.m, profile_), open.seconds) > left())
        continue;
      if (!read(open).empty()) continue;  // if it is refused now, the earlier readings remain
      keep(open);
      has_read = true;
    }
    return has_read;
  }

  // Takes a reading. Returns why it cannot be measured; empty: it was.
  [[nodiscard]] std::string read(Open& open) {
    watcher_.on_begin(open.m, open.index, count_);
    const double began = elapsed_s_();
    const Taken taken = measurer_.take(open.m, open.turns++);
    open.seconds = elapsed_s_() - began;
    if (taken.failed) ++result_.failed;
    if (!taken.refused.empty()) return taken.refused;
    for (const std::vector<double>& reading : taken.readings)
      for (std::size_t i = 0; i < open.readings.size(); ++i)
        open.readings[i].push_back({value_of(open.m, reading, i), taken.disturbed});
    open.figures.clear();
    for (const auto& list : open.readings) open.figures.push_back(figure_of(list));
    return {};
  }

  // Stores the new figures, or those of an earlier calibration if they are better. Figures of this calibration replace
  // each other: more readings are better, even if they lie further apart.
  void keep(const Open& open) {
    const bool replaces = are_better(open.figures, open.before, open.m.kind, limits_.spread);
    store(profile_, open.m, replaces ? open.figures : open.before);
    watcher_.on_figures(profile_, open.m);
  }

  void leave_out(const Measurement& m) { result_.left_out.push_back(m); }
  void refuse(const Measurement& m, const std::string& reason) { result_.refused.emplace_back(m, reason); }

  // Looks for the run times that it depends on: nothing if they are there, the reason if they were refused, "" if there
  // was no time for them.
  [[nodiscard]] std::optional<std::string> what_is_missing(const Measurement& m) const {
    const bool is_first = m.kind == Kind::kRunTime && !m.spread;
    if (is_first || m.kernel.name.empty()) return std::nullopt;
    for (const Kernel& kernel : {m.kernel, m.kind == Kind::kPair ? m.neighbour : m.kernel}) {
      const Measurement first{.kind = Kind::kRunTime, .processes = m.processes, .kernel = kernel};
      if (!figures_in(profile_, first).empty()) continue;
      const auto refused = std::ranges::find_if(result_.refused, [&](const auto& one) {
        const Measurement& of = one.first;
        return of.kind == first.kind && !of.spread && of.processes == first.processes && of.kernel == kernel;
      });
      return refused == result_.refused.end() ? "" : refused->second;
    }
    return std::nullopt;
  }

  // One program has many resizes, at almost no cost.
  [[nodiscard]] int most(const Measurement& m) const {
    return m.kind == Kind::kResize ? 10 * limits_.most_readings : limits_.most_readings;
  }

  // A run is timed to the exit of its last process; the cost of the end is a figure of its own and is deducted. If both
  // are some milliseconds their difference is unreliable, but a run is never shorter than its timed part.
  [[nodiscard]] double value_of(const Measurement& m, const std::vector<double>& reading, std::size_t value) const {
    if (m.kind != Kind::kRunTime) return reading[value];
    const double timed_part = reading[1];
    return std::max(
        {kLeastRuntime, timed_part, reading[0] - CostByNodes{profile_, &JobCosts::end}.at(m.processes, m.nodes)});
  }

  Profile& profile_;
  Measurer& measurer_;
  const Limits& limits_;
  const std::function<double()>& elapsed_s_;
  const Watcher& watcher_;
  std::size_t count_ = 0;  // of the measurements to make
  std::size_t begun_ = 0;
  double group_began_ = 0;   // on the clock of elapsed_s_
  std::vector<Open> group_;  // begun, with fewer readings than a figure needs
  std::vector<Open> open_;   // with as many readings as a figure needs, or more
  CalibrationResult result_;
};

}  // namespace

bool is_settled_in(const Profile& profile, const Measurement& measurement, double spread) {
  return have_settled(figures_in(profile, measurement), measurement.kind, spread);
}

CalibrationResult calibrate(Profile& profile, const std::vector<Measurement>& plan, Measurer& measurer,
                            const Limits& limits, const std::function<double()>& elapsed_s, const Watcher& watcher) {
  return Calibrator{profile, measurer, limits, elapsed_s, watcher}.run(plan);
}

}  // namespace replay::calibrate
