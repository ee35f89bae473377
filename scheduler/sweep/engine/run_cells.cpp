#include "scheduler/sweep/engine/run_cells.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "scheduler/base/error.hpp"
#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/model/units.hpp"
#include "scheduler/sweep/engine/cells.hpp"
#include "scheduler/sweep/engine/shard.hpp"

namespace replay::sweep {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTick{500};      // between looks at the time and at other processes
constexpr milliseconds kWaitsFor{200};  // for a cell that another process computes

class BatchQueue final : public CellQueue {
 public:
  BatchQueue(const Batch& batch, Show show) : batch_(batch), show_(std::move(show)), results_(batch.count) {
    for (std::size_t cell = 0; cell < batch.count; ++cell)
      if (!batch.is_done || !batch.is_done(cell)) cells_.push_back(cell);
    progress_.cells = batch.count;
    progress_.done = batch.count - cells_.size();
  }

  std::optional<std::size_t> next() override { return is_over() ? std::nullopt : std::optional{cells_[next_++]}; }
  [[nodiscard]] bool is_over() const override { return failed_ || next_ == cells_.size(); }
  void take(CellEnd end) override {
    ++progress_.done, ++progress_.computed;
    if (end.kind == CellEnd::Kind::kDone)
      results_[end.cell] = std::move(end.text);
    else if (!failed_ || end.cell < failed_->cell)
      failed_ = std::move(end);
  }
  void look() override { show_(progress_.text()); }

  std::vector<std::string> results() {
    if (stops_asked() > 0) throw Interrupted{};
    if (failed_) fail();
    return std::move(results_);
  }

 private:
  [[noreturn]] void fail() const {
    using Kind = CellEnd::Kind;
    if (failed_->kind == Kind::kWrongUsage) throw UsageError(failed_->text);
    if (failed_->kind == Kind::kFailed) throw InputError(failed_->text);
    throw TryAgain(fmt::format("{}: {}", batch_.name(failed_->cell), failed_->text));
  }

  const Batch& batch_;
  Show show_;
  std::vector<std::size_t> cells_;  // that are not done
  std::size_t next_ = 0;            // of these
  std::vector<std::string> results_;
  std::optional<CellEnd> failed_;
  Progress progress_;
};

}  // namespace

std::string Progress::text(std::string_view more) const {
  const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  const double rate = elapsed > 0 ? static_cast<double>(computed) / elapsed : 0;
  std::string line = fmt::format("{} of {} cells{}", done, cells, more);
  if (rate <= 0) return line;
  const double left = static_cast<double>(cells - std::min(done + failed, cells)) / rate;
  return line + fmt::format("; {:.3g} cells/s, {} left", rate, about_text(left));
}

void run_cells(CellQueue& queue, const Compute& compute, int jobs, CellLimits limits) {
  Children children{compute, limits};
  while (stops_asked() == 0) {
    while (children.running() < static_cast<std::size_t>(jobs) && stops_asked() == 0) {
      const auto cell = queue.next();
      if (!cell) break;
      children.start(*cell);
    }
    if (children.running() == 0 && queue.is_over()) return;
    for (CellEnd& end : children.wait(children.running() > 0 ? kTick : kWaitsFor)) queue.take(std::move(end));
    queue.look();
  }
}

std::vector<std::string> run_batch(const Batch& batch, const Show& show) {
  BatchQueue queue{batch, show};
  const int jobs = batch.jobs > 0 ? batch.jobs : cores_for_this_process(environment_variable);
  run_cells(queue, batch.compute, jobs, {.may_print = true});
  return queue.results();
}

std::vector<std::string> run_here(const Batch& batch) {
  BatchQueue queue{batch, {}};
  while (const auto cell = stops_asked() == 0 ? queue.next() : std::nullopt) {
    queue.take({.cell = *cell, .kind = CellEnd::Kind::kDone, .text = batch.compute(*cell, {})});
  }
  return queue.results();
}

}  // namespace replay::sweep
