#include "scheduler/plugin/answer_book.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/model/job_sizes.hpp"

namespace replay::plugin {
namespace {

bool is_level(int mpl, ProcessCount processes) { return mpl >= 1 && mpl <= processes; }

// The controller chooses cores that have names, by the same rules as here.
Allocation without_names(const Allocation& placed, int mpl, const Machine& machine) {
  if (!machine.names_cores()) return placed;
  return {.cores = placed.cores, .mpl = mpl, .named = {}, .shareable = false, .processes = placed.processes};
}

std::string why_no_choice(const Job& job) {
  if (job.flexibility == Flexibility::kRigid) return "as it is rigid";
  return "as it declares no speedup curve";
}

// How a job would start, and what forbids it; empty if nothing does but a lack of room.
struct Shape {
  ProcessCount processes;
  int mpl;
  std::string flaw;
};

std::string flaw_of_processes(const Job& job, ProcessCount processes, const Machine& machine) {
  if (!can_start_with(job, processes))
    return has_choice_of_size(job)
               ? fmt::format("{} processes, as submitted, or {}; found {}", job.processes, sizes_text(job), processes)
               : fmt::format("{} processes, {}; found {}", job.processes, why_no_choice(job), processes);
  if (processes != job.processes && cores_needed(job, processes) > machine.size())
    return fmt::format("at most {} processes, one for each core; found {}", machine.size(), processes);
  return "";
}

Shape shape_of(const Job& job, const StartSize& size, const Machine& machine) {
  const ProcessCount processes = size.processes.value_or(job.processes);
  if (std::string flaw = flaw_of_processes(job, processes, machine); !flaw.empty()) return {0, 0, std::move(flaw)};
  if (size.cores && (*size.cores < 1 || *size.cores > cores_needed(job, processes)))
    return {0, 0, fmt::format("cores in 1..{}, at most one for each process; found {}", processes, *size.cores)};
  const int mpl = size.mpl.value_or(size.cores ? mpl_on(processes, *size.cores) : 1);
  if (!is_level(mpl, processes)) return {0, 0, fmt::format("mpl in 1..{}, found {}", processes, mpl)};
  if (size.cores && *size.cores != cores_at(processes, mpl))
    return {0, 0,
            fmt::format("{} cores, which {} processes take at mpl {}; found {}", cores_at(processes, mpl), processes,
                        mpl, *size.cores)};
  if (mpl > 1 && job.flexibility != Flexibility::kMalleable)
    return {0, 0,
            fmt::format("mpl 1, found {}: the job is {} with {} processes", mpl, to_text(job.flexibility), processes)};
  return {processes, mpl, ""};
}

}  // namespace

void AnswerBook::start(std::int64_t id, const StartSize& size) {
  const Job& job = waiting_job(JobId{id}, "start");
  const auto [processes, mpl, flaw] = shape_of(job, size, view_.machine);
  if (!flaw.empty()) throw Refused(fmt::format("start of job {}: expected {}", id, flaw));
  auto placed = free_cores().place(processes, mpl);
  if (!placed)
    throw Refused(fmt::format("start of job {}: it needs {} cores, and {} are free after the answers before", id,
                              cores_at(processes, mpl), free()));
  if (size.cores && placed->cores != *size.cores)
    throw Refused(
        fmt::format("start of job {}: expected {} cores, which {} processes take on the nodes that are free; "
                    "found {}",
                    id, placed->cores, processes, *size.cores));
  own_free_cores().take(*placed);
  placed->processes = processes;
  out_.emplace_back(Start{job.id, without_names(*placed, mpl, view_.machine)});
}

void AnswerBook::resize(std::int64_t id, int mpl) {
  const RunningJob& job = running_job(JobId{id}, "resize");
  if (job.is_suspended()) throw Refused(fmt::format("resize of job {}: it is suspended", id));
  if (!job.is_malleable())
    throw Refused(fmt::format("resize of job {}: it is not malleable (see its field `malleable`)", id));
  if (!is_level(mpl, job.processes()))
    throw Refused(fmt::format("resize of job {}: expected mpl in 1..{}, found {}", id, job.processes(), mpl));
  const auto placed = at_level(job, mpl);
  if (!placed)
    throw Refused(
        fmt::format("resize of job {} from mpl {} to {}: no room; it has {} cores, and {} are free after the "
                    "answers before{}",
                    id, job.allocation.mpl, mpl, job.allocation.cores, free(),
                    view_.machine.nodes() > 1 ? ", but processes stay on their node" : ""));
  own_free_cores().release(job.allocation);
  own_free_cores().take(*placed);
  out_.emplace_back(Resize{job.job->id, without_names(*placed, mpl, view_.machine)});
}

void AnswerBook::suspend(std::int64_t id) {
  const RunningJob& job = running_job(JobId{id}, "suspend");
  if (job.is_suspended()) throw Refused(fmt::format("suspend of job {}: it is suspended already", id));
  own_free_cores().release(job.allocation);
  out_.emplace_back(Suspend{job.job->id});
}

void AnswerBook::resume(std::int64_t id) {
  const RunningJob& job = running_job(JobId{id}, "resume");
  if (!job.is_suspended()) throw Refused(fmt::format("resume of job {}: it is not suspended", id));
  if (!free_cores().has_room(job.allocation))
    throw Refused(
        fmt::format("resume of job {}: it needs the {} cores it had, and {} are free after the answers before", id,
                    job.allocation.cores, free()));
  own_free_cores().take(job.allocation);
  out_.emplace_back(Resume{job.job->id});
}

void AnswerBook::kill(std::int64_t id) {
  const RunningJob& job = running_job(JobId{id}, "kill");
  if (!job.is_suspended()) own_free_cores().release(job.allocation);
  out_.emplace_back(Kill{job.job->id});
}

void AnswerBook::wake_at(Instant instant) {
  if (instant <= view_.now) throw Refused(fmt::format("wake_at {} s: expected an instant after now", to_text(instant)));
  out_.emplace_back(WakeAt{instant});
}

void AnswerBook::note(std::string_view text) { out_.emplace_back(Note{clean_line(text, kLongestReason)}); }

std::optional<CoreCount> AnswerBook::cores_if_started(std::int64_t id, const StartSize& size) const {
  const Job* job = find_waiting(JobId{id});
  if (job == nullptr) return std::nullopt;
  const auto [processes, mpl, flaw] = shape_of(*job, size, view_.machine);
  if (!flaw.empty()) return std::nullopt;
  const auto placed = free_cores().place(processes, mpl);
  return placed ? std::optional{placed->cores} : std::nullopt;
}

std::optional<CoreCount> AnswerBook::cores_if_resized(std::int64_t id, int mpl) const {
  const RunningJob* job = find_running(JobId{id});
  if (job == nullptr || job->is_suspended() || !job->is_malleable() || !is_level(mpl, job->processes()))
    return std::nullopt;
  const auto placed = at_level(*job, mpl);
  return placed ? std::optional{placed->cores} : std::nullopt;
}

std::optional<Duration> AnswerBook::estimate_at(std::int64_t id, ProcessCount processes) const {
  const Job* job = find_waiting(JobId{id});
  if (job == nullptr || !can_start_with(*job, processes)) return std::nullopt;
  return replay::estimate_at(*job, processes);
}

std::optional<ProcessCount> AnswerBook::largest_size(std::int64_t id, ProcessCount most) const {
  const Job* job = find_waiting(JobId{id});
  return job != nullptr ? replay::largest_size(*job, std::min(most, processes_on(*job, view_.capacity())))
                        : std::nullopt;
}

std::optional<ProcessCount> AnswerBook::fastest_size(std::int64_t id, ProcessCount most) const {
  const Job* job = find_waiting(JobId{id});
  return job != nullptr ? replay::fastest_size(*job, std::min(most, processes_on(*job, view_.capacity())))
                        : std::nullopt;
}

FreeCores& AnswerBook::own_free_cores() {
  if (!free_) free_ = view_.free;
  return *free_;
}

const Job* AnswerBook::find_waiting(JobId id) const {
  const auto end = view_.waiting.end();
  const auto is_it = [id](const Job* job) { return job->id == id; };
  auto at = std::ranges::find_if(found_, end, is_it);
  if (at == end) {
    at = std::ranges::find_if(view_.waiting.begin(), found_, is_it);
    if (at == found_) return nullptr;
  }
  found_ = at;
  return *at;
}

const RunningJob* AnswerBook::find_running(JobId id) const {
  for (const RunningJob* job : view_.running.by_start())
    if (job->job->id == id && !job->is_gone_in_plan()) return job;
  return nullptr;
}

const Job& AnswerBook::waiting_job(JobId id, const char* action) {
  expect_first_answer(id, action);
  if (const Job* job = find_waiting(id)) return *job;
  throw Refused(fmt::format("{} of job {}: expected a waiting job, {}", action, number(id),
                            find_running(id) != nullptr ? "this one runs" : "there is none of this number"));
}

const RunningJob& AnswerBook::running_job(JobId id, const char* action) {
  expect_first_answer(id, action);
  if (const RunningJob* job = find_running(id)) return *job;
  throw Refused(fmt::format("{} of job {}: expected a running job, {}", action, number(id),
                            find_waiting(id) != nullptr ? "this one waits" : "there is none of this number"));
}

void AnswerBook::expect_first_answer(JobId id, const char* action) {
  if (std::ranges::find(answered_, id) != answered_.end())
    throw Refused(
        fmt::format("{} of job {}: expected one answer per job and pass, found a second", action, number(id)));
  answered_.push_back(id);
}

std::optional<Allocation> AnswerBook::at_level(const RunningJob& job, int mpl) const {
  return free_cores().at_level(job.allocation, job.processes(), mpl);
}

}  // namespace replay::plugin
