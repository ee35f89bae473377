// The oracle of slack. At each instant: ends, then remove() if one came before its estimate or a job has left the queue;
// an insert() for each submission; ticks; planned starts. Where an estimate has grown, plan_again() instead of remove().
#include "tests/oracle/slack.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/oracle/plan.hpp"
#include "tests/oracle/rigid_run.hpp"

namespace replay::oracle {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

double seconds(Time t) { return static_cast<double>(t) / 1e6; }

bool is_beyond_quota(const Job& job) { return job.political_priority == -kInfinite; }

struct PricedJob {
  std::size_t index;  // in the workload
  const Job* job;
  Time planned = 0;
  Time slack = 0;  // kNever: without bound
  Time first_slack = 0;
  double priority = 0;
};

// The job for which others make room.
struct Favoured {
  double priority = 0.5;  // remove() favours no job, so all costs have the same divisor
  bool is_beyond_quota = false;
};

// A candidate schedule: the planned starts of the waiting jobs, and its price.
struct Choice {
  double price = 0;
  int moved = 0;
  Time at = 0;                // insert: the planned start of the new job
  std::vector<Time> planned;  // of each waiting job
};

bool about_equal(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b)); }

// At equal price, the one that starts jobs earlier, then the one that moves fewer.
bool starts_cheaper(const Choice& a, const Choice& b) {
  const auto rank = [](const Choice& choice) {
    return std::pair{std::accumulate(choice.planned.begin(), choice.planned.end(), Time{0}), choice.moved};
  };
  return about_equal(a.price, b.price) ? rank(a) < rank(b) : a.price < b.price;
}

// At equal price, the one that moves fewer, then the one that starts the new job earlier.
bool is_cheaper(const Choice& a, const Choice& b) {
  return about_equal(a.price, b.price) ? std::pair{a.moved, a.at} < std::pair{b.moved, b.at} : a.price < b.price;
}

class SlackRun {
 public:
  SlackRun(const Workload& workload, const Slack& rules, std::vector<Time>& promises)
      : rules_(rules), run_(workload), promises_(promises) {
    promises_.assign(workload.jobs.size(), kNever);
  }

  Schedule all() {
    return run_.run(PassRule::kInstant, [&](const Happened& happened) {
      const auto has_left = [&](const PricedJob& w) { return std::ranges::count(happened.left, w.index) > 0; };
      const bool some_left = std::erase_if(waiting_, has_left) > 0;
      if (happened.is_longer || happened.is_late || happened.nodes_changed)
        plan_again();
      else if (some_left || std::ranges::any_of(happened.ended, &Happened::End::early))
        remove();
      for (const std::size_t job : std::vector<std::size_t>(run_.waiting()))
        if (std::ranges::count(happened.submitted, job) > 0) insert(job);
      for (const std::size_t job : happened.at_estimate) tick(job);
      start_those_with_cores();
      Time next = kNever;
      for (const PricedJob& w : waiting_) next = std::min(next, w.planned);
      return next;
    });
  }

 private:
  // Skips a job that is due on the cores of one that has just reached its estimate: the tick comes first.
  void start_those_with_cores() {
    for (const std::size_t next : std::vector<std::size_t>(run_.waiting()))
      std::erase_if(waiting_, [&](const PricedJob& w) {
        if (w.index != next || w.planned != run_.now() || w.job->processes > run_.idle_cores()) return false;
        run_.start(w.index);
        return true;
      });
  }

  static void add(Plan& profile, const PricedJob& w, Time at) {
    profile.put(w.job->processes, at, at + w.job->estimate());
  }

  // ------------------------------------------------------------------------------------------------------- prices

  [[nodiscard]] double average_wait(const Job& job) const {
    std::size_t i = 0;
    for (int most = 1; most < job.processes; most *= 2) ++i;
    return rules_.average_wait[std::min(i, rules_.average_wait.size() - 1)];
  }

  [[nodiscard]] static double priority_of(const Job& job, double scheduler_priority) {
    if (is_beyond_quota(job)) return 0;
    return (job.user_priority + job.political_priority + scheduler_priority) / 3;
  }

  [[nodiscard]] Time first_slack(const Job& job, double priority) const {
    if (rules_.slack_factor == 0) return 0;
    if (is_beyond_quota(job)) return kNever;
    return static_cast<Time>(std::llround((1 - priority) * rules_.slack_factor * average_wait(job) * 1e6));
  }

