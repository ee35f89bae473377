// The state of a run that goes on, and what has changed in it since any earlier moment, as the live page's events carry it
// (docs/formats/report-page.md). The state is that of a RunReader, so that a finished run has the same jobs, stretches, load
// and resizes here as in the page made of its event log. A journal has the places of all changes in order: a reader is one
// number, how far it has got, and costs no memory however far behind it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "scheduler/facts/node_sharing.hpp"
#include "scheduler/log/record.hpp"
#include "scheduler/log/text.hpp"
#include "scheduler/report/page/columns.hpp"
#include "scheduler/report/page/run_reader.hpp"

namespace replay::report {

class RunChanges final : public history::Observer {
 public:
  /// `log`: where the event log of the run is, or would be. Nothing is read from it; run.json beside it is, for facts().
  explicit RunChanges(std::filesystem::path log);

  /// What the records go to. Throws log::BadRecord when one cannot be true.
  [[nodiscard]] log::Sink& sink() { return run_.follower(); }
  void on_begin(const log::Header& header, const Machine& machine) override;
  void on_time(Instant /*now*/) override { done_now_.clear(); }
  void on_record(const log::Record& record, const history::JobState* job) override;
  [[nodiscard]] log::Kinds records() const override { return log::Kinds{}.set(); }
  /// No record comes any more: what is open ends with the last one.
  void finish();

  /// How many changes there are.
  [[nodiscard]] std::size_t size() const { return journal_.size(); }
  /// JSON of an event `begin`: the run without any change. REQUIRES: the log has begun.
  [[nodiscard]] const std::string& begin() const { return begin_; }

  struct Batch {
    std::string json;       ///< of an event `records`
    std::size_t until = 0;  ///< what the next batch is asked for
  };
  /// What the changes from number `from` on have made of the run, at most `most` of them. It tells what is true now, also when
  /// later changes made it so. `now`: of the trace. O(most + jobs on cores).
  [[nodiscard]] Batch since(std::size_t from, std::size_t most, Instant now) const;

  /// What is no table, as JSON of an event `records`: figures, warnings, distributions, groups. O(jobs log jobs), and reads
  /// run.json.
  struct Facts {
    std::string json;
    bool is_complete = false;  ///< the run came to its end
  };
  [[nodiscard]] Facts facts() const;
  /// The instant of the last record.
  [[nodiscard]] Instant last() const { return run_.last(); }

 private:
  enum class Part : std::uint8_t { kJob, kStretch, kPoint, kResize };
  struct Change {
    Part part;
    std::uint32_t place;
  };
  struct JobsOf;
  struct Collected;

  void note(Part part, std::size_t place);
  void note_job(JobId job);
  void note_resizes(const log::Record& record);
  /// Places of `part` that are there now and were not before; the next call begins behind them.
  void note_new(Part part, std::size_t& known, std::size_t count);
  [[nodiscard]] Collected collect(std::size_t from, std::size_t until) const;
  [[nodiscard]] nlohmann::ordered_json jobs_in(const Collected& found, Columns& columns) const;
  [[nodiscard]] nlohmann::ordered_json stretches_in(const Collected& found, Columns& columns, Instant now) const;
  [[nodiscard]] nlohmann::ordered_json load_in(const Collected& found, Columns& columns) const;
  [[nodiscard]] nlohmann::ordered_json present_load(Columns& columns) const;
  [[nodiscard]] nlohmann::ordered_json resizes_in(const Collected& found) const;

  std::filesystem::path log_;
  RunReader run_;
  std::string begin_;
  std::vector<Change> journal_;
  std::size_t stretches_ = 0, points_ = 0, resizes_ = 0;  // noted
  std::unordered_map<JobId, std::size_t> open_resizes_;   // places of those that are not done
  std::vector<std::size_t> done_now_;                     // of those that were done at last()
  std::unordered_map<JobId, GroupFormed> groups_;         // that have not ended, by primary
  bool has_classes_ = false;
  std::optional<log::LogEnd> end_;
};

}  // namespace replay::report
