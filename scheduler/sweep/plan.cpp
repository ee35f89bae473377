#include "scheduler/sweep/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/sha256.hpp"
#include "scheduler/base/text/placeholders.hpp"
#include "scheduler/experiment/prepared.hpp"
#include "scheduler/policy/registry.hpp"
#include "scheduler/sweep/cell_work.hpp"
#include "scheduler/sweep/engine/marks.hpp"
#include "traces/trace_stream.hpp"

namespace replay::sweep {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMostCells = 1'000'000'000;
constexpr std::size_t kMostChecked = 2000;  // combinations of values that are tried before anything runs

// Begins the name of a run in DIR/runs that is not complete; its process_label() follows.
constexpr char kUnfinished = '.';

std::size_t place_of(const StudyFile& study, std::string_view word) {
  return static_cast<std::size_t>(std::ranges::find(study.axes, word, &StudyAxis::word) - study.axes.begin());
}

// Calls `read`; what it throws of the file becomes a mistake in the word.
void as_mistake_in(const char* word, const std::function<void()>& read) try {
  read();
} catch (const InputError& error) {
  throw UsageError(fmt::format("--{}: {}", word, error.what()));
}

// Up to the first job: what is wrong further on is for the cells to say.
void begin_to_read(const experiment::RunSpec& run) {
  const auto side_file = experiment::side_file_of(run.trace, run.jobs_from);
  TraceReader reader{run.trace, {.swf = {.strict = run.strict}, .job_table = side_file}};
  SwfRecord first;
  (void)reader.next(first);
}

// The files of a run, with what is in them. Throws UsageError, "--WORD: ...".
std::string contents_of(const experiment::RunSpec& run, std::map<std::string, std::string>& digests) {
  std::string text;
  const auto add = [&](const char* what, const std::optional<std::string>& file) {
    if (!file || file->empty()) return;
    std::string& digest = digests[*file];
    if (digest.empty()) as_mistake_in(what, [&] { digest = digest_of(*file).sha256; });
    text += fmt::format("file {}={}\n", what, digest);
  };
  if (!run.trace.empty()) {
    const bool is_new = !digests.contains(run.trace);
    add("trace", run.trace);
    add("jobs-from", experiment::side_file_of(run.trace, run.jobs_from));
    if (is_new) as_mistake_in("trace", [&] { begin_to_read(run); });
    add("nodes-from", experiment::nodes_file_of(run));
    if (names_model(run.runtime_model, "pairs")) add("pairs", experiment::pairs_file_of(run));
  }
  add("profile", run.profile);
  for (const std::string& policy : run.policies)
    for (const std::string& file : make_policy(policy).files) add("policy", file);
  return text;
}

}  // namespace

Plan::Plan(const fs::path& file) : study_(read_study(file)) {
  for (const StudyAxis& axis : study_.axes) {
    if (count_ > kMostCells / axis.values.size())
      throw UsageError(fmt::format("{}: axes.{}: expected at most {} cells in all, found more", study_.at(axis.line),
                                   axis.word, kMostCells));
    count_ *= axis.values.size();
  }
  std::map<std::string, Part> parts;
  for (const auto& [word, value] : study_.fixed)
    parts[word] = {std::nullopt, {fmt::format("{}={}\n", word, value.text)}};
  for (std::size_t axis = 0; axis < study_.axes.size(); ++axis) {
    Part& part = parts[study_.axes[axis].word] = {axis, {}};
    for (const StudyValue& value : study_.axes[axis].values)
      part.texts.push_back(fmt::format("{}={}\n", study_.axes[axis].word, value.text));
  }
  parts.try_emplace("seed", Part{std::nullopt, {"seed=1\n"}});
  for (auto& [word, part] : parts)
    if (!find_cell_word(word)->is_file) parts_.push_back(std::move(part));
  expect_cells();
  check_combinations();
  read_inputs();
}

void Plan::expect_cells() const {
  for (std::size_t cell = 0; cell < count_; ++cell)
    if (!is_left_out(cell)) return;
  throw UsageError(fmt::format("{}: where: expected cells that are left, found that all {} are left out",
                               study_.at(study_.exclusions.back().line), count_));
}

