#include "scheduler/audit/audit.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "scheduler/audit/rule.hpp"
#include "scheduler/audit/state.hpp"
#include "scheduler/base/error.hpp"

namespace replay::audit {
namespace {

constexpr std::size_t kInstantsBetweenProgress = 1024;

// Jobs in the order of one of their instants, with the position of the audit.
class Calendar {
 public:
  Calendar(const std::vector<Job>& jobs, Instant Job::*instant) : jobs_(jobs), instant_(instant) {
    for (Index i = 0; i < jobs.size(); ++i)
      if (jobs[i].*instant != kNever) order_.push_back(i);
    std::ranges::stable_sort(order_, {}, [&](Index i) { return jobs_[i].*instant_; });
  }

  [[nodiscard]] Instant next() const { return next_ < order_.size() ? jobs_[order_[next_]].*instant_ : kNever; }
  /// The jobs of `now`, each only once.
  [[nodiscard]] std::vector<Index> take(Instant now) {
    std::vector<Index> taken;
    while (next() == now) taken.push_back(order_[next_++]);
    return taken;
  }

 private:
  const std::vector<Job>& jobs_;
  Instant Job::*instant_;
  std::vector<Index> order_;
  std::size_t next_ = 0;
};

// By arrival: submit time, then number; the file's order decides between equal ones.
std::vector<std::size_t> arrival_order(const std::vector<Job>& jobs) {
  std::vector<std::size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return std::pair{jobs[i].submitted, jobs[i].number}; });
  return order;
}

std::vector<Job> in_order(const std::vector<Job>& jobs, const std::vector<std::size_t>& order) {
  std::vector<Job> sorted;
  sorted.reserve(jobs.size());
  for (const std::size_t i : order) sorted.push_back(jobs[i]);
  return sorted;
}

std::unique_ptr<Rule> make_rule(State& state, const Options& options) {
  switch (options.rule) {
    case RuleName::kFcfs: return make_fcfs(state);
    case RuleName::kEasy: return make_easy(state, options.pass);
    case RuleName::kConservative: return make_conservative(state, options.compress, options.compress_at);
  }
  return nullptr;
}

std::string backfills(const Decision& decision, const State& state) {
  const std::string job =
      fmt::format("head job {} (shadow time {} s)", state.job(decision.head).name, to_text(decision.shadow));
  if (decision.ground == Ground::kEndsInTime) return "it ends before the shadow time of " + job;
  return fmt::format("it fits into the {} extra nodes beside {}", decision.extra, job);
}

std::string why(const Decision& decision, const State& state) {
  const std::string needs =
      fmt::format("it needs {}, {} free", processors(state.job(decision.job).processors), decision.free);
  switch (decision.ground) {
    case Ground::kHead: return needs + ", and no job is before it in the queue";
    case Ground::kPlanned:
      return fmt::format("its planned start has come; promised for {} s", to_text(decision.promised));
    case Ground::kEndsInTime:
    case Ground::kExtraNodes: return needs + ", and " + backfills(decision, state);
  }
  return {};
}

class Auditor {
 public:
  Auditor(const Schedule& schedule, const Options& options)
      : options_(options),
        order_(arrival_order(schedule.jobs)),
        jobs_(in_order(schedule.jobs, order_)),
        state_(jobs_, options.machine_size),
        rule_(make_rule(state_, options)),
        submissions_(jobs_, &Job::submitted),
        starts_(jobs_, &Job::started),
        ends_(jobs_, &Job::ended),
        leaves_(jobs_, &Job::left),
        start_order_(jobs_.size(), 0),
        marks_(jobs_.size()) {}

  Report run() {
    std::size_t turn = 0;
    while (next_event() != kNever) {
      replay(std::min(next_event(), rule_->next_start()));
      if (++turn % kInstantsBetweenProgress == 0 && options_.progress) options_.progress(report_.jobs);
    }
    for (Finding& finding : report_.first) finding.job = static_cast<Index>(order_[finding.job]);
    report_.never_started = static_cast<std::size_t>(std::ranges::count(jobs_, kNever, &Job::started));
    report_.overran = static_cast<std::size_t>(std::ranges::count_if(jobs_, [](const Job& job) {
      return job.started != kNever && job.ended != kNever &&
             job.ended - std::min(job.started, job.since) > job.estimate;
    }));
    return std::move(report_);
  }

 private:
  struct Marks {
    bool decided = false;      // the rule starts it at this instant
    bool is_accepted = false;  // it starts later than the rule says, within the tolerance
    bool is_late = false;      // there is a finding that it did not start when it had to
    bool has_finding = false;
  };

  [[nodiscard]] Instant next_event() const {
    return std::min({submissions_.next(), starts_.next(), ends_.next(), leaves_.next()});
  }
  // The schedule ends here: it is unknown whether the job would have started now.
  [[nodiscard]] bool waits_to_the_end(Index i) const {
    return jobs_[i].started == kNever && jobs_[i].left == kNever && next_event() == kNever;
  }