  // The weight of a delay on the job's processors.
  [[nodiscard]] double weight(const Job& job, Time delay) const {
    if (delay == 0) return 0;
    return std::pow(job.processes, rules_.alpha_u) * std::pow(seconds(delay), rules_.alpha_t);
  }

  [[nodiscard]] double cost(const PricedJob& w, Time delay, const Favoured& favoured) const {
    if (delay == 0) return 0;
    if (delay > 0 && delay > w.slack) return kInfinite;
    if (is_beyond_quota(*w.job)) return 0;
    if (favoured.is_beyond_quota && delay > 0) return kInfinite;
    const double used = std::max(seconds(w.first_slack), 1.0) / std::max(seconds(w.slack), 1.0);
    const double favour = favoured.is_beyond_quota ? 1 : w.priority / favoured.priority;
    const double price = weight(*w.job, std::abs(delay)) * std::pow(favour, rules_.alpha_p) *
                         std::pow(used, rules_.alpha_p * rules_.alpha_f);
    return delay > 0 ? price : -price;
  }

  // ------------------------------------------------------------------------------------------------------- orders

  // The orders in which the heuristic places the jobs at these positions of the queue.
  [[nodiscard]] std::vector<std::vector<std::size_t>> orders(std::vector<std::size_t> who,
                                                             const Favoured& favoured) const {
    const auto by = [&](auto key) {
      std::ranges::sort(who, {}, [&](std::size_t i) {
        const PricedJob& w = waiting_[i];
        return std::pair{key(w), w.job->number};
      });
    };
    switch (rules_.heuristic) {
      case Heuristic::kArrival: by([](const PricedJob& w) { return w.job->submit; }); break;
      case Heuristic::kUtilisation:
        by([](const PricedJob& w) {
          return std::tuple{-w.job->processes * w.job->estimate(), w.planned, w.job->submit};
        });
        break;
      case Heuristic::kCost:
        by([&](const PricedJob& w) { return std::tuple{-cost(w, kSecond, favoured), w.planned, w.job->submit}; });
        break;
      case Heuristic::kPriority: by([](const PricedJob& w) { return std::pair{-w.priority, w.job->submit}; }); break;
      case Heuristic::kScheduledTime:
      case Heuristic::kAll: by([](const PricedJob& w) { return std::pair{w.planned, w.job->submit}; }); break;
    }
    if (rules_.heuristic != Heuristic::kAll || who.size() > 6) return {who};
    std::vector<std::size_t> places(who.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    std::vector<std::vector<std::size_t>> all;
    do {
      std::vector<std::size_t> order;
      for (const std::size_t place : places) order.push_back(who[place]);
      all.push_back(order);
    } while (std::ranges::next_permutation(places).found);
    return all;
  }

  [[nodiscard]] std::vector<std::size_t> planned_from(Time at) const {
    std::vector<std::size_t> who;
    for (std::size_t i = 0; i < waiting_.size(); ++i)
      if (waiting_[i].planned >= at) who.push_back(i);
    return who;
  }
  [[nodiscard]] std::vector<Time> plan() const {
    std::vector<Time> planned;
    for (const PricedJob& w : waiting_) planned.push_back(w.planned);
    return planned;
  }

  // ----------------------------------------------------------------------------------------------------- searches

  // Places the jobs of `order` in the profile, one after the other; nothing if one would be delayed beyond its slack.
  [[nodiscard]] std::optional<Choice> made_room(Plan profile, Choice choice, const std::vector<std::size_t>& order,
                                                const Favoured& favoured) const {
    for (const std::size_t i : order) {
      const PricedJob& w = waiting_[i];
      const Time at = profile.earliest(w.job->processes, run_.now(), w.job->estimate());
      const double more = cost(w, at - w.planned, favoured);
      if (more == kInfinite) return std::nullopt;
      choice.price += more;
      choice.moved += at != w.planned ? 1 : 0;
      choice.planned[i] = at;
      add(profile, w, at);
    }
    return choice;
  }

  void insert(std::size_t index) {
    const Job& job = run_.job(index);
    const int n = job.processes;
    const Time t = job.estimate();
    const Time now = run_.now();
    const Favoured favoured{priority_of(job, 0.5), is_beyond_quota(job)};

    Plan full = run_.plan_of_running();
    full.put(0, now, now);
    for (const PricedJob& w : waiting_) add(full, w, w.planned);

    Choice best{.at = full.earliest(n, now, t), .planned = plan()};
    best.price = weight(job, best.at - now);
    for (const Time at : full.instants()) {
      Plan base = run_.plan_of_running();
      for (const PricedJob& w : waiting_)
        if (w.planned < at) add(base, w, w.planned);
      if (!base.fits(n, at, t)) continue;
      base.put(n, at, at + t);
      for (const auto& order : orders(planned_from(at), favoured)) {
        const auto choice =
            made_room(base, {.price = weight(job, at - now), .at = at, .planned = plan()}, order, favoured);
        if (choice && is_cheaper(*choice, best)) best = *choice;
      }
    }

    apply(best);
    PricedJob w{index, &job, best.at};
    const double wait_share = seconds(best.at - now) / (2 * average_wait(job));
    w.priority = priority_of(job, std::min(wait_share, 1.0));
    w.first_slack = w.slack = first_slack(job, w.priority);
    if (w.slack != kNever) promises_[index] = w.planned + w.slack;
    waiting_.push_back(w);
    start_those_with_cores();
  }

  void apply(const Choice& choice) {
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      PricedJob& w = waiting_[i];
      const Time delay = choice.planned[i] - w.planned;
      w.planned = choice.planned[i];
      if (w.slack == kNever || (rules_.slack_factor == 0 && delay < 0)) continue;
      w.slack -= delay;
    }
  }

