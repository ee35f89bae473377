#include "scheduler/sweep/engine/run_shard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <unordered_map>
#include <unordered_set>

#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/sweep/engine/cell_line.hpp"
#include "scheduler/sweep/engine/known_cells.hpp"
#include "scheduler/sweep/engine/marks.hpp"

namespace replay::sweep {
namespace fs = std::filesystem;
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostReasons = 100;
constexpr std::size_t kCountedAtOnce = 4096, kMostCountedAfterStop = 10'000'000;
constexpr std::size_t kMostInARow =
    20;  // cells that are to be tried again: then it is the computer, such as a full /tmp

fs::path made(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) return folder;
  const std::string what = fmt::format("{}: cannot be created: {}", folder.string(), error.message());
  if (error == std::errc::no_space_on_device) throw TryAgain(what);
  throw InputError(what);
}

std::string label_of(const ShardOptions& options, const Cells& cells) {
  if (options.only) return process_label("cell-" + id_text(*cells.id(*options.only)));
  return process_label(fmt::format("{}-of-{}", options.shard.index, options.shard.of));
}

bool is_own(std::size_t cell, const ShardOptions& options) {
  return options.only ? cell == *options.only : options.shard.has(cell);
}
std::size_t first_own(const ShardOptions& options) { return options.only.value_or(0); }
std::size_t end_own(const Cells& cells, const ShardOptions& options) {
  return options.only ? *options.only + 1 : cells.count();
}

// How far the own cells are.
struct OwnCells {
  std::size_t cells = 0, done = 0, failed = 0;

  [[nodiscard]] std::size_t left() const { return cells - done - failed; }
};

// Of a thousand million it takes minutes, which an interruption ends: nothing.
std::optional<OwnCells> count_own(const Cells& cells, const ShardOptions& options, const KnownCells& known,
                                  bool is_interruptible) {
  OwnCells count;
  for (std::size_t cell = first_own(options); cell < end_own(cells, options); ++cell) {
    if (is_interruptible && cell % kCountedAtOnce == 0 && stops_asked() > 0) return std::nullopt;
    const auto id = is_own(cell, options) ? cells.id(cell) : std::nullopt;
    if (!id) continue;
    ++count.cells;
    count.done += known.is_done(*id) ? 1u : 0u;
    count.failed += known.has_failed(*id) ? 1u : 0u;
  }
  return count;
}

// Nothing: there is something to compute.
std::optional<ShardEnd> end_without_work(const Cells& cells, const ShardOptions& options) {
  KnownCells known{options.folder / "cells", options.version};
  known.refresh();
  const auto count = count_own(cells, options, known, true);
  if (!count || count->left() > 0 || (count->failed > 0 && options.repeats_failed)) return std::nullopt;
  return ShardEnd{.cells = count->cells, .done_before = count->done, .failed = count->failed};
}

class ShardRun final : public CellQueue {
 public:
  ShardRun(const Cells& cells, const ShardOptions& options, const Show& show)
      : cells_(cells),
        options_(options),
        show_(show),
        folder_(made(options.folder)),
        known_(made(folder_ / "cells"), options.version),
        mark_(folder_, label_of(options, cells)),
        claims_(folder_, mark_),
        file_(folder_ / "cells" / (mark_.label() + ".jsonl")) {}

  ShardRun(const ShardRun&) = delete;
  ShardRun& operator=(const ShardRun&) = delete;
  ~ShardRun() override {
    for (const auto& [cell, id] : running_) claims_.release(id);
  }

  ShardEnd run() {
    known_.refresh();
    if (const auto count = count_own(cells_, options_, known_, true))
      end_.cells = count->cells, end_.done_before = count->done;
    const auto compute = [this](std::size_t cell, const fs::path& scratch) {
      return results_json(cells_.compute(cell, scratch));
    };
    run_cells(*this, compute, options_.jobs, options_.limits);
    end_.interrupted = stops_asked() > 0;
    end_.elapsed = Clock::now() - progress_.started;
    count_left();
    return std::move(end_);
  }

 private:
  [[nodiscard]] bool is_own(std::size_t cell) const { return sweep::is_own(cell, options_); }
  [[nodiscard]] bool is_needed(CellId id) const {
    if (known_.is_done(id)) return false;
    return !known_.has_failed(id) || (options_.repeats_failed && !repeated_.contains(id));
  }

  // Those that are done or have failed by now.
  void count_left() {
    known_.refresh();
    const auto count = count_own(cells_, options_, known_, end_own(cells_, options_) > kMostCountedAfterStop);
    end_.cells = count ? count->cells : 0;
    end_.failed = count ? count->failed : failed_now_;
    end_.left = count ? count->left() : 0;
  }

  // Claimed.
  std::optional<std::size_t> next() override {
    if (const auto own = next_own()) return own;
    if (const auto left = next_postponed()) return left;
    if (!options_.only)
      if (const auto other = next_of_others()) return other;
    return std::nullopt;
  }
  [[nodiscard]] bool is_over() const override { return postponed_.empty(); }

