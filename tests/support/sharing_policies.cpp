#include "tests/support/sharing_policies.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace replay::test {
namespace {

std::optional<Allocation> beside_somebody(const FreeCores& free, const std::vector<Allocation>& running,
                                          ProcessCount processes) {
  for (const Allocation& other : running) {
    if (!other.shareable) continue;
    for (int mpl = 1; mpl <= 2; ++mpl)
      if (auto place = free.place_beside(other, processes, mpl)) return place;
  }
  return std::nullopt;
}

// The cores that are free in this pass, and the allocations on the others.
struct Room {
  FreeCores free;
  std::vector<Allocation> running;

  bool start(const Job& job, bool share, Decisions& out) {
    share = share && job.flexibility != Flexibility::kRigid;
    std::optional<Allocation> place = free.place(job.processes, 1);
    if (place) place->shareable = share;
    if (!place && share) place = beside_somebody(free, running, job.processes);
    if (!place) return false;
    free.take(*place);
    running.push_back(*place);
    out.emplace_back(Start{job.id, std::move(*place)});
    return true;
  }
};

}  // namespace

void Beside::decide(const ClusterView& view, Decisions& out) {
  Room room{view.free, {}};
  for (const RunningJob* job : view.running.by_start())
    if (!job->is_gone_in_plan()) room.running.push_back(job->allocation);
  for (const Job* head : view.waiting)
    if (!room.start(*head, true, out)) return;
}

void Slices::decide(const ClusterView& view, Decisions& out) {
  const auto slice = view.now.time_since_epoch() / length_;
  const auto is_due = [slice](const Job& job) { return static_cast<std::int64_t>(job.id) % 2 == slice % 2; };
  Room room{view.free, {}};
  for (const RunningJob* job : view.running.by_start()) {
    if (is_due(*job->job) || job->is_suspended() || job->is_gone_in_plan()) continue;
    room.free.release(job->allocation);
    out.emplace_back(Suspend{job->job->id});
  }
  for (const RunningJob* job : view.running.by_start()) {
    if (!is_due(*job->job) || job->is_gone_in_plan()) continue;
    if (job->is_suspended()) {
      if (!room.free.has_room(job->allocation)) continue;
      room.free.take(job->allocation);
      out.emplace_back(Resume{job->job->id});
    }
    room.running.push_back(job->allocation);
  }
  for (const Job* job : view.waiting)
    if (is_due(*job) && !room.start(*job, share_, out)) break;
  if (!view.waiting.empty() || !view.running.empty()) out.emplace_back(WakeAt{Instant{(slice + 1) * length_}});
}

void Timetable::decide(const ClusterView& view, Decisions& out) {
  if (const auto now = decisions_.find(view.now); now != decisions_.end()) {
    out = std::move(now->second);
    decisions_.erase(now);
  }
  if (!decisions_.empty()) out.emplace_back(WakeAt{decisions_.begin()->first});
}

}  // namespace replay::test
