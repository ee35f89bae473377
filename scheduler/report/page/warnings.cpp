#include "scheduler/report/page/warnings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>

#include "scheduler/base/error.hpp"
#include "scheduler/base/json/json_place.hpp"
#include "scheduler/base/json/read_json.hpp"
#include "scheduler/base/text/counted_words.hpp"

namespace replay::report {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr double kNoInstant = std::numeric_limits<double>::quiet_NaN();

// Keeps the first of each kind, and counts the rest.
class Collected {
 public:
  Collected(const ShownJobs& shown, std::size_t most) : shown_(shown), most_(most) {}

  void add(const char* kind, std::string text, std::int32_t job = -1, double at = kNoInstant) {
    if (++count_[kind] <= most_) warnings_.push_back({kind, std::move(text), job, at});
  }
  void add(const char* kind, const metrics::JobRow& row, std::size_t place, const std::string& what,
           std::string_view reason) {
    const std::string because = reason.empty() ? "" : fmt::format(": {}", reason);
    const double at = row.has_ended() ? seconds(row.finished) : kNoInstant;
    add(kind, fmt::format("job {} {}{}", number(row.job), what, because), shown_.place[place], at);
  }
  [[nodiscard]] std::vector<PageWarning> take() {
    for (const auto& [kind, count] : count_)
      if (count > most_)
        warnings_.push_back({kind, fmt::format("and {} more of this kind", count - most_), -1, kNoInstant});
    return std::move(warnings_);
  }

 private:
  const ShownJobs& shown_;
  std::size_t most_;
  std::map<std::string, std::size_t> count_;
  std::vector<PageWarning> warnings_;
};

void add_jobs(Collected& collected, const metrics::JobTable& table) {
  for (std::size_t i = 0; i < table.rows().size(); ++i) {
    const metrics::JobRow& row = table.rows()[i];
    if (!row.has_ended()) continue;
    const std::string_view reason = table.reason(row.job);
    switch (row.outcome) {
      case Outcome::kFailed:
        collected.add("failed", row, i, fmt::format("failed with exit code {}", row.exit_code), reason);
        break;
      case Outcome::kOverrun:
        collected.add("overrun", row, i, "was killed when its estimate was used up", reason);
        break;
      case Outcome::kKilled: collected.add("failed", row, i, "was killed", reason); break;
      case Outcome::kLost: collected.add("lost", row, i, "was lost with a node", reason); break;
      case Outcome::kRejected: collected.add("rejected", row, i, "was rejected", reason); break;
      case Outcome::kCompleted:
      case Outcome::kCancelled: break;
    }
    if (row.verification == Verification::kFailed && row.outcome != Outcome::kFailed)
      collected.add("failed", row, i, "found its own result wrong", reason);
  }
}

void add_said(Collected& collected, const RunReader& run, const ShownJobs& shown) {
  for (const SaidInLog& said : run.said()) {
    const metrics::JobRow* const row = said.job ? run.table().find(*said.job) : nullptr;
    const std::int32_t place =
        row == nullptr ? -1 : shown.place[static_cast<std::size_t>(row - run.table().rows().data())];
    collected.add("note", said.job ? fmt::format("job {} {}", number(*said.job), said.text) : said.text, place,
                  seconds(said.at));
  }
}

using Place = JsonPlace<ordered_json>;

// Empty if it is null or not there.
std::string text_or_nothing(const Place& place, const char* key) {
  return place.has(key) && !place.at(key).is_null() ? place.at(key).as<std::string>("a text") : std::string{};
}

// "12 %", "?" where it was not measured.
std::string load_text(const Place& loads, const char* key) {
  return loads.has(key) && !loads.at(key).is_null() ? fmt::format("{:.0f} %", loads.at(key).as<double>("a share") * 100)
                                                    : "?";
}

void add_run_json(Collected& collected, const fs::path& file, bool is_over) {
  const auto object = read_json<ordered_json>(file);
  const std::string name = file.string();
  const Place place(object, name);
  const bool is_known = place.has("disturbed") && !place.at("disturbed").is_null();
  if (is_known && place.at("disturbed").as<bool>("true or false")) {
    std::string text = "other programs used the machine";
    if (place.has("load_of_others")) {
      const Place loads = place.at("load_of_others");
      text += fmt::format(": {} of its time before the run, {} after it", load_text(loads, "before"),
                          load_text(loads, "after"));
    }
    collected.add("disturbed", std::move(text));
  }
  if (place.as_or("interrupted", false, "true or false")) collected.add("cut", "the run was interrupted");
  if (is_over && place.has("ended") && place.at("ended").is_null())
    collected.add("cut", "run.json tells of no end: the run was killed, or still goes on");
  for (const char* key : {"lost", "fault", "broken_off"})
    if (const std::string what = text_or_nothing(place, key); !what.empty()) collected.add("cut", what);
  for (const Place& unwritten : place.list("unwritten"))
    collected.add("note", "not written: " + unwritten.as<std::string>("a text"));
  for (const Place& note : place.list("notes")) collected.add("note", note.as<std::string>("a text"));
}

}  // namespace

std::vector<PageWarning> page_warnings(const RunReader& run, const std::optional<log::LogEnd>& end,
                                       const ShownJobs& shown, const fs::path& folder, std::size_t most) {
  Collected collected(shown, most);
  if (end && !*end)
    collected.add("cut", fmt::format("the event log was cut off{}; the page shows what there is",
                                     end->reason.empty() ? "" : ": " + end->reason));
  const auto open =
      std::ranges::count_if(run.table().rows(), [](const metrics::JobRow& row) { return !row.has_ended(); });
  if (end && open > 0) collected.add("cut", fmt::format("{} had not ended when the log did", counted(open, "job")));
  std::error_code error;
  if (fs::exists(folder / "run.json", error)) try {
      add_run_json(collected, folder / "run.json", end.has_value());
    } catch (const InputError& wrong) {
      collected.add("note", fmt::format("what run.json says is left out: {}", wrong.what()));
    }
  add_jobs(collected, run.table());
  add_said(collected, run, shown);
  return collected.take();
}

}  // namespace replay::report
