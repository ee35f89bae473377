#include "traces/declare/declarer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "scheduler/base/error.hpp"
#include "scheduler/model/allocation.hpp"
#include "traces/history.hpp"

namespace replay {
namespace {

constexpr int kFirstPartStatus = 2, kLastPartStatus = 4;

std::optional<double> logged_cpu_use(const SwfRecord& record) {
  if (record.average_cpu <= Duration::zero() || record.run <= Duration::zero()) return std::nullopt;
  return std::min(1.0, static_cast<double>(record.average_cpu.count()) / static_cast<double>(record.run.count()));
}

Duration times(Duration run, double factor) {
  const double most = static_cast<double>(kMostSwfRunSeconds) * 1e6;
  return Duration{std::llround(std::min(static_cast<double>(run.count()) * factor, most))};
}

std::string to_text(const FlexibilityRule& rule) {
  std::string text;
  if (rule.speedup) text += fmt::format(" --speedup {}", word_of(kSpeedupModels, *rule.speedup));
  if (rule.speedup == SpeedupModel::kDowney)
    text += fmt::format(" --constraint {} --sigma-factor {}", word_of(kOfferedSizes, rule.sizes), rule.sigma_factor);
  if (rule.speedup) text += fmt::format(" --moldable {}", replay::to_text(rule.moldable));  // without it not an option
  return text + fmt::format(" --malleable {}", replay::to_text(rule.malleable));
}

std::string to_text(const CpuUseRule& rule) {
  return fmt::format(" --cpu-util {}{} --serial-cpu-util {}", rule.logged_first ? "logged-else:" : "",
                     replay::to_text(rule.otherwise), replay::to_text(rule.serial));
}

std::string to_text(const PriorityRule& rule) {
  return fmt::format(" --priority every={},user={},political={}", rule.every, rule.user, rule.political);
}

bool needs_machine(const Declarations& declarations) {
  return declarations.sizes || (declarations.flexibility && declarations.flexibility->speedup);
}

}  // namespace

std::string to_text(const Declarations& d) {
  std::string text = fmt::format("--seed {}", static_cast<std::uint64_t>(d.seed));
  if (d.machine) text += fmt::format(" --machine-size {}", *d.machine);
  if (d.contention) text += " --contention table4";
  if (d.sizes) text += " --size-rule " + to_text(*d.sizes);
  if (d.flexibility) text += to_text(*d.flexibility);
  if (d.cpu_use) text += to_text(*d.cpu_use);
  if (d.network_overhead) text += " --ov " + to_text(*d.network_overhead);
  if (d.estimates) text += " --estimates " + to_text(*d.estimates);
  if (d.priorities) text += to_text(*d.priorities);
  return text;
}

ProcessCount logged_size(const SwfRecord& record) { return record.allocated > 0 ? record.allocated : record.requested; }

bool JobFilter::is_job(const SwfRecord& record) {
  if (record.job < 0 || logged_size(record) <= 0 || record.run < Duration::zero()) return false;
  if (record.status >= kFirstPartStatus && record.status <= kLastPartStatus) return false;
  return seen_.insert(record.job);
}

Declarer::Declarer(const Declarations& declarations, const SwfHeader& header) : rules_(declarations) {
  std::optional<CoreCount> size = rules_.machine;
  if (!size) size = header.machine_size();
  if (size) most_ = processes_at(*size, 1);
  if (!needs_machine(rules_)) return;
  if (!size)
    throw UsageError(
        "--speedup and --size-rule are about a machine of a certain size: the header has neither MaxProcs nor "
        "MaxNodes, --machine-size says it");
  machine_ = *size;
  if (rules_.sizes && std::int64_t{machine_} * rules_.sizes->cores > std::numeric_limits<CoreCount>::max())
    throw UsageError(fmt::format("--size-rule: {} nodes of {} cores are more cores than can be counted", machine_,
                                 rules_.sizes->cores));
  if (rules_.sizes) most_ = processes_at(machine_ * rules_.sizes->cores, 1);
}

void Declarer::declare(SwfHeader& header) const {
  if (rules_.sizes) {
    header.set("MaxNodes", fmt::format("{}", machine_));
    header.set("MaxProcs", fmt::format("{}", std::int64_t{machine_} * rules_.sizes->cores));
  }
  note_history(header, "replay trace declare " + to_text(rules_));
}

// In this order: the slowdowns decide about the size, and the size about the speedup.
void Declarer::declare(TraceEntry& entry) {
  if (!filter_.is_job(entry.record)) {
    ++others_;
    return;
  }
  ++jobs_;
  const std::int64_t job = entry.record.job;
  if (rules_.contention) declare_contention(entry.traits, job, rules_.seed);
  if (rules_.sizes) resize(entry);
  if (rules_.flexibility) {
    const CoreCount processors = machine_ * (rules_.sizes ? rules_.sizes->cores : CoreCount{1});
    declare_flexibility(entry.traits, {job, logged_size(entry.record), entry.record.run}, *rules_.flexibility,
                        processors, rules_.seed);
  }
  if (!curves_.empty()) set_measured_curve(entry);
  if (rules_.cpu_use) set_cpu_use(entry);
  if (rules_.network_overhead) {
    Rng source = job_rng(rules_.seed, "ov", job);
    entry.traits.network_overhead = draw_share(*rules_.network_overhead, source);
  }
  if (rules_.estimates) set_estimate(entry.record);
  if (rules_.priorities) set_priorities(entry.traits);
}

void Declarer::set_measured_curve(TraceEntry& entry) {
  const auto found = curves_.find(entry.record.executable);
  if (found == curves_.end()) return;
  ++measured_;
  JobTraits& traits = entry.traits;
  traits.speedup = found->second;
  traits.sizes.clear();
  traits.least = 1;
  traits.most = found->second.largest_useful();
  if (most_ && (!traits.most || *traits.most > *most_)) traits.most = most_;
  if (traits.most) traits.most = std::max(*traits.most, logged_size(entry.record));
  if (traits.flexibility != Flexibility::kMalleable) traits.flexibility = Flexibility::kMoldable;
}

void Declarer::resize(TraceEntry& entry) const {
  const auto& [same_cpu, same_node] = std::pair(entry.traits.same_cpu_slowdown, entry.traits.same_node_slowdown);
  if (!same_cpu || !same_node)
    throw InputError(
        fmt::format("job {}: --size-rule needs sl_scr and sl_sno: --contention table4 draws them", entry.record.job));
  for (std::int32_t* size : {&entry.record.allocated, &entry.record.requested})
    if (*size > 0) *size = size_on_nodes(*size, *same_cpu, *same_node, *rules_.sizes, machine_);
}

void Declarer::set_cpu_use(TraceEntry& entry) const {
  const auto logged = rules_.cpu_use->logged_first ? logged_cpu_use(entry.record) : std::nullopt;
  const bool serial = logged_size(entry.record) == 1;
  Rng source = job_rng(rules_.seed, "cpu-util", entry.record.job);
  const double drawn = draw_share(serial ? rules_.cpu_use->serial : rules_.cpu_use->otherwise, source);
  entry.traits.cpu_use = logged.value_or(drawn);
}

void Declarer::set_estimate(SwfRecord& record) {
  if (std::holds_alternative<PerfectEstimates>(*rules_.estimates)) record.requested_time = record.run;
  if (const auto* factor = std::get_if<FactorEstimates>(&*rules_.estimates))
    record.requested_time = times(record.run, factor->factor);
  if (!std::holds_alternative<TsafrirRule>(*rules_.estimates)) return;
  if (jobs_ > estimates_.size())
    throw InputError("the trace has changed while it was read: found more jobs than before");
  record.requested_time = estimates_[jobs_ - 1];
}

void Declarer::set_priorities(JobTraits& traits) const {
  const bool preferred = static_cast<std::int64_t>(jobs_) % rules_.priorities->every == 0;
  traits.user_priority = preferred ? rules_.priorities->user : 0;
  traits.political_priority = preferred ? rules_.priorities->political : 0;
}

}  // namespace replay
