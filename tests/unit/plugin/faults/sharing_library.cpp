// A shared object that uses all actions of a policy besides starting: it shrinks, expands, suspends, resumes, kills,
// wakes itself and writes notes, as its parameter `does` says, each at the first opportunity.

#include <replay_policy.hpp>
#include <sstream>

namespace {

using namespace replay_policy;

class Sharing final : public Policy {
 public:
  explicit Sharing(Parameters& parameters) : does_(parameters.text("does", "shrink")) {}

  void decide(const View& view, Answer& answer) override {
    if (does_ == "tell" || does_ == "size") return tell(view, answer);
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
  // Tells of each job when it first waits and when it first runs, and starts those that fit.
  void tell(const View& view, Answer& answer) {
    if (view.layout().job < sizeof(Job) || view.layout().view < sizeof(replay_view)) answer.note("a smaller view");
    for (const Running* running : view.running())
      if (running->job->id > last_running_) {
        last_running_ = running->job->id;
        answer.note(text("job ", last_running_, " runs with ", running->processes, " processes"));
      }
    for (const Job* job : view.waiting())
      if (job->id > last_waiting_) {
        last_waiting_ = job->id;
        answer.note(text("job ", job->id, ": ", does_ == "tell" ? declared(job->declaration) : sizes(*job, answer)));
      }
    for (const Job* job : view.waiting()) start(*job, answer);
  }

  void start(const Job& job, Answer& answer) const {
    if (does_ == "tell" ? answer.cores_if_started(job) < 0 : answer.fastest_size(job, answer.free()) == 0) return;
    if (does_ == "tell")
      answer.start(job);
    else
      answer.start_with(job, answer.fastest_size(job, answer.free()));
  }

  static std::string declared(const Declaration* told) {
    if (told == nullptr) return "nothing";
    std::string sizes, parameters;
    for (uint64_t i = 0; i < told->size_count; ++i) sizes += text(i == 0 ? "" : "|", told->sizes[i]);
    for (const double parameter : told->speedup_parameters)
      parameters += text(parameters.empty() ? "" : " ", parameter);
    return text(told->least, "..", told->most, " of ", sizes, ", law ", told->speedup, " (", parameters,
                "), slowdowns ", told->same_cpu_slowdown, " ", told->same_node_slowdown,
                told->has_pair_key != 0 ? text(", key ", told->pair_key) : ", no key");
  }

  static std::string sizes(const Job& job, const Answer& answer) {
    const auto at = [&](int32_t size) { return answer.estimate_us(job, size); };
    return text("largest ", answer.largest_size(job, 1000), ", fastest ", answer.fastest_size(job, 1000),
                ", of 2: ", answer.largest_size(job, 2), ", of 1: ", answer.fastest_size(job, 1), "; at 2 ", at(2),
                ", 4 ", at(4), ", 8 ", at(8), ", 16 ", at(16), " us; cores ", answer.cores_if_started_with(job, 3), " ",
                answer.cores_if_started_with(job, 4));
  }

  template <typename... Part>
  static std::string text(const Part&... part) {
    std::ostringstream out;
    (out << ... << part);
    return out.str();
  }

  void make_room(const Running& first, const View& view, Answer& answer) {
    answer.note("making room: " + does_);
    if (does_ == "shrink" && first.malleable != 0) answer.resize(first, 2);
    if (does_ == "suspend") answer.suspend(first);
    if (does_ == "kill") answer.kill(first);
    if (does_ == "wake") answer.wake_at(view.now_us() + 1000000);
  }

  std::string does_;
  int64_t last_waiting_ = 0, last_running_ = 0;
};

}  // namespace

REPLAY_POLICY(Sharing)