  // Replays one instant: the events of the schedule, the decisions of the rule, and their differences.
  void replay(Instant now) {
    state_.advance_to(now);
    rule_->advance();
    decisions_.clear();
    std::vector<Index> started = starts_.take(now);
    take_over(started);
    const std::vector<Index> came = that_came(now);
    const std::vector<Index> ended = that_ended(now);
    const std::vector<Index> left = that_left(now);
    if (options_.pass == Pass::kEvent)
      ask_after_each(came, ended, left);
    else
      ask_once(came, ended, left);
    if (!started.empty() || (came.empty() && ended.empty() && left.empty())) ask();  // or nothing but a planned start
    end_those_without_run_time();
    compare(started);
  }

  // Those that another scheduler has started hold their processors before anything is decided.
  void take_over(std::vector<Index>& started) {
    const auto of_others = std::ranges::stable_partition(started, [&](Index i) { return jobs_[i].since == kNever; });
    if (of_others.empty()) return;
    const std::vector<Index> adopted(of_others.begin(), of_others.end());
    started.erase(of_others.begin(), of_others.end());
    for (const Index i : adopted) {
      if (is_too_wide(i) || !needs_time(i)) continue;
      state_.start(i);
      start_order_[i] = ++starts_seen_;
      in_use_ += jobs_[i].processors;
    }
    rule_->follow({}, adopted);
  }

  std::vector<Index> that_came(Instant now) {
    std::vector<Index> came = submissions_.take(now);
    std::erase_if(came, [&](Index i) {
      return is_too_wide(i) || jobs_[i].since != kNever || jobs_[i].started < now || jobs_[i].left == now;
    });
    return came;
  }
  // Without those that ended as soon as they started.
  std::vector<Index> that_ended(Instant now) {
    std::vector<Index> ended = ends_.take(now);
    std::erase_if(ended, [&](Index i) { return !state_.is_running(i); });
    std::ranges::sort(ended, {}, [&](Index i) { return std::pair{jobs_[i].killed, start_order_[i]}; });
    for (const Index i : ended)
      if (jobs_[i].started < now) in_use_ -= jobs_[i].processors;
    return ended;
  }
  std::vector<Index> that_left(Instant now) {
    std::vector<Index> left = leaves_.take(now);
    std::erase_if(left, [&](Index i) {
      return is_too_wide(i) || jobs_[i].started != kNever || jobs_[i].submitted == now;  // it never waited
    });
    return left;
  }
  [[nodiscard]] bool is_too_wide(Index i) const { return jobs_[i].processors > state_.machine_size(); }

  void ask() { rule_->pass(decisions_); }

  // Jobs leave the queue before anything else of their instant (docs/formats/swf.md, a job that is taken back).
  void ask_after_each(const std::vector<Index>& came, const std::vector<Index>& ended, const std::vector<Index>& left) {
    for (const Index i : left) leave(i), ask();
    for (const Index i : came) {
      submit(i);
      if (rule_->asks_for_pass(i)) ask();
    }
    for (const Index i : ended) end(i), ask();
  }

  void ask_once(const std::vector<Index>& came, const std::vector<Index>& ended, const std::vector<Index>& left) {
    for (const Index i : left) leave(i);
    for (const Index i : ended) end(i);
    for (const Index i : came) submit(i);
    if (!came.empty() || !ended.empty() || !left.empty()) ask();
  }

  // Ends the jobs without run time that both rule and schedule start now: their ends are events as well.
  void end_those_without_run_time() {
    for (std::size_t seen = 0; seen < decisions_.size();) {
      const std::size_t until = decisions_.size();
      bool somebody_ended = false;
      for (; seen < until; ++seen) {
        const Index i = decisions_[seen].job;
        if (jobs_[i].started != state_.now() || jobs_[i].ended != state_.now()) continue;
        end(i);
        somebody_ended = true;
        if (options_.pass == Pass::kEvent) ask();
      }
      if (somebody_ended && options_.pass == Pass::kInstant) ask();
    }
  }

  void submit(Index i) {
    state_.wait(i);
    rule_->submitted(i);
  }
  void end(Index i) {
    state_.end(i);
    rule_->gone(i);
  }
  void leave(Index i) {
    state_.leave(i);
    rule_->gone(i);
  }

  // Finds the jobs that only the rule or only the schedule starts. Then sets the state to that of the schedule.
  void compare(const std::vector<Index>& started) {
    for (const Decision& decision : decisions_) marks_[decision.job].decided = true;
    const std::vector<Index> jumped = judge_starts(started);
    const bool somebody_is_late = judge_decisions();
    for (const Index i : jumped) {
      state_.leave(i);
      state_.start(i);
      start_order_[i] = ++starts_seen_;
    }
    if (somebody_is_late || !put_off_.empty() || !jumped.empty()) rule_->follow(put_off_, jumped);
  }

