// Small jobs first, with a shadow as in EASY: the job that has waited longest holds a reservation, and the others start
// by size, unless one would delay it. Parameter: by=processes|estimate, what "small" means.

#include <algorithm>
#include <replay_policy.hpp>
#include <tuple>

namespace {

using namespace replay_policy;

class SmallFirst final : public Policy {
 public:
  explicit SmallFirst(Parameters& parameters) : by_(parameters.text("by", "processes")) {
    if (by_ != "processes" && by_ != "estimate")
      throw std::invalid_argument("parameter 'by': expected processes or estimate, found '" + by_ + "'");
  }

  void decide(const View& view, Answer& answer) override {
    if (view.waiting().empty()) return;
    const Job& oldest = *view.waiting()[0];
    shadow_us_ = REPLAY_POLICY_NEVER;
    if (oldest.processes <= answer.free())
      answer.start(oldest);
    else
      reserve(oldest, view);

    order_.assign(view.waiting().begin() + 1, view.waiting().end());
    std::sort(order_.begin(), order_.end(), [this](const Job* a, const Job* b) { return key(*a) < key(*b); });
    for (const Job* job : order_) {
      const bool ends_before = view.now_us() + job->estimate_us <= shadow_us_;
      if (job->processes > answer.free() || (!ends_before && job->processes > extra_)) continue;
      answer.start(*job);
      if (!ends_before) extra_ -= job->processes;
    }
  }

 private:
  struct Release {
    int64_t at_us;
    int32_t cores;
  };

  std::tuple<int64_t, int64_t, int64_t> key(const Job& job) const {
    return {by_ == "estimate" ? job.estimate_us : job.processes, job.submitted_us, job.id};
  }

  // The shadow time: when by the estimates enough running jobs have ended. Then `extra_` cores are left beside the job.
  void reserve(const Job& job, const View& view) {
    releases_.clear();
    for (const Running* running : view.running())
      if (running->suspended == 0) releases_.push_back({running->estimated_end_us, running->cores});
    std::sort(releases_.begin(), releases_.end(), [](const Release& a, const Release& b) { return a.at_us < b.at_us; });
    extra_ = view.free() - job.processes;
    for (const Release& release : releases_) {
      if (extra_ >= 0 && release.at_us > shadow_us_) break;  // all that end at the shadow time count
      extra_ += release.cores;
      shadow_us_ = release.at_us;
    }
  }

  std::string by_;
  std::vector<const Job*> order_;
  std::vector<Release> releases_;
  int64_t shadow_us_ = REPLAY_POLICY_NEVER;
  int32_t extra_ = 0;
};

}  // namespace

REPLAY_POLICY(SmallFirst)
