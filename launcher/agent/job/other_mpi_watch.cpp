#include "launcher/agent/job/other_mpi_watch.hpp"

#include <algorithm>
#include <string>

#include "launcher/mpich/other_mpi.hpp"
#include "scheduler/base/process/process.hpp"
#include "scheduler/protocol/wire.h"

namespace replay::launcher {
namespace {

using std::chrono_literals::operator""ms;

constexpr auto kLongestBetweenLooks = 1000ms;

}  // namespace

OtherMpiWatch::OtherMpiWatch(JobContext& job, JobEnding& ending)
    : job_(job), ending_(ending), timer_(job.site.loop, -1, 0, [this] { look(); }) {}

void OtherMpiWatch::begin() {
  if (job_.ranks.size() > 1) timer_.arm_after(next_);
}

/// One rank is its own world under any mpiexec: nothing is wrong with it. Where ranks have registered the job's program is of
/// MPICH, and it has started a process of another MPI.
void OtherMpiWatch::on_start(pid_t pid) {
  if (job_.ranks.size() <= 1 || job_.ranks.registered() > 0) return;
  const Image image = image_of(pid);
  ending_.break_off(why_no_other_mpi(image.program.empty() ? "a process" : image.program,
                                     image.other_mpi.empty() ? "Open MPI" : image.other_mpi));
}

void OtherMpiWatch::look() {
  next_ = std::min<std::chrono::milliseconds>(2 * next_, kLongestBetweenLooks);
  timer_.arm_after(next_);
  if (job_.ranks.registered() > 0) return timer_.disarm();
  for (const Process& process : job_.processes.program()) {
    const Image image = image_of(process.pid());
    if (image.other_mpi.empty() || image.has_mpich) continue;
    const std::string environment = environment_of(process.pid());
    if (environment.empty() || process.is_gone()) continue;  // it ends, or starts a program: the next look tells
    if (value_in(environment, REPLAY_VM_ENV_OTHER_LAUNCHER)) continue;
    return ending_.break_off(why_no_other_mpi(image.program, image.other_mpi));
  }
}

}  // namespace replay::launcher
