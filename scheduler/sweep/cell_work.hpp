// What a cell of a sweep computes: a workload, made of a model or of a trace, and a simulation of it. Its words are those of
// `replay simulate`, `replay generate lublin` and `replay trace declare`, without dashes in front.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/experiment/run_spec.hpp"
#include "scheduler/sweep/engine/cells.hpp"
#include "traces/declare/options.hpp"
#include "traces/models/logged_days.hpp"
#include "traces/models/lublin_workload.hpp"
#include "traces/tools/scale.hpp"

namespace replay::sweep {

struct CellWork {
  experiment::RunSpec run{};            ///< `trace`: the one that the workload is made of
  std::string model;                    ///< "lublin", "from-log", which makes jobs of a trace; empty: there is a trace
  LublinOrder lublin{};                 ///< of the model; its machine, jobs and seed are set by finish()
  double tolerance = kUsualTolerance;   ///< of from-log, per cent
  std::optional<std::uint64_t> jobs{};  ///< of a model; of a trace: its first records
  std::optional<double> load{};         ///< offered
  LoadBy load_by = LoadBy::kArrivals;
  DeclareOptions declare{};
  bool declares = false;
  GivenLublinParameters parameters{};
};

/// A word of a plan.
struct CellWord {
  std::string name;
  bool is_flag = false;              ///< its value is true or false
  bool is_file = false;              ///< its value is the name of a file; "none" is a word
  std::vector<std::string> words{};  ///< all that it can be; empty: anything
  /// Throws UsageError, "--NAME: expected ..., found ...".
  std::function<void(CellWork&, const std::string&)> set;
};

/// All of them, in the order of messages.
[[nodiscard]] std::span<const CellWord> cell_words();
/// Nothing: there is no such word.
[[nodiscard]] const CellWord* find_cell_word(std::string_view name);
/// Why a word of a run is none of a plan; nothing if it is not such a word.
[[nodiscard]] std::optional<std::string> why_no_word(std::string_view name);

/// By names of words; file names lead to files. Throws UsageError for a value, and for words that do not go together.
[[nodiscard]] CellWork work_of(const std::map<std::string, std::string>& parameters);

/// Where a cell leaves a whole run.
struct KeptRun {
  std::filesystem::path
      workload;  ///< folder of the workload, if it is not that of a file; other cells may make the same one
  std::filesystem::path run;  ///< folder of the run, which is not there yet
};

/// Of results: what cleaning has done to the workload's records, where it has done it.
inline constexpr const char kLeftOut[] = "records_left_out", kTooWide[] = "records_left_out_as_too_wide",
                            kNarrowed[] = "jobs_narrowed";

/// Makes the workload in `scratch`, if it is not that of a file, and simulates it: the metrics by name, and the three above if they
/// are not 0. With `keep` the workload goes there, and the run is written. Throws UsageError, InputError, PolicyError, TryAgain.
[[nodiscard]] Results compute(const CellWork& work, const std::filesystem::path& scratch,
                              const std::string& command_line, const std::optional<KeptRun>& keep = {});

}  // namespace replay::sweep