std::string Plan::version() { return REPLAY_VERSION; }

std::vector<std::size_t> Plan::values_of(std::size_t cell) const {
  std::vector<std::size_t> values(study_.axes.size());
  for (std::size_t axis = values.size(); axis-- > 0; cell /= study_.axes[axis].values.size())
    values[axis] = cell % study_.axes[axis].values.size();
  return values;
}

bool Plan::is_left_out(std::size_t cell) const {
  if (study_.exclusions.empty()) return false;
  const std::vector<std::size_t> values = values_of(cell);
  return std::ranges::any_of(study_.exclusions, [&](const Exclusion& exclusion) {
    return std::ranges::all_of(exclusion.values, [&](const auto& one) {
      return std::ranges::find(one.second, values[one.first]) != one.second.end();
    });
  });
}

std::size_t Plan::cells() const {
  if (study_.exclusions.empty()) return count_;
  std::size_t cells = 0;
  for (std::size_t cell = 0; cell < count_; ++cell) cells += is_left_out(cell) ? 0u : 1u;
  return cells;
}

std::optional<std::size_t> Plan::find(CellId wanted) const {
  for (std::size_t cell = 0; cell < count_; ++cell)
    if (id(cell) == wanted) return cell;
  return std::nullopt;
}

std::optional<CellId> Plan::id(std::size_t cell, std::string_view version) const {
  if (is_left_out(cell)) return std::nullopt;
  const std::vector<std::size_t> values = values_of(cell);
  std::string text = fmt::format("replay cell 1\nversion={}\n", version);
  for (const Part& part : parts_) text += part.texts[part.axis ? values[*part.axis] : 0];
  std::size_t input = 0;
  for (const std::size_t axis : input_axes_) input = input * study_.axes[axis].values.size() + values[axis];
  text += inputs_[input];
  return sha256_start(text);
}

// A relative name leads from the folder of the study's file, wherever the program was started.
std::string Plan::resolved(const std::string& word, const std::string& value) const {
  if (!find_cell_word(word)->is_file || value == "none") return value;
  return (study_.path.parent_path() / value).string();
}

std::map<std::string, std::string> Plan::words_of(const std::vector<std::size_t>& values, bool as_written) const {
  std::map<std::string, std::string> words;
  const auto add = [&](const std::string& word, const std::string& value) {
    words[word] = as_written ? value : resolved(word, value);
  };
  for (const auto& [word, value] : study_.fixed) add(word, value.text);
  for (std::size_t axis = 0; axis < values.size(); ++axis)
    add(study_.axes[axis].word, study_.axes[axis].values[values[axis]].text);
  return words;
}

std::string Plan::parameters(std::size_t cell) const {
  const auto words = words_of(values_of(cell), true);
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const auto& [word, value] : words) json[word] = value;
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

void Plan::remove_unfinished_runs() const {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator{kept_ / "runs", ignored}) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kUnfinished) && has_ended(name.substr(1))) fs::remove_all(entry.path(), ignored);
  }
}

// Of all that cells of one workload have in common, and perhaps of more than that.
CellId Plan::workload_id(std::size_t cell) const {
  auto words = words_of(values_of(cell));
  words.erase("policy");
  std::string text = fmt::format("replay workload 1\nversion={}\n", version());
  for (const auto& [word, value] : words) text += fmt::format("{}={}\n", word, value);
  return sha256_start(text);
}

Results Plan::compute(std::size_t cell, const fs::path& scratch) const {
  const std::string name = id_text(*id(cell));
  const CellWork work = work_of(words_of(values_of(cell)));
  const std::string command_line = fmt::format("replay sweep {} --cell {}", study_.path.string(), name);
  if (kept_.empty()) return sweep::compute(work, scratch, command_line);
  const KeptRun keep{kept_ / "workloads" / id_text(workload_id(cell)),
                     kept_ / "runs" / (kUnfinished + process_label(name))};
  Results results = sweep::compute(work, scratch, command_line, keep);
  const fs::path run = kept_ / "runs" / name;
  std::error_code error;
  fs::rename(keep.run, run, error);
  if (!error) return results;
  if (!fs::exists(run)) throw TryAgain(fmt::format("{}: cannot be created: {}", run.string(), error.message()));
  fs::remove_all(keep.run, error);  // another process has computed it, too
  return results;
}

