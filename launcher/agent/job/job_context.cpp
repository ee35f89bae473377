#include "launcher/agent/job/job_context.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "scheduler/base/file/unique_fd.hpp"

namespace replay::launcher {
namespace {

/// That of a job on several nodes is the same on all.
JobKey key_of(const protocol::LaunchJob& order) {
  JobKey key = new_key();
  if (order.is_on_several_nodes()) std::ranges::copy_n(order.key.begin(), std::ssize(key), key.begin());
  return key;
}

}  // namespace

JobContext::JobContext(const AgentSite& agent_site, protocol::LaunchJob launch_order, JobRanks::OnExit on_rank_exit)
    : site(agent_site),
      order(std::move(launch_order)),
      key(key_of(order)),
      ranks(site, order.job, order.core_of_rank, order.first_rank(), std::move(on_rank_exit)),
      processes(site, order.job, to_hex(key), order.first_rank()) {}

void JobContext::note_begin() {
  if (!std::exchange(has_begun, true)) site.report(protocol::JobBegun{id()});
}

void JobContext::note(const std::string& text) const {
  site.report(protocol::JobNoted{id(), text});
  const std::string line = text + "\n";
  const std::filesystem::path file = std::filesystem::path{order.directory} / "notes";
  constexpr int kAppends = O_WRONLY | O_CREAT | O_APPEND;
  // The job can have put anything there: a pipe is not waited for, a link not followed.
  const UniqueFd fd{::open(file.c_str(), kAppends | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666)};
  struct stat status {};
  if (fd.is_open() && ::fstat(fd.get(), &status) == 0 && S_ISREG(status.st_mode))
    (void)!::write(fd.get(), line.data(), line.size());
}

}  // namespace replay::launcher
