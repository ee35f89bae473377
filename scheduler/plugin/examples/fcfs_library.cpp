// First come, first served, as a shared object: the smallest user-written policy. It decides what the built-in `fcfs`
// decides; a test checks that.

#include <replay_policy.hpp>

namespace {

class Fcfs final : public replay_policy::Policy {
 public:
  explicit Fcfs(replay_policy::Parameters&) {}

  void decide(const replay_policy::View& view, replay_policy::Answer& answer) override {
    for (const replay_policy::Job* job : view.waiting()) {
      if (job->processes > answer.free()) return;
      answer.start(*job);
    }
  }
};

}  // namespace

REPLAY_POLICY(Fcfs)
