#include "scheduler/plugin/answer_book.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "scheduler/base/text/clean_text.hpp"

namespace replay::plugin {
namespace {

bool is_level(int mpl, ProcessCount processes) { return mpl >= 1 && mpl <= processes; }

// The controller chooses cores that have names, by the same rules as here.
Allocation without_names(const Allocation& placed, int mpl, const Machine& machine) {
  return machine.names_cores() ? Allocation{placed.cores, mpl, {}} : placed;
}

}  // namespace

void AnswerBook::start(std::int64_t id, CoreCount cores, int mpl) {
  const Job& job = waiting_job(JobId{id}, "start");
  if (cores != 0 && job.flexibility != Flexibility::kMoldable)
    throw Refused(
        fmt::format("start of job {}: cores {} was given, but only moldable jobs choose their cores; it is {}", id,
                    cores, to_text(job.flexibility)));
  if (cores < 0 || cores > view_.machine.size())
    throw Refused(fmt::format("start of job {}: expected cores in 1..{}, found {}", id, view_.machine.size(), cores));
  const ProcessCount processes = cores == 0 ? job.processes : cores;
  if (!is_level(mpl, processes))
    throw Refused(fmt::format("start of job {}: expected mpl in 1..{}, found {}", id, processes, mpl));
  if (mpl > 1 && !job.can_shrink())
    throw Refused(fmt::format("start of job {}: expected mpl 1, found {}: the job is {} with {} processes", id, mpl,
                              to_text(job.flexibility), job.processes));
  const auto placed = place(job, cores, mpl);
  if (!placed)
    throw Refused(fmt::format("start of job {}: it needs {} cores, and {} are free after the answers before", id,
                              cores_at(processes, mpl), free()));
  own_free_cores().take(*placed);
  // The controller knows the declared size only: another one is placed here.
  const bool own_size = processes != job.processes;
  out_.emplace_back(Start{job.id, own_size ? *placed : without_names(*placed, mpl, view_.machine)});
}

void AnswerBook::resize(std::int64_t id, int mpl) {
  const RunningJob& job = running_job(JobId{id}, "resize");
  if (job.suspended) throw Refused(fmt::format("resize of job {}: it is suspended", id));
  if (!job.malleable)
    throw Refused(fmt::format("resize of job {}: it is not malleable (see its field `malleable`)", id));
  if (!is_level(mpl, job.job->processes))
    throw Refused(fmt::format("resize of job {}: expected mpl in 1..{}, found {}", id, job.job->processes, mpl));
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
  if (job.suspended) throw Refused(fmt::format("suspend of job {}: it is suspended already", id));
  own_free_cores().release(job.allocation);
  out_.emplace_back(Suspend{job.job->id});
}

void AnswerBook::resume(std::int64_t id) {
  const RunningJob& job = running_job(JobId{id}, "resume");
  if (!job.suspended) throw Refused(fmt::format("resume of job {}: it is not suspended", id));
  if (!free_cores().has_room(job.allocation))
    throw Refused(
        fmt::format("resume of job {}: it needs the {} cores it had, and {} are free after the answers before", id,
                    job.allocation.cores, free()));
  own_free_cores().take(job.allocation);
  out_.emplace_back(Resume{job.job->id});
}

void AnswerBook::kill(std::int64_t id) {
  const RunningJob& job = running_job(JobId{id}, "kill");
  if (!job.suspended) own_free_cores().release(job.allocation);
  out_.emplace_back(Kill{job.job->id});
}

void AnswerBook::wake_at(Instant instant) {
  if (instant <= view_.now) throw Refused(fmt::format("wake_at {} s: expected an instant after now", to_text(instant)));
  out_.emplace_back(WakeAt{instant});
}

void AnswerBook::note(std::string_view text) { out_.emplace_back(Note{clean_line(text, kLongestReason)}); }

std::optional<CoreCount> AnswerBook::cores_if_started(std::int64_t id, int mpl) const {
  const Job* job = find_waiting(JobId{id});
  if (job == nullptr || !is_level(mpl, job->processes) || (mpl > 1 && !job->can_shrink())) return std::nullopt;
  const auto placed = place(*job, 0, mpl);
  return placed ? std::optional{placed->cores} : std::nullopt;
}

std::optional<CoreCount> AnswerBook::cores_if_resized(std::int64_t id, int mpl) const {
  const RunningJob* job = find_running(JobId{id});
  if (job == nullptr || job->suspended || !job->malleable || !is_level(mpl, job->job->processes)) return std::nullopt;
  const auto placed = at_level(*job, mpl);
  return placed ? std::optional{placed->cores} : std::nullopt;
}

FreeCores& AnswerBook::own_free_cores() {
  if (!free_) free_ = view_.free;
  return *free_;
}

const Job* AnswerBook::find_waiting(JobId id) const {
  for (const Job* job : view_.waiting)
    if (job->id == id) return job;
  return nullptr;
}

const RunningJob* AnswerBook::find_running(JobId id) const {
  for (const RunningJob* job : view_.running.by_start())
    if (job->job->id == id && !job->gone_in_plan) return job;
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

std::optional<Allocation> AnswerBook::place(const Job& job, CoreCount cores, int mpl) const {
  return free_cores().place(cores == 0 ? job.processes : cores, mpl);
}

std::optional<Allocation> AnswerBook::at_level(const RunningJob& job, int mpl) const {
  return free_cores().at_level(job.allocation, job.job->processes, mpl);
}

}  // namespace replay::plugin
