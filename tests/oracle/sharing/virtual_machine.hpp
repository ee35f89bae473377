// G-LOMARC-TS on one virtual machine: its running groups, bundles and single jobs, its queue, the conservative plan,
// and the pass. Without slices there is one; under Scojo-PECT one for each class, with a clock of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "tests/oracle/plan.hpp"
#include "tests/oracle/sharing/groups.hpp"
#include "tests/oracle/sharing/search.hpp"

namespace replay::oracle::sharing {

struct JobState {
  std::size_t machine = 0;  ///< its virtual machine
  // In the clock of its virtual machine:
  Time submitted = 0;
  Time planned_start = 0;       ///< while it waits
  double planned_response = 0;  ///< at submission
  // While it runs:
  bool is_executing = false;
  int ppn = 0;
  std::vector<int> nodes;
  Work work, budget;
};

struct FormedGroup {
  Time time = 0;
  int way = 0;
  std::vector<std::int64_t> primary, matched;  ///< numbers of jobs
  double gain = 0;
};

class VirtualMachine {
 public:
  VirtualMachine(const Workload& workload, const Rules& rules, std::vector<JobState>& jobs)
      : workload_(workload), rules_(rules), jobs_(jobs) {}

  Time clock = 0;  ///< of this machine
  Time now = 0;    ///< real time, in which budgets are kept
  /// Nodes that jobs of other machines hold, and until when by this clock.
  std::map<int, Time> guests;

  void submit(std::size_t job);
  void ended(std::size_t job);
  /// All waiting jobs are removed from the plan and put back in the order of their planned starts.
  void compress();
  void pass();
  /// The next planned start after now by this clock.
  [[nodiscard]] Time next_planned_start() const;

  [[nodiscard]] const std::vector<std::size_t>& waiting() const { return waiting_; }
  [[nodiscard]] const std::vector<Group>& running() const { return running_; }
  /// For guests: whether that many nodes stay free until then by this clock.
  [[nodiscard]] bool keeps_free(int nodes, Time until) const;
  /// Starts a waiting job alone at PPN_ssp on the lowest of these nodes that are free, if that delays no other job.
  [[nodiscard]] bool start_as_guest(std::size_t job, const std::vector<int>& nodes);

  std::vector<std::size_t> started;  ///< in this order
  std::vector<FormedGroup> formed;

 private:
  struct Outlook {
    std::map<std::size_t, Time> starts;  ///< of waiting jobs
    std::map<std::size_t, Time> ends;    ///< of running and waiting jobs
  };

  [[nodiscard]] const Job& job(std::size_t index) const { return workload_.jobs[index]; }
  [[nodiscard]] Work left(std::size_t index) const;
  [[nodiscard]] Left left_of_all() const;
  [[nodiscard]] Time length(std::size_t index, int ppn) const;
  [[nodiscard]] std::vector<int> free_nodes() const;

  [[nodiscard]] Plan busy(const std::vector<Group>& running, std::map<std::size_t, Time>& ends) const;
  [[nodiscard]] Plan plan_without(std::size_t waiting) const;
  [[nodiscard]] Outlook outlook(const std::vector<Group>& running, std::vector<std::size_t> waiting) const;
  [[nodiscard]] Outlook present() const;
  [[nodiscard]] bool has_hole_now(std::size_t index, int ppn) const;
  [[nodiscard]] bool is_fair(const Outlook& then) const;

  [[nodiscard]] bool try_start(std::size_t index, bool is_head);
  [[nodiscard]] bool start_alone(std::size_t index, int ppn);
  [[nodiscard]] bool all_fit_at_one(std::size_t index) const;
  [[nodiscard]] bool join(std::size_t index);
  struct Choice {
    int way = 0;
    Proposal proposal;
  };
  [[nodiscard]] std::optional<Choice> best_choice(std::size_t index, bool is_head) const;
  [[nodiscard]] std::optional<Proposal> fair_one(const Search& search) const;
  [[nodiscard]] Search search(const Unit& primary) const;
  [[nodiscard]] Unit waiting_unit(std::size_t index) const;
  [[nodiscard]] std::vector<Unit> waiting_units_but(std::size_t index) const;
  [[nodiscard]] std::vector<Unit> running_units(int job_class) const;
  [[nodiscard]] Time delay(const Unit& unit) const;
  [[nodiscard]] bool can_start(const Group& group) const;
  [[nodiscard]] Group placed(Group group) const;
  void enter(const Group& group);
  void begin(std::size_t index, const Unit& unit);
  [[nodiscard]] std::vector<Group> running_without(const Group& group) const;

  const Workload& workload_;
  const Rules& rules_;
  std::vector<JobState>& jobs_;
  std::vector<std::size_t> waiting_;  // by (submit, number)
  std::vector<Group> running_;
};

}  // namespace replay::oracle::sharing