  void remove() {
    std::vector<Time> instants = plan();
    std::ranges::sort(instants);
    instants.erase(std::ranges::unique(instants).begin(), instants.end());
    if (instants.empty()) return;
    std::optional<Choice> best;
    if (rules_.slack_factor == 0) {
      instants.resize(1);  // the full compression at any price
    } else {
      best = Choice{.planned = plan()};
    }
    for (const Time from : instants) {
      for (const auto& order : orders(planned_from(from), {})) {
        Choice choice{.planned = plan()};
        for (const std::size_t i : order) {
          const PricedJob& w = waiting_[i];
          Plan profile = run_.plan_of_running();
          for (std::size_t k = 0; k < waiting_.size(); ++k)
            if (k != i) add(profile, waiting_[k], choice.planned[k]);
          choice.planned[i] = profile.earliest(w.job->processes, run_.now(), w.job->estimate());
          choice.price += cost(w, choice.planned[i] - w.planned, {});
          choice.moved += choice.planned[i] != w.planned ? 1 : 0;
        }
        if (!best || starts_cheaper(choice, *best)) best = choice;
      }
    }
    apply(*best);
  }

  // "Planned anew in the order of their planned starts; what that delays them is taken off their slack."
  void plan_again() {
    std::ranges::sort(waiting_, {}, [](const PricedJob& w) {
      return std::tuple{w.planned, w.job->submit, w.job->number};
    });
    Plan profile = run_.plan_of_running();
    Choice again;
    for (const PricedJob& w : waiting_) {
      again.planned.push_back(profile.earliest(w.job->processes, run_.now(), w.job->estimate()));
      add(profile, w, again.planned.back());
    }
    apply(again);
  }

  // Section 4.7: a job at its estimate goes on if the price of that for the others is lower than the price of its loss.
  void tick(std::size_t index) {
    const Job& job = run_.job(index);
    const Time more = std::max(job.estimate() / 10, kSecond);
    const Favoured favoured{priority_of(job, 0.5), is_beyond_quota(job)};
    Plan base = run_.plan_of_running();
    std::optional<Choice> best;
    if (base.fits(job.processes, run_.now(), more)) {
      base.put(job.processes, run_.now(), run_.now() + more);
      for (const auto& order : orders(planned_from(run_.now()), favoured)) {
        const auto choice = made_room(base, {.price = weight(job, 0), .planned = plan()}, order, favoured);
        if (choice && (!best || is_cheaper(*choice, *best))) best = choice;
      }
    }
    if (best && best->price < weight(job, job.estimate())) {
      apply(*best);
      run_.extend(index, more);
    } else {
      run_.kill(index);
    }
  }

  const Slack& rules_;
  RigidRun run_;
  std::vector<Time>& promises_;
  std::vector<PricedJob> waiting_;
};

}  // namespace

Schedule slack(const Workload& workload, const Slack& rules, std::vector<Time>* promises) {
  std::vector<Time> unasked;
  return SlackRun{workload, rules, promises == nullptr ? unasked : *promises}.all();
}

}  // namespace replay::oracle