  std::optional<std::size_t> next_own() {
    for (; cursor_ < end_own(cells_, options_); ++cursor_) {
      if (cursor_ % kCountedAtOnce == 0 && stops_asked() > 0) break;
      if (!is_own(cursor_)) continue;
      const auto id = cells_.id(cursor_);
      if (!id || !is_needed(*id)) continue;
      known_.refresh_now_and_then();
      if (!is_needed(*id)) continue;
      if (begin(cursor_, *id)) return cursor_++;
      postponed_.push_back(cursor_);
    }
    return std::nullopt;
  }

  // Own cells that another process had claimed: it may have been killed since.
  std::optional<std::size_t> next_postponed() {
    if (postponed_.empty()) return std::nullopt;
    known_.refresh_now_and_then();
    std::erase_if(postponed_, [&](std::size_t cell) { return !is_needed(*cells_.id(cell)); });
    for (auto cell = postponed_.begin(); cell != postponed_.end(); ++cell)
      if (begin(*cell, *cells_.id(*cell))) {
        const std::size_t found = *cell;
        postponed_.erase(cell);
        return found;
      }
    return std::nullopt;
  }

  // Cells of shards that other processes are at, from their ends.
  std::optional<std::size_t> next_of_others() {
    if (!has_looked_for_others_) {
      has_looked_for_others_ = true;
      known_.refresh();
      for (const std::string& label : mark_.others())
        if (const auto shard = shard_of_label(label); shard && *shard != options_.shard)
          others_.push_back({label, *shard, cells_.count()});
    }
    while (!others_.empty()) {
      Other& other = others_.back();
      while (other.end > 0) {
        const std::size_t cell = --other.end;
        if (is_own(cell) || !other.shard.has(cell)) continue;
        const auto id = cells_.id(cell);
        if (!id || !is_needed(*id)) continue;
        if (!mark_.is_alive(other.label)) break;
        known_.refresh_now_and_then();
        if (is_needed(*id) && begin(cell, *id)) return cell;
      }
      others_.pop_back();
    }
    return std::nullopt;
  }

  bool begin(std::size_t cell, CellId id) {
    if (!claims_.claim(id)) return false;
    running_.emplace(cell, id);
    return true;
  }

  void take(CellEnd end) override {
    const auto found = running_.find(end.cell);
    const CellId id = found->second;
    if (end.kind != CellEnd::Kind::kDone) end.text = clean_line(end.text);
    if (end.kind == CellEnd::Kind::kTryAgain) {
      if (++try_again_in_a_row_ >= kMostInARow)
        throw TryAgain(fmt::format("{} cells one after the other: {}", kMostInARow, end.text));
      if (end_.try_again.size() < kMostReasons) end_.try_again.push_back(fmt::format("{}: {}", id_text(id), end.text));
    } else {
      try_again_in_a_row_ = 0;
      const bool is_done = end.kind == CellEnd::Kind::kDone;
      CellLine line{.id = id,
                    .version = options_.version,
                    .failure = is_done ? "" : end.text,
                    .parameters = cells_.parameters(end.cell),
                    .seconds = end.seconds,
                    .results = {}};
      file_.append(to_text(line, end.text));
      known_.add(id, !is_done);
      if (!is_done) repeated_.insert(id);
      if (!is_done) ++end_.failures[end.text], ++failed_now_;
      if (is_done) ++end_.done, end_.helped += is_own(end.cell) ? 0u : 1u;
    }
    claims_.release(id);
    running_.erase(found);
  }

  void look() override {
    mark_.keep_up();
    progress_.cells = end_.cells;
    progress_.done = std::min(end_.done_before + end_.done - end_.helped, end_.cells);
    progress_.failed = failed_now_;
    progress_.computed = end_.done + failed_now_;
    std::string more;
    if (failed_now_ > 0) {
      const auto most = std::ranges::max_element(end_.failures, {}, [](const auto& one) { return one.second; });
      more += fmt::format(", {} failed (most: {:.60})", failed_now_, most->first);
    }
    if (end_.helped > 0) more += fmt::format(", {} of other shards", end_.helped);
    show_(progress_.text(more));
  }

  struct Other {
    std::string label;
    Shard shard;
    std::size_t end;  // cells from here on have been looked at
  };

  const Cells& cells_;
  const ShardOptions& options_;
  const Show& show_;
  fs::path folder_;
  KnownCells known_;
  RunningMark mark_;
  Claims claims_;
  CellFile file_;
  ShardEnd end_;
  std::size_t cursor_ = first_own(options_);
  std::vector<std::size_t> postponed_;
  bool has_looked_for_others_ = false;
  std::vector<Other> others_;
  std::unordered_map<std::size_t, CellId> running_;
  std::unordered_set<CellId> repeated_;  // failed in this process
  std::size_t failed_now_ = 0;
  std::size_t try_again_in_a_row_ = 0;
  Progress progress_;
};

}  // namespace

int ShardEnd::exit_status() const {
  if (interrupted) return exit_status_after_stop();
  return left > 0 ? kTryAgainStatus : failed > 0 ? 1 : 0;
}

ShardEnd run_shard(const Cells& cells, const ShardOptions& options, const Show& show) try {
  return ShardRun{cells, options, show}.run();
} catch (const TryAgain&) {
  // Where nothing is to be computed, it does not matter that the folder can only be read.
  if (const auto end = end_without_work(cells, options)) return *end;
  throw;
}

}  // namespace replay::sweep