  // Returns the jobs that start although the rule does not start them.
  std::vector<Index> judge_starts(const std::vector<Index>& started) {
    report_.jobs += started.size();
    std::vector<Index> others;
    const CoreCount in_use_before = in_use_;
    for (const Index i : started)
      if (marks_[i].decided || marks_[i].is_accepted || state_.is_running(i))
        in_use_ += needs_time(i) ? jobs_[i].processors : CoreCount{0};
      else
        others.push_back(i);
    // A job without run time may have run before the others of this instant.
    for (const Index i : others) judge_start(i, needs_time(i) ? in_use_ : in_use_before);
    for (const Index i : others)
      if (!needs_time(i) && !is_too_wide(i)) leave(i);
    std::erase_if(others, [this](Index i) { return is_too_wide(i) || !needs_time(i); });  // the rule ignores these
    return others;
  }

  void judge_start(Index i, CoreCount in_use) {
    const Job& job = jobs_[i];
    const CoreCount all = state_.machine_size();
    if (is_too_wide(i)) {
      find(FindingKind::kTooManyProcessors, i, kNever,
           fmt::format("it has {}, the machine has {}", processors(job.processors), all));
      return;
    }
    if (job.started < job.submitted)
      find(FindingKind::kBeforeSubmission, i, job.submitted,
           fmt::format("it is submitted at {} s", to_text(job.submitted)));
    else if (in_use + job.processors > all)
      find(FindingKind::kTooManyProcessors, i, rule_->planned_start(i),
           fmt::format("it has {} beside {} in use, the machine has {}", processors(job.processors), in_use, all));
    else
      find(FindingKind::kAgainstRule, i, rule_->planned_start(i), rule_->why_not(i));
    if (needs_time(i)) in_use_ += job.processors;
  }

  // Collects in put_off_ the jobs that the rule starts and the schedule does not. Returns whether a job starts later,
  // within the tolerance.
  bool judge_decisions() {
    put_off_.clear();
    bool somebody_is_late = false;
    for (const Decision& decision : decisions_) {
      const Index i = decision.job;
      const Instant started = jobs_[i].started;
      marks_[i].decided = false;
      start_order_[i] = ++starts_seen_;
      if (started == state_.now()) continue;
      if (started != kNever && started - state_.now() <= options_.tolerance) {
        state_.set_started(i, started);
        marks_[i].is_accepted = true;
        somebody_is_late = true;
      } else {
        if (!waits_to_the_end(i)) judge_delay(decision);
        put_off_.push_back(i);
      }
    }
    for (const Index i : put_off_) state_.undo_start(i);
    return somebody_is_late;
  }

  void judge_delay(const Decision& decision) {
    if (std::exchange(marks_[decision.job].is_late, true)) return;
    const Instant started = jobs_[decision.job].started;
    const bool breaks_promise = decision.promised != kNever && started > decision.promised;
    find(breaks_promise ? FindingKind::kLaterThanGuarantee : FindingKind::kNotStarted, decision.job, state_.now(),
         why(decision, state_));
  }

  // False: it ended as soon as it started.
  [[nodiscard]] bool needs_time(Index i) const { return jobs_[i].ended != jobs_[i].started; }

  void find(FindingKind kind, Index i, Instant expected, std::string reason) {
    ++report_.findings[static_cast<std::size_t>(kind)];
    if (!std::exchange(marks_[i].has_finding, true)) ++report_.jobs_with_findings;
    if (report_.first.size() < options_.most_findings)
      report_.first.push_back({kind, i, state_.now(), expected, jobs_[i].started, std::move(reason)});
  }

  const Options& options_;
  std::vector<std::size_t> order_;  // of each job here: its place in the schedule
  std::vector<Job> jobs_;           // by arrival
  State state_;
  std::unique_ptr<Rule> rule_;
  Calendar submissions_, starts_, ends_, leaves_;
  std::vector<std::uint64_t> start_order_;  // of the jobs that have started
  std::vector<Marks> marks_;
  std::uint64_t starts_seen_ = 0;
  CoreCount in_use_ = 0;  // by the schedule; too wide jobs are not counted
  std::vector<Decision> decisions_;
  std::vector<Index> put_off_;
  Report report_;
};

}  // namespace

std::string_view to_text(FindingKind kind) {
  switch (kind) {
    case FindingKind::kNotStarted: return "not-started";
    case FindingKind::kLaterThanGuarantee: return "later-than-guarantee";
    case FindingKind::kAgainstRule: return "against-rule";
    case FindingKind::kBeforeSubmission: return "before-submission";
    case FindingKind::kTooManyProcessors: return "too-many-processors";
  }
  return "?";
}

std::size_t Report::total() const { return std::accumulate(findings.begin(), findings.end(), std::size_t{0}); }

Report audit(const Schedule& schedule, const Options& options) { return Auditor{schedule, options}.run(); }

}  // namespace replay::audit
