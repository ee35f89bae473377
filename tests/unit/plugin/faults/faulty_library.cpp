// A shared object with a fault, chosen by its parameter `fault`, at its first pass or when it is made.

#include <csignal>
#include <fstream>
#include <replay_policy.hpp>

namespace {

using namespace replay_policy;

class Faulty final : public Policy {
 public:
  explicit Faulty(Parameters& parameters) : fault_(parameters.text("fault", "none")) {
    share_ = parameters.number("share", 0.5);
    runs_ = parameters.text("runs", "");
    if (fault_ == "constructor") throw std::runtime_error("no licence");
  }

  void decide(const View& view, Answer& answer) override {
    if (fault_ == "throws-in-second-run" || fault_ == "crashes-in-second-run") return fcfs_once(view, answer);
    const Job& head = *view.waiting()[0];
    if (fault_ == "throws") throw std::out_of_range("index 7");
    if (fault_ == "throws-a-number") throw 7;
    if (fault_ == "unknown-job") answer.start(unknown());
    if (fault_ == "too-much")
      for (const Job* job : view.waiting()) answer.start(*job);
    if (fault_ == "twice") {
      answer.start(head);
      answer.start(head);
    }
    if (fault_ == "mpl-0") answer.start(head, 0);
    if (fault_ == "past") answer.wake_at(view.now_us());
    if (fault_ == "first-of-two") {
      answer.start(unknown());
      answer.start(head, 0);
    }
  }

 private:
  // The first run leaves a file behind, because a real run is preceded by a simulated one.
  void fcfs_once(const View& view, Answer& answer) {
    if (passes_++ == 0) is_second_run_ = std::ifstream{runs_}.good();
    std::ofstream{runs_, std::ios::app} << "pass\n";
    if (is_second_run_ && passes_ > 1) {
      if (fault_ == "throws-in-second-run") throw std::runtime_error("tired of it");
      std::signal(SIGSEGV, SIG_DFL);  // also where a sanitizer has a handler of its own
      std::raise(SIGSEGV);
    }
    for (const Job* job : view.waiting())
      if (job->processes <= answer.free()) answer.start(*job);
  }

  static Job unknown() {
    Job job{};
    job.id = 4711;
    return job;
  }
  std::string fault_;
  std::string runs_;
  double share_ = 0;
  int passes_ = 0;
  bool is_second_run_ = false;
};

}  // namespace

REPLAY_POLICY(Faulty)
