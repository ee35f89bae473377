// One period of a service, from its start to its stop. What a run of a trace is made of (engine, agent, recorder, viewers)
// serves here too; its jobs come from the socket and from the journal.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/experiment/live_run.hpp"
#include "scheduler/experiment/past_run.hpp"
#include "scheduler/experiment/real_machine.hpp"
#include "scheduler/service/adoption.hpp"
#include "scheduler/service/board.hpp"
#include "scheduler/service/busy_door.hpp"
#include "scheduler/service/intake.hpp"
#include "scheduler/service/journal.hpp"
#include "scheduler/service/past_period.hpp"
#include "scheduler/service/service_folder.hpp"
#include "scheduler/service/service_lock.hpp"

namespace replay::service {

struct PeriodOptions {
  std::string folder;  ///< of the service
  experiment::RunSpec run;
  Duration default_limit = std::chrono::hours{1};  ///< of jobs that are submitted without one
  /// Why the period that has left its jobs cannot go on with the same options. Empty: it can, as far as is known.
  std::string why_not_again{};
};

class Period {
 public:
  /// Checks the options, makes nothing. `command_line`: for run.json. Throws UsageError, InputError.
  Period(PeriodOptions options, std::string command_line);
  Period(const Period&) = delete;
  Period& operator=(const Period&) = delete;
  ~Period();

  /// Takes the lock, starts the agent and opens journal and socket. `on_wait` is called if agents of the last service have
  /// to end first, with the options for which its jobs do not go on: on other hosts for as long as the lease says, if jobs ran when
  /// that service ended, here for as long as a process of them is there. False: a stop signal came meanwhile. `open_page` when
  /// the service has its lock: the address of its live page, empty if it has none.
  /// REQUIRES: a single thread, stop signals are heeded. Throws InputError.
  using OnWait = std::function<void(const std::string& why)>;
  [[nodiscard]] bool start(const OnWait& on_wait, const std::function<std::string()>& open_page);
  /// Runs jobs until a stop signal. `warn` gets what goes wrong meanwhile. REQUIRES: started. Once.
  [[nodiscard]] results::PolicyRun run(experiment::Viewers viewers,
                                       const std::function<void(const std::string&)>& warn);

  [[nodiscard]] const ServiceFolder& folder() const { return folder_; }
  [[nodiscard]] const experiment::RealMachine& machine() const { return machine_; }
  [[nodiscard]] const std::string& policy() const { return open_.policy.text; }

  // REQUIRES for each: started.
  [[nodiscard]] const std::filesystem::path& run_folder() const { return run_folder_; }
  /// What is odd about the past of the service, a line each.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  [[nodiscard]] const Recovered& recovered() const { return recovered_; }
  /// The jobs of the last service are still there, and its period goes on.
  [[nodiscard]] bool goes_on() const { return last_ && !is_adopting(); }
  /// The jobs of the last service are still there, and this is a new period, which begins with them: a line that says so.
  /// Empty: it is none.
  [[nodiscard]] const std::string& adopts() const { return adopts_; }
  [[nodiscard]] const Intake& intake() const { return *intake_; }
  [[nodiscard]] std::size_t waiting_in_journal() const { return journal_->waiting().size(); }
  [[nodiscard]] Duration lease() const { return options_.run.node.lease; }
  /// Three stop signals: the ends of some jobs were not waited for.
  [[nodiscard]] bool is_abandoned() const { return is_abandoned_; }

 private:
  [[nodiscard]] bool wait_for_agents_here(const OnWait& on_wait) const;
  [[nodiscard]] bool wait_for_old_agents(const OnWait& on_wait) const;
  [[nodiscard]] std::string why_not_the_last_one() const;
  void remove_socket();
  [[nodiscard]] IntakeOptions intake_options(std::string page);
  void note_past(const PastPeriod& past, std::int64_t last_job, Duration behind);
  [[nodiscard]] results::RunDescription description() const;

  /// The last period of the service, whose jobs it has left to the next one.
  struct LeftPeriod {
    std::filesystem::path folder;
    experiment::KeptRun run;
    std::string version{};  ///< of replay
    std::string policy{};
    std::string why_not_again{};  ///< its jobs are adopted; empty: it goes on
  };
  [[nodiscard]] std::optional<experiment::PastRun> last_kept_period() const;
  [[nodiscard]] std::optional<LeftPeriod> last_period_if_left() const;
  [[nodiscard]] bool is_adopting() const { return last_ && !last_->why_not_again.empty(); }
  [[nodiscard]] Adoption adopt(Instant now);

  PeriodOptions options_;
  std::string command_line_;
  ServiceFolder folder_;
  std::optional<LeftPeriod> last_;
  experiment::RealMachine machine_;
  experiment::OpenRun open_;
  std::optional<ServiceLock> lock_;
  std::unique_ptr<live::Executor> executor_;
  std::optional<Journal> journal_;
  std::optional<experiment::Keeping> kept_;
  UniqueFd socket_;
  bool has_socket_ = false;  // its file is there
  std::optional<BusyDoor> busy_;
  std::filesystem::path run_folder_;
  Board board_;
  std::optional<Intake> intake_;
  std::string adopts_;
  Recovered recovered_;
  std::vector<std::string> notes_;
  std::function<void()> save_log_;  // while there is one
  bool is_abandoned_ = false;
};

}  // namespace replay::service
