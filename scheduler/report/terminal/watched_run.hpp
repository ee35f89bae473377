// What the records of an event log have told so far about a run that goes on: the jobs that wait, run or are suspended,
// which job is on which core, the last events in words. Made of the header and the records alone, without anything of the
// program that writes them. Jobs that are over are forgotten, so that memory follows the jobs in the system.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "scheduler/history/follower.hpp"
#include "scheduler/log/node_names.hpp"
#include "scheduler/metrics/core_names.hpp"
#include "scheduler/model/machine.hpp"
#include "scheduler/model/units.hpp"

namespace replay::report {

/// Letters of jobs, given out from the first one that is free.
inline constexpr std::string_view kJobLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// Jobs that came when all letters were taken.
inline constexpr char kNoLetter = '#';

struct WatchedJob {
  JobId id{};
  ProcessCount processes = 0;
  CoreCount cores = 0;
  int mpl = 1;
  int letter = -1;  ///< place in kJobLetters from launch to end; -1: none
  history::Phase state = history::Phase::kWaiting;
  Instant submitted{};
  Instant launched{};
  metrics::CoreRanges held;  ///< none while it waits or is suspended
  std::uint64_t turn = 0;    ///< its place in the order of launches

  [[nodiscard]] char symbol() const { return letter < 0 ? kNoLetter : kJobLetters[static_cast<std::size_t>(letter)]; }
};

/// The jobs on one core, in the order of their launches.
struct CoreUse {
  const WatchedJob* first = nullptr;   ///< null: the core is idle
  const WatchedJob* second = nullptr;  ///< null: `first` has it alone
  int jobs = 0;
};

/// The run at one instant: what its picture is made of. A copy stays as it is.
class WatchedRun {
 public:
  struct Event {
    std::string text;  ///< one line, with its time in front
    bool is_bad;       ///< a job that failed, an order that could not be carried out
  };
  static constexpr std::size_t kKeptEvents = 100;

  WatchedRun() : letters_taken_(kJobLetters.size(), false) {}

  /// "fcfs-malleable:max_mpl=2 on emulated:16x2x2".
  [[nodiscard]] const std::string& title() const { return title_; }
  /// The same without the policy's parameters.
  [[nodiscard]] const std::string& short_title() const { return short_title_; }
  /// Nothing before the header.
  [[nodiscard]] const std::optional<Machine>& machine() const { return machine_; }
  /// By node; empty if they are not known.
  [[nodiscard]] std::span<const std::string> hosts() const { return names_.hosts(); }
  [[nodiscard]] Instant now() const { return now_; }
  /// Null if it was not submitted yet, or has ended.
  [[nodiscard]] const WatchedJob* find(JobId job) const;
  /// In the order of submission.
  [[nodiscard]] const std::map<std::uint64_t, JobId>& waiting() const { return waiting_; }
  /// Running and suspended jobs, in the order of launch.
  [[nodiscard]] const std::map<std::uint64_t, JobId>& launched() const { return launched_; }
  /// The nodes that are not up.
  [[nodiscard]] const std::map<NodeId, NodeChange>& closed() const { return closed_; }
  [[nodiscard]] std::int64_t waiting_processes() const { return waiting_processes_; }
  [[nodiscard]] std::size_t longest_queue() const { return longest_queue_; }
  [[nodiscard]] std::size_t done() const { return done_; }
  /// Of those done: failed, or with a wrong result.
  [[nodiscard]] std::size_t failed() const { return failed_; }
  /// Of those done: with a node.
  [[nodiscard]] std::size_t lost() const { return lost_; }
  /// The node that went down most often, and how often; nothing: none went down twice.
  [[nodiscard]] std::optional<std::pair<std::string, int>> often_down() const;
  /// One for each core of the machine; empty before the header. Valid as long as this is unchanged. O(cores + launched jobs).
  [[nodiscard]] std::vector<CoreUse> cores() const;

  /// Whether the policy has said anything yet about groups or slices.
  [[nodiscard]] bool has_sharing() const { return has_sharing_; }
  /// By primary. A matched job may have ended.
  [[nodiscard]] const std::map<JobId, GroupFormed>& groups() const { return groups_; }
  [[nodiscard]] const std::optional<SliceBegun>& slice() const { return slice_; }

  /// The last ones, up to kKeptEvents.
  [[nodiscard]] const std::deque<Event>& events() const { return events_; }
  /// How many there were in all.
  [[nodiscard]] std::size_t told() const { return told_; }

 private:
  friend class RunWatcher;

  std::string title_;
  std::string short_title_;
  std::optional<Machine> machine_;
  log::NodeNames names_;
  std::unordered_map<JobId, WatchedJob> jobs_;
  std::map<std::uint64_t, JobId> waiting_;
  std::map<std::uint64_t, JobId> launched_;
  std::map<NodeId, NodeChange> closed_;
  std::map<JobId, GroupFormed> groups_;
  std::optional<SliceBegun> slice_;
  bool has_sharing_ = false;
  std::uint64_t next_turn_ = 0;
  std::vector<bool> letters_taken_;
  std::int64_t waiting_processes_ = 0;
  std::size_t longest_queue_ = 0;
  std::size_t done_ = 0;
  std::size_t failed_ = 0;
  std::size_t lost_ = 0;
  std::map<NodeId, int> downs_;  // how often
  std::size_t told_ = 0;
  Instant now_{};
  std::deque<Event> events_;
};

/// Follows a run: takes the records as they come.
class RunWatcher final : public history::Observer {
 public:
  /// What the records go to.
  [[nodiscard]] history::Follower& follower() { return follower_; }
  void on_begin(const log::Header& header, const Machine& machine) override;
  void on_submit(Instant at, const history::JobState& state) override;
  void on_change(Instant at, const history::Before& before, const history::JobState& state) override;
  void on_end(Instant at, const history::JobState& state, const JobEnd& end) override;
  void on_load(Instant at, const history::Load& load) override;
  void on_record(const log::Record& record, const history::JobState* job) override;
  [[nodiscard]] log::Kinds records() const override { return log::Kinds{}.set(); }
  /// Time passes without a record. Never goes back.
  void advance(Instant now) { run_.now_ = std::max(run_.now_, now); }

  [[nodiscard]] const WatchedRun& run() const { return run_; }

 private:
  struct OnRecord;
  void tell(Instant at, std::string_view text, bool is_bad = false);
  void take_letter(WatchedJob& job);
  void leave_cores(WatchedJob& job);

  metrics::CoreNames names_;
  history::Follower follower_{{&names_, this}};
  WatchedRun run_;
};

}  // namespace replay::report
