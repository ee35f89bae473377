#include "scheduler/report/page/run_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "scheduler/base/error.hpp"

namespace replay::report {
namespace {

// A rectangle for each range of adjacent cores.
void add_rows(std::vector<StretchRow>& rows, const metrics::Stretch& stretch, std::size_t job) {
  const bool is_suspended = stretch.kind == metrics::Stretch::Kind::kSuspended;
  const bool is_shrunk = stretch.is_shrunk();
  StretchRow drawn{.from = seconds(stretch.from),
                   .to = seconds(stretch.to),
                   .job = static_cast<std::int32_t>(job),
                   .processes = stretch.processes,
                   .flags = static_cast<std::uint8_t>((is_suspended ? kSuspended : 0) |
                                                      (stretch.shareable ? kShareable : 0) | (is_shrunk ? kShrunk : 0)),
                   .mpl = static_cast<std::uint8_t>(std::clamp(stretch.mpl, 1, 255))};
  for (const CoreRange& range : stretch.cores) {
    drawn.first = number(range.first);
    drawn.last = number(range.last);
    rows.push_back(drawn);
  }
}

// Collects stretches as rows.
class OpenRows final : public metrics::StretchReader {
 public:
  void stretch(const metrics::Stretch& stretch) override { add_rows(rows, stretch, stretch.state->place); }

  std::vector<StretchRow> rows;
};

}  // namespace

// What no other observer keeps.
struct RunReader::OnRecord {
  RunReader& reader;
  Instant at;

  void operator()(const ClassAssigned& /*what*/) const { reader.has_classes_ = true; }
  void operator()(const SliceBegun& what) const { reader.slices_.push_back(what); }
  void operator()(const GroupFormed& what) const {
    end_group(what.primary);
    add_to(what.primary);
    for (const JobId matched : what.matched) add_to(matched);
    reader.open_groups_[what.primary] = reader.groups_.size();
    reader.groups_.push_back({.from = at, .primary = what.primary, .matched = what.matched});
  }
  void operator()(const GroupEnded& what) const { end_group(what.primary); }
  void operator()(const NodeChange& what) const {
    if (const auto open = reader.open_closed_.find(what.node); open != reader.open_closed_.end()) {
      reader.closed_[open->second].to = at;
      reader.open_closed_.erase(open);
    }
    if (what.state == NodeState::kUp) return;
    reader.open_closed_[what.node] = reader.closed_.size();
    reader.closed_.push_back({.from = at, .change = what});
  }
  void operator()(const log::Requeued& what) const {
    reader.said_.push_back({at, what.reason.empty() ? "waits again" : "waits again: " + what.reason, what.job});
  }
  void operator()(const log::RanksSeen& what) const {
    const std::string state = what.malleable ? "is malleable" : "runs as rigid";
    if (!what.malleable || !what.reason.empty())
      reader.said_.push_back({at, what.reason.empty() ? state : state + ": " + what.reason, what.job});
  }
  void operator()(const log::Failed& what) const {
    reader.said_.push_back({at, fmt::format("{} failed: {}", what.action, what.reason), what.job});
  }
  void operator()(const log::Note& what) const { reader.said_.push_back({at, what.text, std::nullopt}); }

 private:
  // Called before the group is added.
  void add_to(JobId job) const {
    if (reader.table_.find(job) != nullptr) reader.groups_of_rows_[reader.row_of(job)].push_back(reader.groups_.size());
  }
  void end_group(JobId primary) const {
    const auto open = reader.open_groups_.find(primary);
    if (open == reader.open_groups_.end()) return;
    reader.groups_[open->second].to = at;
    reader.open_groups_.erase(open);
  }
};

void RunReader::on_change(Instant /*at*/, const history::Before& /*before*/, const history::JobState& job) {
  if (job.phase == history::Phase::kWaiting) facts_[job.place] = {};  // its run counts for nothing
}

void RunReader::on_record(const log::Record& record, const history::JobState* /*job*/) {
  log::visit(OnRecord{*this, record.at}, record.what);
}

log::Kinds RunReader::records() const { return log::kinds_of<OnRecord>(); }

void RunReader::finish() {
  stretches_.open(last(), *this);
  for (const auto& [primary, group] : open_groups_) groups_[group].to = last();
}

std::size_t RunReader::row_of(JobId job) const {
  const metrics::JobRow* const row = table_.find(job);
  if (row == nullptr) throw InputError(fmt::format("event log: there is no job {}", number(job)));
  return static_cast<std::size_t>(row - table_.rows().data());
}

std::span<const std::size_t> RunReader::groups_of(std::size_t row) const {
  const auto found = groups_of_rows_.find(row);
  return found == groups_of_rows_.end() ? std::span<const std::size_t>{} : std::span<const std::size_t>{found->second};
}

std::vector<StretchRow> RunReader::open_stretches(Instant now) const {
  OpenRows open;
  stretches_.open(now, open);
  return std::move(open.rows);
}

void RunReader::stretch(const metrics::Stretch& stretch) {
  const std::size_t row = stretch.state->place;
  add_rows(stretches_rows_, stretch, row);
  JobFacts& facts = facts_[row];
  const bool is_shrunk = stretch.is_shrunk();
  if (is_shrunk && stretch.kind != metrics::Stretch::Kind::kSuspended)
    facts.shrunk_time += seconds(stretch.to - stretch.from);
  facts.max_mpl = std::max(facts.max_mpl, stretch.mpl);
  facts.is_shareable = facts.is_shareable || stretch.shareable;
}

void mark_groups(std::vector<StretchRow>& rows, const RunReader& run) {
  for (StretchRow& row : rows)
    if (std::ranges::any_of(run.groups_of(static_cast<std::size_t>(row.job)), [&](std::size_t place) {
          const GroupSpan& group = run.groups()[place];
          return seconds(group.from) < row.to && row.from < seconds(group.to);
        }))
      row.flags |= kInGroup;
}

}  // namespace replay::report
