#include "scheduler/live/run_inputs.hpp"

#include <exception>

#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/live/engine.hpp"

namespace replay::live {
namespace {

using Kind = TurnLog::Kind;

constexpr std::size_t kShownOfAnswer = 200;                 // bytes, in messages
constexpr char kOfSite = 's', kOfJob = 'j', kForNow = 'w';  // before the reason of a refusal

std::string text_of(JobId job) { return fmt::format("{}", number(job)); }
JobId job_of(const std::string& text) { return JobId{parse_number<std::int64_t>(text).value_or(0)}; }

}  // namespace

const TracedJob* RunInputs::take(JobSource& source, Instant now) {
  if (!are_played_back()) {
    const TracedJob* const job = source.take(now);
    if (job != nullptr) add(Kind::kSubmit, text_of(job->job.id));
    return job;
  }
  const auto past = turns_->take_if(Kind::kSubmit);
  if (!past) return nullptr;
  const TracedJob* const job = source.take_again(job_of(*past), now);
  const std::string found = job == nullptr ? "none" : text_of(job->job.id);
  if (found != *past) turns_->differs("the submission of job " + *past, "that of " + found);
  return job;
}

std::optional<JobId> RunInputs::take_cancel(JobSource& source, Instant now) {
  if (!are_played_back()) {
    const std::optional<JobId> job = source.take_cancel(now);
    if (job) add(Kind::kCancel, text_of(*job));
    return job;
  }
  const auto past = turns_->take_if(Kind::kCancel);
  if (!past) return std::nullopt;
  const JobId job = job_of(*past);
  if (!source.take_cancel_again(job, now)) turns_->differs("the cancellation of job " + *past, "none");
  return job;
}

LaunchOrder RunInputs::order(JobId job, const std::function<LaunchOrder()>& order) {
  const std::string whose = text_of(job) + " ";
  if (are_played_back()) {
    if (turns_->next().kind == Kind::kRefusal && turns_->next().text.starts_with(whose)) {
      const std::string refusal = turns_->take().text.substr(whose.size());
      const std::string why = refusal.substr(1);
      if (refusal.front() == kOfSite) throw CannotStartJobs(why);
      if (refusal.front() == kForNow) throw NotStartable(why);
      throw InputError(why);
    }
    try {
      return order();
    } catch (const CannotStartJobs& error) {  // now, and not then
      throw TurnLogDiffers(
          fmt::format("{}; the run stays as it was: expected to go on with it when that is mended", error.what()));
    } catch (const std::exception& error) {
      turns_->differs("the start of job " + text_of(job), error.what());
    }
  }
  try {
    return order();
  } catch (const CannotStartJobs& error) {
    add(Kind::kRefusal, whose + kOfSite + error.what());
    throw;
  } catch (const NotStartable& error) {
    add(Kind::kRefusal, whose + kForNow + error.what());
    throw;
  } catch (const std::exception& error) {
    add(Kind::kRefusal, whose + kOfJob + error.what());
    throw;
  }
}

// An order that was given and is not there has not gone out.
void RunInputs::expect_order(const std::string& order) {
  if (!are_played_back()) return add(Kind::kOrder, order);
  const auto past = turns_->take_if(Kind::kOrder);
  if (past != order)
    turns_->differs(past ? "the order '" + *past + "'" : "no order, as then", "the order '" + order + "'");
}

std::string RunInputs::kept(std::string answer) {
  if (!are_played_back()) {
    add(Kind::kAnswer, answer);
    return answer;
  }
  auto past = turns_->take_if(Kind::kAnswer);
  if (!past) turns_->differs("an answer of the policy", "none");
  return std::move(*past);
}

void RunInputs::note_other_decisions(const std::string& kept, const std::string& given) {
  ++other_answers_;
  if (!answers_stand_)
    turns_->differs("the answer " + clean_line(kept, kShownOfAnswer) + " of the policy, which was asked again",
                    clean_line(given, kShownOfAnswer));
}

}  // namespace replay::live
