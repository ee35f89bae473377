#include "scheduler/calibrate/calibration.hpp"

#include <algorithm>
#include <optional>

#include "scheduler/calibrate/downey_fit.hpp"
#include "scheduler/runtime_model/overheads.hpp"

namespace replay::calibrate {
namespace {

constexpr double kLeastRuntime = 1e-4;  // s: a program whose end costs as much as itself

double worst_spread(const std::vector<Figure>& figures) {
  return std::ranges::max_element(figures, {}, &Figure::spread)->spread;
}

bool is_disturbed(const std::vector<Figure>& figures) { return std::ranges::any_of(figures, &Figure::disturbed); }

// New figures replace old ones that are worse: others were there, or their readings lie further apart.
bool are_better(const std::vector<Figure>& figures, const std::vector<Figure>& than) {
  if (than.empty() || is_disturbed(figures) != is_disturbed(than)) return than.empty() || is_disturbed(than);
  return worst_spread(figures) <= worst_spread(than);
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
        (figures_in(profile_, m).empty() ? missing : again).push_back(m);
    }
    missing.insert(missing.end(), again.begin(), again.end());
    try {
      for (std::size_t i = 0; i < missing.size(); ++i) handle(missing, i);
    } catch (const Interrupted&) {
      result_.interrupted = true;
    }
    fit_speedups(profile_);
    return std::move(result_);
  }

 private:
  [[nodiscard]] double left() const { return limits_.budget_s - elapsed_s_(); }

  void handle(const std::vector<Measurement>& open, std::size_t index) {
    const Measurement& m = open[index];
    if (const auto reason = what_is_missing(m)) return reason->empty() ? leave_out(m) : refuse(m, *reason);
    if (expected_seconds(m, profile_) * static_cast<double>(kLeastReadings) > left()) {
      // What was measured before, though not to the bound, is still there.
      if (figures_in(profile_, m).empty()) return leave_out(m);
      return result_.unsettled.push_back(m);
    }
    watcher_.on_begin(m, index, open.size());
    measure(m, share_of(open, index));
  }

  // Seconds that a measurement may take with all its repetitions: its share of what is left, so that a noisy one does not
  // keep the others from being made at all.
  [[nodiscard]] double share_of(const std::vector<Measurement>& open, std::size_t index) const {
    double rest = 0;
    for (std::size_t i = index; i < open.size(); ++i) rest += expected_seconds(open[i], profile_);
    return left() * expected_seconds(open[index], profile_) / rest;
  }

  void leave_out(const Measurement& m) { result_.left_out.push_back(m); }
  void refuse(const Measurement& m, const std::string& reason) { result_.refused.emplace_back(m, reason); }

  // Run times that it starts from: nothing if they are there, a reason why they cannot be, or "" if there was no time.
  [[nodiscard]] std::optional<std::string> what_is_missing(const Measurement& m) const {
    if (m.kind != Kind::kSharing && m.kind != Kind::kSelfSlowdown && m.kind != Kind::kPair) return std::nullopt;
    for (const Kernel& kernel : {m.kernel, m.kind == Kind::kPair ? m.neighbour : m.kernel}) {
      const Measurement first{.kind = Kind::kRunTime, .processes = m.processes, .kernel = kernel};
      if (!figures_in(profile_, first).empty()) continue;
      const auto refused = std::ranges::find(result_.refused, first, &std::pair<Measurement, std::string>::first);
      return refused == result_.refused.end() ? "" : refused->second;
    }
    return std::nullopt;
  }

  void measure(const Measurement& m, double share) {
    const double begin = elapsed_s_();
    const std::size_t values = tolerances(m.kind, 0).size();
    std::vector<std::vector<Reading>> readings(values);
    std::vector<Figure> figures;
    do {
      const Taken taken = measurer_.take(m);
      if (!taken.refused.empty()) return refuse(m, taken.refused);
      for (const std::vector<double>& reading : taken.readings)
        for (std::size_t i = 0; i < values; ++i) readings[i].push_back({value_of(m, reading[i]), taken.disturbed});
      figures.clear();
      for (const auto& list : readings) figures.push_back(figure_of(list));
    } while (readings[0].size() < kLeastReadings || (!have_settled(figures, m.kind, limits_.spread) &&
                                                     readings[0].size() < static_cast<std::size_t>(most(m)) &&
                                                     elapsed_s_() - begin + expected_seconds(m, profile_) <= share));
    ++result_.measured;
    if (are_better(figures, figures_in(profile_, m))) store(profile_, m, figures);
    if (!is_settled_in(profile_, m, limits_.spread)) result_.unsettled.push_back(m);
    watcher_.on_figures(profile_, m);
  }

  // A program has many resizes, and they cost next to nothing.
  [[nodiscard]] int most(const Measurement& m) const {
    return m.kind == Kind::kResize ? 10 * limits_.most_readings : limits_.most_readings;
  }

  // A run is read to its very end; what ending it costs is a figure of its own.
  [[nodiscard]] double value_of(const Measurement& m, double read) const {
    if (m.kind != Kind::kRunTime) return read;
    return std::max(kLeastRuntime, read - overhead_at(profile_.end, m.processes));
  }

  Profile& profile_;
  Measurer& measurer_;
  const Limits& limits_;
  const std::function<double()>& elapsed_s_;
  const Watcher& watcher_;
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
