#include "scheduler/results/jobs_csv.hpp"

#include <fmt/format.h>

#include <concepts>
#include <limits>
#include <optional>
#include <utility>

#include "scheduler/base/text/clean_text.hpp"

namespace replay::results {
namespace {

using metrics::JobRow;

constexpr std::string_view kBatsimColumns =
    "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state,"
    "starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,consumed_energy,"
    "metadata";
constexpr std::string_view kOurColumns =
    ",outcome,exit_code,verification,reason,expanded_runtime_s,suspended_s,slowdown,bounded_slowdown,mpl_mean,shrinks,"
    "expands,cores_at_start,cores_at_end,flexibility,cpu_use,user,group,queue,program,"
    "given_size,optimal_size,size_modifier,group_s,virtual_turnaround_s,expected_turnaround_s";

std::string_view batsim_state(const JobRow& row) {
  if (!row.has_ended()) return row.has_started() ? "RUNNING" : "SUBMITTED";
  switch (row.outcome) {
    case Outcome::kCompleted: return "COMPLETED_SUCCESSFULLY";
    case Outcome::kFailed:
    case Outcome::kLost: return "COMPLETED_FAILED";
    case Outcome::kOverrun: return "COMPLETED_WALLTIME_REACHED";
    case Outcome::kKilled:
    case Outcome::kCancelled: return "COMPLETED_KILLED";
    case Outcome::kRejected: return "REJECTED";
  }
  return "?";
}

// Many numbers of a row equal another one (without a wait, the start equals the submission): copies the text of that
// cell.
template <class Number>
void put_like(CsvLine& cells, Number number, Number other, const CsvLine::Cell& cell) {
  if (number == other)
    cells.again(cell);
  else if constexpr (std::integral<Number>)
    cells.count(number);
  else
    cells.seconds(number);
}

// Cells that put_like() may copy into later columns of the row.
struct RowCells {
  CsvLine::Cell processes, execution, stretch;  // the last two only if the job ran
};

// Batsim's seventeen columns. `workload` is quoted already.
RowCells put_batsim_cells(CsvLine& cells, const JobRow& row, std::string_view workload, std::string_view program,
                          std::span<const CoreRange> used_cores) {
  RowCells known{};
  cells.count(static_cast<std::int64_t>(row.job));
  cells.word(workload);
  cells.word(program);
  const CsvLine::Cell submitted = cells.seconds(row.submitted);
  known.processes = cells.count(row.processes);
  cells.seconds(row.estimate);
  cells.count(row.has_ended() && row.outcome == Outcome::kCompleted ? 1 : 0);
  cells.word(batsim_state(row));
  if (row.has_started())
    put_like(cells, row.launched, row.submitted, submitted);
  else
    cells.empty();
  if (row.ran()) {
    known.execution = cells.seconds(row.execution());
    cells.seconds(row.finished);
    cells.seconds(row.wait());
    put_like(cells, row.response(), row.execution(), known.execution);
    known.stretch = cells.ratio(stretch_of(row));
  } else {
    cells.empties(2);
    if (row.has_started())
      cells.seconds(row.wait());
    else
      cells.empty();
    cells.empties(2);
  }
  put_cores(cells, used_cores);
  cells.word("-1");  // energy: as Batsim when it does not count it
  cells.empty();
  return known;
}

// `reason` is quoted already.
void put_our_cells(CsvLine& cells, const JobRow& row, std::string_view reason, Duration bound, const RowCells& known) {
  if (row.has_ended()) {
    cells.word(to_text(row.outcome));
    cells.count(row.exit_code);
  } else {
    cells.empties(2);
  }
  cells.word(to_text(row.verification));
  cells.word(reason);
  if (row.ran()) {
    const metrics::JobTimes times = row.times();
    const bool as_planned = times.runtime == times.execution;
    put_like(cells, times.runtime, times.execution, known.execution);
    cells.seconds(row.suspended);
    const CsvLine::Cell slowdown = as_planned ? cells.again(known.stretch) : cells.ratio(times.slowdown());
    if (as_planned && times.runtime >= bound)  // then the bound has no effect
      cells.again(slowdown);
    else
      cells.ratio(times.bounded_slowdown(bound));
    cells.ratio(row.mean_mpl());
  } else {
    cells.seconds(row.runtime);
    cells.empties(4);
  }
  cells.count(row.shrinks);
  cells.count(row.expands);
  put_like(cells, number(row.first_cores), number(row.processes), known.processes);
  put_like(cells, number(row.last_cores), number(row.processes), known.processes);
  cells.word(to_text(row.flexibility));
  if (row.cpu_use >= 0)
    cells.ratio(row.cpu_use);
  else
    cells.empty();
  for (const std::int32_t field : {row.user, row.group, row.queue, row.executable}) {
    if (field >= 0)
      cells.count(field);
    else
      cells.empty();
  }
}

void put_size_cells(CsvLine& cells, const JobRow& row, const metrics::ChosenSize* size) {
  if (size == nullptr) {
    cells.empties(3);
    return;
  }
  cells.count(size->given == 0 ? row.processes : size->given);
  if (size->choice.optimal != 0)
    cells.count(size->choice.optimal);
  else
    cells.empty();
  if (size->choice.modifier != 0)
    cells.ratio(size->choice.modifier);
  else
    cells.empty();
}

void put_sharing_cells(CsvLine& cells, const metrics::SharingTimes* times) {
  if (times == nullptr) {
    cells.empties(3);
    return;
  }
  cells.seconds(times->in_groups);
  for (const std::optional<Duration>& time : {times->virtual_response, times->expected}) {
    if (time)
      cells.seconds(*time);
    else
      cells.empty();
  }
}

}  // namespace

double stretch_of(const JobRow& row) {
  if (row.execution() == Duration::zero()) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(row.response().count()) / static_cast<double>(row.execution().count());
}

void put_cores(CsvLine& cells, std::span<const CoreRange> cores) {
  bool is_first = true;
  for (const CoreRange& range : cores) {
    if (!std::exchange(is_first, false)) cells.piece(' ');
    cells.piece(number(range.first));
    if (range.last == range.first) continue;
    cells.piece('-');
    cells.piece(number(range.last));
  }
  cells.empty();
}

JobsCsv::JobsCsv(const std::filesystem::path& file, const log::Header& header, Duration bound, Columns columns)
    : bound_(bound),
      columns_(columns),
      cells_(file, columns != Columns::kAll ? std::string{kBatsimColumns}
                                            : fmt::format("{}{}{}{}{}", kBatsimColumns, kOurColumns,
                                                          header.value("hosts").empty() ? "" : ",hosts",
                                                          header.value("requeue-lost").empty() ? "" : ",requeues",
                                                          header.value("adopts").empty() ? "" : ",since")),
      has_requeues_(!header.value("requeue-lost").empty()),
      has_since_(!header.value("adopts").empty()) {
  if (columns == Columns::kAll && !header.value("hosts").empty()) {
    machine_ = Machine::parse(header.value("machine"));
    names_ = {header, *machine_};
  }
  const std::string name = clean_line(std::filesystem::path(header.value("trace")).filename().string());
  std::string memory;
  workload_ = CsvFile::quoted(name, memory);
}

void JobsCsv::put(const JobRow& row, std::string_view reason, std::span<const CoreRange> used_cores, const Said& said) {
  constexpr std::size_t kNumbers = 44, kWords = 160;        // upper bounds: columns, and bytes of our own words
  if (!reason.empty()) clean_reason_ = clean_line(reason);  // a log from elsewhere may hold any text
  const std::string_view quoted_reason = reason.empty() ? reason : CsvFile::quoted(clean_reason_, reason_);
  if (row.executable >= 0) program_ = fmt::format("program-{}", row.executable);
  const std::string_view program = row.executable >= 0 ? std::string_view{program_} : "default";
  const std::string hosts = machine_ ? hosts_of(used_cores) : "";
  CsvLine cells = cells_.begin_line(kNumbers + 2 * used_cores.size(),
                                    kWords + workload_.size() + program.size() + quoted_reason.size() + hosts.size());
  const RowCells known = put_batsim_cells(cells, row, workload_, program, used_cores);
  if (columns_ == Columns::kAll) {
    put_our_cells(cells, row, quoted_reason, bound_, known);
    put_size_cells(cells, row, said.size);
    put_sharing_cells(cells, said.sharing);
    if (machine_) cells.word(hosts);
    if (has_requeues_) cells.count(row.requeues);
    if (has_since_ && said.since != kNever)
      cells.seconds(said.since);
    else if (has_since_)
      cells.empty();
  }
  cells_.end_line(cells);
}

// In the order of the nodes.
std::string JobsCsv::hosts_of(std::span<const CoreRange> cores) const {
  std::string text;
  NodeId last{-1};
  for (const CoreRange& range : cores)
    for (CoreId core = range.first; core <= range.last; core = next(machine_->cores_of(last).last)) {
      if (const NodeId node = machine_->node_of(core); node != last) {
        text.append(text.empty() ? "" : " ").append(names_.of(node));
        last = node;
      }
    }
  return text;
}

}  // namespace replay::results
