// A run as one value, and its words. Command lines, run.json, `rerun` and validations name a run by the same options, which
// one table has (run_options()): read and written side by side.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/agent/agent.hpp"
#include "scheduler/base/error.hpp"
#include "scheduler/base/text/choice.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/core/controller.hpp"
#include "scheduler/model/allocation.hpp"
#include "scheduler/model/units.hpp"
#include "scheduler/runtime_model/misjudgement.hpp"
#include "traces/cleaning.hpp"

namespace replay::experiment {

inline constexpr Choice<Overrun> kOverruns[] = {
    {"kill", Overrun::kKill}, {"extend", Overrun::kExtend}, {"policy", Overrun::kPolicy}};
inline constexpr Choice<Pairing> kPairings[] = {{"block", Pairing::kBlock}, {"cyclic", Pairing::kCyclic}};
inline constexpr Choice<launcher::BackEnd> kBackEnds[] = {
    {"auto", launcher::BackEnd::kAuto}, {"yield", launcher::BackEnd::kYield}, {"token", launcher::BackEnd::kToken}};
inline constexpr Choice<launcher::JobNetwork> kJobNetworks[] = {{"own", launcher::JobNetwork::kOwn},
                                                                {"host", launcher::JobNetwork::kHost}};

/// The number that an option's word is, in decimal digits. Throws UsageError naming the option, the range and the word.
template <class Number>
[[nodiscard]] Number number_of(std::string_view option, std::string_view word, Number least, Number most) {
  if (const auto number = parse_number<Number>(word, least, most)) return *number;
  throw UsageError(fmt::format("{}: expected a number from {} to {}, found '{}'", option, least, most, word));
}

/// How the cores of a node are used in a real run.
struct NodeUse {
  bool smt = false;  ///< hardware threads count as cores
  launcher::BackEnd back_end = launcher::BackEnd::kAuto;
  Duration quantum = std::chrono::milliseconds{10};  ///< 1 ms to 1 s: longest hold of a token on emulated cores
  Duration turn = std::chrono::milliseconds{40};     ///< 0, or 1 ms to 1 s: of jobs that share real cores
  launcher::JobNetwork job_network = launcher::JobNetwork::kOwn;
  std::string agent_key;                      ///< file
  std::string bootstrap;                      ///< how agents are started: CMD HOST COMMAND...; empty: by ssh, or srun
  Duration lease = std::chrono::seconds{30};  ///< 0, or 1 s to 1 h: how long jobs on agents outlive a cut line

  friend bool operator==(const NodeUse&, const NodeUse&) = default;
};

/// Whether a machine's hosts are those of the job of Slurm in which the run is: slurm or slurm:WORDS.
[[nodiscard]] inline bool is_slurm(std::string_view machine) {
  return machine == "slurm" || machine.starts_with("slurm:");
}

/// The file of hosts:FILE, or that of the job of PBS or Torque in which the run is, of pbs. Nothing: the machine is another
/// one. Throws UsageError when there is no such job.
[[nodiscard]] std::optional<std::string> hosts_file_of(std::string_view machine);

/// Whether a machine's cores are those of agents on other nodes: agent:HOST:PORT, hosts:FILE, pbs or slurm.
[[nodiscard]] inline bool is_elsewhere(std::string_view machine) {
  return machine.starts_with("agent:") || machine.starts_with("hosts:") || machine == "pbs" || is_slurm(machine);
}

/// What carries the run out, and where its jobs come from.
enum class World : std::uint8_t { kSimulated, kLive, kService };

/// Everything that decides how a run comes out. Texts that are empty stand for what is usual.
struct RunSpec {
  World world = World::kLive;

  std::string trace;                            ///< file; "-": standard input
  std::string jobs_from;                        ///< side file; empty: the one beside the trace, if it is there
  std::string nodes_from;                       ///< node events of a simulation; empty: beside the trace; "none"
  std::map<std::string, std::string> cleaning;  ///< rules as given, by name: cleaning_rules() checks them
  bool strict = false;                          ///< a broken line of the trace is an error
  std::optional<double> scale_from;  ///< job sizes are scaled from a machine of so many cores; 0: of the trace's own
  std::optional<Duration> until;     ///< > 0: the run ends so long after its first job

  std::string machine;                ///< empty: the trace's own; of real runs: local
  bool flat = false;                  ///< one pool of cores
  std::vector<std::string> policies;  ///< as written
  std::string runtime_model;          ///< empty: utrera; of real runs: isolated
  std::string profile;                ///< file of the model `calibrated`; empty: that of `replay calibrate`
  std::string pairs;                  ///< file of the model `pairs`; empty: the one beside the trace, if it is there
  Misjudgement errors{};
  Overrun overrun = Overrun::kKill;
  bool requeues_lost = false;  ///< jobs of a node that goes down wait again
  bool keep_jobs = false;      ///< of a real run: they outlive its daemon for as long as the lease says
  std::uint64_t seed = 1;
  std::string outputs;  ///< as results::parse_outputs() takes them

  // Of real runs.
  NodeUse node{};
  double time_scale =
      1;  ///< real seconds per second of the trace: 1e-6 (a microsecond is the least of both times) to 1000
  Pairing pairing = Pairing::kBlock;
  bool label = false;                ///< lines of the jobs' output begin with host and rank
  std::string program;               ///< of every job; empty: the trace's, or `phases`
  bool programs_from_trace = false;  ///< those that are no benchmarks of ours may run

  friend bool operator==(const RunSpec&, const RunSpec&) = default;
};

/// One option of a run.
struct RunOption {
  enum class Kind : std::uint8_t { kText, kChoice, kFlag };
  std::string name;  ///< "--trace"
  Kind kind = Kind::kText;
  std::string type;  ///< of its value, for help texts
  std::string help;
  std::vector<std::string> words{};  ///< kChoice
  /// Throws UsageError naming option, what was expected and what was found. Null: kFlag.
  std::function<void(RunSpec&, const std::string&)> set{};
  std::function<std::string(const RunSpec&)> text{};  ///< as set() reads it; of a flag "on" or ""
  std::function<bool&(RunSpec&)> flag{};              ///< kFlag only
};

/// All of them but the cleaning rules (cleaning_options()), in the order of words.
[[nodiscard]] std::span<const RunOption> run_options();
/// The options in which they differ: "--policy easy and not fcfs, --lease 1min and not 30s", `a` first. Empty: there are none.
[[nodiscard]] std::string differences_text(const RunSpec& a, const RunSpec& b);
/// REQUIRES: there is such an option.
[[nodiscard]] const RunOption& run_option(std::string_view name);
/// Its value as a word.
[[nodiscard]] inline std::string option_text(const RunSpec& spec, std::string_view name) {
  return run_option(name).text(spec);
}

/// Throws UsageError that lists the possible values.
[[nodiscard]] CleaningRules cleaning_rules(const std::map<std::string, std::string>& given);

/// Of words such as `simulate --trace t.swf --policy easy`, without a program. Throws UsageError naming the word.
[[nodiscard]] RunSpec parse(std::span<const std::string> words);
/// The words of which parse() makes the same value; what is as usual is left out.
[[nodiscard]] std::vector<std::string> to_words(const RunSpec& spec);

}  // namespace replay::experiment
