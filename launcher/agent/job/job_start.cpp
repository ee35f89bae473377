#include "launcher/agent/job/job_start.hpp"

#include <fmt/format.h>

#include <system_error>

#include "scheduler/base/process/limit_of_processes.hpp"
#include "scheduler/base/process/process.hpp"

namespace replay::launcher {
namespace {

using std::chrono_literals::operator""ms;

constexpr auto kBetweenLooks = 20ms;
constexpr auto kProgressWithin = 300ms;  // a proxy starts a rank in 1 ms

}  // namespace

JobStart::JobStart(JobContext& job, JobEnding& ending)
    : job_(job), ending_(ending), look_timer_(job.site.loop, -1, 0, [this] { look(); }) {}

void JobStart::begin() {
  progressed_ = tried_ = std::chrono::steady_clock::now();
  look_timer_.arm_after(kBetweenLooks);
}

void JobStart::look() {
  if (job_.has_begun || ending_.is_to_end()) return stop();
  const auto proxy = job_.processes.proxy();
  const std::size_t before = job_.seen_ranks.size();
  if (proxy)
    for (const pid_t rank : children_of(proxy->pid())) job_.seen_ranks.insert(rank);  // exited ones, too
  if (job_.seen_ranks.size() >= job_.ranks.size() || job_.ranks.have_all_registered()) {
    stop();
    return job_.note_begin();
  }
  look_timer_.arm_after(kBetweenLooks);
  const auto now = std::chrono::steady_clock::now();
  if (job_.processes.is_hydra_stopped()) job_.stopped = now;
  if (!proxy || job_.seen_ranks.size() > before || job_.stopped == now) progressed_ = tried_ = now;
  if (now - tried_ < kProgressWithin) return;
  tried_ = now;
  if (const int error = why_no_processes(1); error != 0)
    return give_up(fmt::format("and no process can be made: {}", std::generic_category().message(error)));
  const auto stat = read_stat(proxy->pid());
  if (now - progressed_ >= job_.site.registration_limit && stat && stat->faults_of_children == 0)  // none has left
    give_up("and none of the others for long");
}

void JobStart::give_up(const std::string& why) {
  ending_.break_off_unstarted(fmt::format("Hydra's proxy has started {} of {} ranks, {}; {}", job_.seen_ranks.size(),
                                          job_.ranks.size(), why, kLimitOfProcesses));
}

}  // namespace replay::launcher
