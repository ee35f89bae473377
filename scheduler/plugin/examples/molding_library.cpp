// Chooses sizes, as a shared object: in the order of the queue each job that fits starts at its fastest size that is
// free. It decides what the built-in `greedy-moldable` decides; a test checks that.

#include <replay_policy.hpp>

namespace {

class Molding final : public replay_policy::Policy {
 public:
  explicit Molding(replay_policy::Parameters&) {}

  void decide(const replay_policy::View& view, replay_policy::Answer& answer) override {
    for (const replay_policy::Job* job : view.waiting())
      if (const int32_t size = answer.fastest_size(*job, answer.free()); size > 0) answer.start_with(*job, size);
  }
};

}  // namespace

REPLAY_POLICY(Molding)