// Names the line of the word of which the message is.
std::string Plan::mistake_in(const std::vector<std::size_t>& values, const std::string& what) const {
  std::string word = what.substr(0, what.find_first_of(": "));
  word.erase(0, word.find_first_not_of('-'));
  std::size_t line = 1;
  std::string place = find_cell_word(word) == nullptr ? "axes" : word;
  if (const auto fixed = study_.fixed.find(word); fixed != study_.fixed.end())
    line = fixed->second.line, place = "fixed." + word;
  if (const std::size_t axis = place_of(study_, word); axis < study_.axes.size())
    line = study_.axes[axis].values[values[axis]].line, place = "axes." + word;
  std::string cell;
  for (std::size_t axis = 0; axis < values.size(); ++axis)
    cell += fmt::format("{}{} {}", cell.empty() ? "" : ", ", study_.axes[axis].word,
                        study_.axes[axis].values[values[axis]].text);
  const std::string option = fmt::format("--{}: ", word);
  return fmt::format("{}: {}: {} (cell of {})", study_.at(line), place,
                     what.starts_with(option) ? what.substr(option.size()) : what, cell);
}

// Whether the words of cells go together: one cell for each combination of values, as far as there are not too many; seeds make no
// difference.
void Plan::check_combinations() const {
  std::vector<std::size_t> values(study_.axes.size());
  for (std::size_t checked = 0; checked < kMostChecked; ++checked) {
    std::size_t cell = 0;
    for (std::size_t axis = 0; axis < values.size(); ++axis)
      cell = cell * study_.axes[axis].values.size() + values[axis];
    if (!is_left_out(cell)) try {
        (void)work_of(words_of(values));
      } catch (const std::exception& error) {
        throw UsageError(mistake_in(values, error.what()));
      }
    std::size_t axis = values.size();
    while (axis-- > 0) {
      if (study_.axes[axis].word == "seed") continue;
      if (++values[axis] < study_.axes[axis].values.size()) break;
      values[axis] = 0;
    }
    if (axis == static_cast<std::size_t>(-1)) return;
  }
}

// The words on which it depends what inputs a cell has.
std::vector<std::string> Plan::input_words() const {
  std::vector<std::string> words{"policy", "runtime-model"};
  bool has_seed = false;
  for (const CellWord& word : cell_words()) {
    if (!word.is_file) continue;
    words.push_back(word.name);
    if (const auto fixed = study_.fixed.find(word.name); fixed != study_.fixed.end())
      has_seed = has_seed || mentions_seed(fixed->second.text);
    if (const std::size_t axis = place_of(study_, word.name); axis < study_.axes.size())
      has_seed = has_seed || std::ranges::any_of(study_.axes[axis].values,
                                                 [](const StudyValue& value) { return mentions_seed(value.text); });
  }
  if (has_seed) words.emplace_back("seed");
  return words;
}

void Plan::read_inputs() {
  std::size_t count = 1;
  for (const std::string& word : input_words())
    if (const std::size_t axis = place_of(study_, word); axis < study_.axes.size()) {
      input_axes_.push_back(axis);
      count *= study_.axes[axis].values.size();
    }
  std::map<std::string, std::string> digests;
  for (std::size_t input = 0; input < count; ++input) {
    std::vector<std::size_t> values(study_.axes.size());
    std::size_t rest = input;
    for (std::size_t i = input_axes_.size(); i-- > 0; rest /= study_.axes[input_axes_[i]].values.size())
      values[input_axes_[i]] = rest % study_.axes[input_axes_[i]].values.size();
    try {
      inputs_.push_back(contents_of(work_of(words_of(values)).run, digests));
    } catch (const UsageError& error) {
      throw UsageError(mistake_in(values, error.what()));
    }
  }
}

}  // namespace replay::sweep
