// A shared object that uses all actions of a policy besides starting: it shrinks, expands, suspends, resumes, kills,
// wakes itself and writes notes, as its parameter `does` says, each at the first opportunity.

#include <replay_policy.hpp>

namespace {

using namespace replay_policy;

class Sharing final : public Policy {
 public:
  explicit Sharing(Parameters& parameters) : does_(parameters.text("does", "shrink")) {}

  void decide(const View& view, Answer& answer) override {
    if (view.running().empty()) {
      for (const Job* job : view.waiting())
        if (answer.cores_if_started(*job) > 0) answer.start(*job);
      return;
    }
    const Running& first = *view.running()[0];
    if (view.waiting().empty()) {
      if (first.suspended != 0 && view.running().size() == 1) answer.resume(first);
      if (first.suspended == 0 && first.mpl > 1 && answer.cores_if_resized(first, 1) > 0) answer.resize(first, 1);
      return;
    }
    const Job& next = *view.waiting()[0];
    if (answer.cores_if_started(next) < 0) make_room(first, view, answer);
    if (answer.cores_if_started(next) > 0) answer.start(next);
  }

  int32_t free_until(const View& view, int64_t) const override { return view.free() / 2; }
  int32_t may_start_now(const View&, const Job&) const override { return 0; }

 private:
  void make_room(const Running& first, const View& view, Answer& answer) {
    answer.note("making room: " + does_);
    if (does_ == "shrink" && first.malleable != 0) answer.resize(first, 2);
    if (does_ == "suspend") answer.suspend(first);
    if (does_ == "kill") answer.kill(first);
    if (does_ == "wake") answer.wake_at(view.now_us() + 1000000);
  }

  std::string does_;
};

}  // namespace

REPLAY_POLICY(Sharing)
