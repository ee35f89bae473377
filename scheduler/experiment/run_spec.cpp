#include "scheduler/experiment/run_spec.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include "scheduler/base/text/add_item.hpp"
#include "scheduler/policy/view/parameters.hpp"
#include "scheduler/results/output_names.hpp"

namespace replay::experiment {
namespace {

using Kind = RunOption::Kind;

// A member of a run, constant or not, as the run is.
#define OF_RUN(member) \
  [](auto& run) -> auto& { return run.member; }

// An option whose value is the member `field`, made of a word by `read` and made a word by `write`.
template <class Field, class Read, class Write>
RunOption option(const char* name, Kind kind, const char* type, std::string help, Field field, Read read, Write write) {
  return {.name = name,
          .kind = kind,
          .type = type,
          .help = std::move(help),
          .set = [=](RunSpec& run, const std::string& text) { field(run) = read(text); },
          .text = [=](const RunSpec& run) -> std::string { return write(field(run)); }};
}

template <class Field>
RunOption text_option(const char* name, const char* type, std::string help, Field field) {
  const auto as_it_is = [](const std::string& text) { return text; };
  return option(name, Kind::kText, type, std::move(help), field, as_it_is, as_it_is);
}

template <class Field>
RunOption flag_option(const char* name, std::string help, Field field) {
  RunOption made = option(
      name, Kind::kFlag, "", std::move(help), field, [](const std::string& text) { return text == "on"; },
      [](bool is_on) { return is_on ? "on" : ""; });
  made.flag = [field](RunSpec& run) -> bool& { return field(run); };
  return made;
}

template <class Field, class Value, std::size_t N>
RunOption choice_option(const char* name, const char* type, std::string help, const Choice<Value> (&choices)[N],
                        Field field) {
  RunOption made = option(
      name, Kind::kChoice, type, std::move(help), field,
      [name, &choices](const std::string& text) { return value_of(name, choices, text); },
      [&choices](Value value) { return std::string{word_of(choices, value)}; });
  made.words = words_of(choices);
  return made;
}

template <class Number, class Field>
RunOption number_option(const char* name, const char* type, std::string help, Number least, Number most, Field field) {
  const auto read = [=](const std::string& text) { return number_of(name, text, least, most); };
  return option(name, Kind::kText, type, std::move(help), field, read,
                [](Number number) { return fmt::format("{}", number); });
}

// An error of what jobs declare.
template <class Field>
RunOption error_option(const char* name, const char* of_what, Field field) {
  return number_option<double>(
      name, "E in [0 - 10]",
      fmt::format("how wrong declared {} are: a job's true ones are the declared to the power p, drawn from 1/(1+E) to "
                  "1+E by --seed; one that then takes longer than estimated is killed, unless --overrun extend",
                  of_what),
      0, 10, field);
}

// A duration from 1 ms, below which the timer's delay is as long as a slice, to 1 s; where `or_nothing`, 0 too.
template <class Field>
RunOption slice_option(const char* name, std::string help, bool or_nothing, Field field) {
  const auto read = [=](const std::string& text) {
    const auto slice = parse_duration(text);
    const bool is_nothing = or_nothing && text == "0";
    if (!is_nothing && (!slice || *slice < std::chrono::milliseconds{1} || *slice > std::chrono::seconds{1}))
      throw UsageError(
          fmt::format("{}: expected {}a duration from 1ms to 1s, found '{}'", name, or_nothing ? "0 or " : "", text));
    return *slice;
  };
  return option(name, Kind::kText, "T", std::move(help), field, read, with_unit);
}

std::vector<std::string> read_policies(const std::string& text) {
  return text.empty() ? std::vector<std::string>{} : split_policies(text);
}

std::string read_machine(const std::string& text) {
  if (text.empty()) throw UsageError("--machine: expected a machine such as 1x1x4, found ''");
  return text;
}

std::optional<Duration> read_until(const std::string& text) {
  const auto until = parse_duration(text);
  if (!until || *until <= Duration::zero())
    throw UsageError(fmt::format("--until: expected a duration such as 90s, 5min or 2h, found '{}'", text));
  return until;
}

Duration read_lease(const std::string& text) {
  const auto lease = text == "0" ? Duration::zero() : parse_duration(text);
  if (!lease || (*lease != Duration::zero() && *lease < std::chrono::seconds{1}) || *lease > std::chrono::hours{1})
    throw UsageError(fmt::format("--lease: expected 0 or a duration from 1s to 1h, found '{}'", text));
  return *lease;
}

std::optional<double> read_scale(const std::string& text) {
  if (text == "auto") return 0;
  const auto number = parse_seconds(text);
  if (!number || *number < std::chrono::seconds{1})
    throw UsageError(fmt::format("--scale-sizes: expected auto or a count of cores >= 1, found '{}'", text));
  return seconds(*number);
}

std::string write_scale(const std::optional<double>& from) {
  if (!from) return "";
  return *from == 0 ? "auto" : to_text(from_seconds(*from));
}

// One of cleaning_options().
RunOption rule_option(std::string_view name) {
  const std::string rule{name};
  return {.name = "--" + rule,
          .type = "",
          .help = "",
          .set = [rule](RunSpec& run, const std::string& text) { run.cleaning[rule] = text; },
          .text =
              [rule](const RunSpec& run) {
                const auto given = run.cleaning.find(rule);
                return given == run.cleaning.end() ? "" : given->second;
              }};
}

std::vector<RunOption> all_options() {
  std::vector<RunOption> options = {
      text_option("--trace", "FILE", "the trace: SWF, plain or .gz, '-' for standard input", OF_RUN(trace)),
      text_option("--jobs-from", "FILE",
                  "the side file of the trace (default: NAME.jobs.csv beside NAME.swf, if it is there)",
                  OF_RUN(jobs_from)),
      text_option("--nodes-from", "FILE|none",
                  "when nodes of the machine are down, drained or reserved (default: NAME.nodes.csv beside NAME.swf, "
                  "if it is there); none: never",
                  OF_RUN(nodes_from)),
      option("--policy", Kind::kText, "LIST",
             "policies, joined by commas; parameters as name:key=value (`replay policies` lists them)",
             OF_RUN(policies), read_policies,
             [](const auto& policies) { return fmt::format("{}", fmt::join(policies, ",")); }),
      option("--machine", Kind::kText, "MACHINE", "", OF_RUN(machine), read_machine,
             [](const std::string& machine) { return machine; }),
      flag_option("--flat", "one pool of cores: nodes do not matter", OF_RUN(flat)),
      text_option("--runtime-model", "NAME", "how fast a shrunk job runs (`replay models` lists them)",
                  OF_RUN(runtime_model)),
      text_option("--profile", "FILE",
                  "what the runtime model calibrated reads (default: the profile that `replay calibrate` makes)",
                  OF_RUN(profile)),
      text_option("--pairs", "FILE",
                  "what the runtime model pairs reads: job,beside,slowdown (default: NAME.pairs.csv beside NAME.swf, "
                  "if it is there)",
                  OF_RUN(pairs)),
      error_option("--curve-error", "speedup curves", OF_RUN(errors.curve_error)),
      error_option("--slowdown-error", "slowdowns, beside others and by itself,", OF_RUN(errors.slowdown_error)),
      choice_option("--overrun", "",
                    "what happens to a job at the end of its estimate: kill it, extend the estimate by 10 %, or as "
                    "the policy says (slack; the others kill)",
                    kOverruns, OF_RUN(overrun)),
      flag_option("--requeue-lost",
                  "a job of a node that goes down waits again, at its old place, and starts anew; else it is lost",
                  OF_RUN(requeues_lost)),
      option("--until", Kind::kText, "T", "end the run at this time of the trace, from its first job on: 90s, 2h",
             OF_RUN(until), read_until, [](const auto& until) { return until ? with_unit(*until) : ""; }),
      option("--scale-sizes", Kind::kText, "auto|N",
             "scale job sizes to the machine: from the trace's machine (auto), or from a machine of N cores",
             OF_RUN(scale_from), read_scale, write_scale),
      number_option<std::uint64_t>("--seed", "N", "everything that is drawn by chance follows from it", 0,
                                   std::numeric_limits<std::uint64_t>::max(), OF_RUN(seed)),
      text_option("--outputs", "LIST",
                  fmt::format("which files to write: all, none, or some of {}", results::output_list()),
                  OF_RUN(outputs)),
      flag_option("--smt", "count hardware threads as cores", OF_RUN(node.smt)),
      choice_option("--back-end", "",
                    "how ranks give a shared core away: yield, token, or what a test finds better here (auto)",
                    kBackEnds, OF_RUN(node.back_end)),
      slice_option("--quantum", "emulated cores: how long a rank computes at most while another one waits for the core",
                   false, OF_RUN(node.quantum)),
      slice_option("--turn",
                   "jobs that share real cores: how long one computes on them while the others are stopped; 0: all "
                   "run at the same time",
                   true, OF_RUN(node.turn)),
      choice_option("--job-network", "NAME",
                    "network of a job: its own, in which only its ranks and its mpiexec are, where the system permits "
                    "it, or the host's, for programs that need the network",
                    kJobNetworks, OF_RUN(node.job_network)),
      text_option("--agent-key", "FILE", "key file of a remote agent", OF_RUN(node.agent_key)),
      text_option("--bootstrap", "CMD",
                  "hosts: how an agent is started there, called as CMD HOST COMMAND... (default ssh -o BatchMode=yes; "
                  "with --machine slurm: srun)",
                  OF_RUN(node.bootstrap)),
      option(
          "--lease", Kind::kText, "T",
          "agents: how long jobs go on, and the run waits for them, while the line to their agent is cut; 0: they end "
          "with it",
          OF_RUN(node.lease), read_lease, with_unit),
      flag_option(
          "--keep-jobs",
          "jobs go on for as long as --lease says when this program is killed, and `replay --resume RUN` goes on "
          "with the run",
          OF_RUN(keep_jobs)),
      number_option("--time-scale", "F", "real seconds per second of the trace", 1e-6, 1000.0, OF_RUN(time_scale)),
      choice_option("--pairing", "", "which ranks of a shrunk job share a core: block (neighbours) or cyclic",
                    kPairings, OF_RUN(pairing)),
      flag_option("--label", "begin each line of a job's output with its host and rank, such as [node1 0]",
                  OF_RUN(label)),
      text_option("--program", "CMD",
                  "run this MPI program for every job; {n} {id} {runtime} {cpu_use} {seed} are filled in",
                  OF_RUN(program)),
      flag_option("--programs-from-trace",
                  "run what the trace's Program table names, though it is no benchmark of ours",
                  OF_RUN(programs_from_trace)),
      flag_option("--strict", "stop at the first broken line instead of skipping and counting it", OF_RUN(strict)),
  };
  for (const CleaningOption& rule : cleaning_options()) options.push_back(rule_option(rule.name));
  return options;
}

#undef OF_RUN

const RunOption* find_option(std::string_view name) {
  const auto options = run_options();
  const auto found = std::ranges::find(options, name, &RunOption::name);
  return found == options.end() ? nullptr : &*found;
}

}  // namespace

std::optional<std::string> hosts_file_of(std::string_view machine) {
  constexpr std::string_view kHosts = "hosts:";
  if (machine.starts_with(kHosts)) return std::string{machine.substr(kHosts.size())};
  if (machine != "pbs") return std::nullopt;
  const char* const file = std::getenv("PBS_NODEFILE");
  if (file == nullptr || *file == '\0')
    throw UsageError("--machine pbs: expected to run inside a job of PBS or Torque (qsub), found no PBS_NODEFILE");
  return file;
}

std::span<const RunOption> run_options() {
  static const std::vector<RunOption> kAll = all_options();
  return kAll;
}

std::string differences_text(const RunSpec& a, const RunSpec& b) {
  std::string text;
  for (const RunOption& option : run_options()) {
    const auto word = [&option](const RunSpec& spec) {
      const std::string value = option.text(spec);
      return value.empty() ? "none" : option.kind == RunOption::Kind::kFlag ? "given" : value;
    };
    if (option.text(a) != option.text(b)) add_item(text, ", ", "{} {} and not {}", option.name, word(a), word(b));
  }
  return text;
}

const RunOption& run_option(std::string_view name) {
  const RunOption* const option = find_option(name);
  INVARIANT(option != nullptr, "a run has no option {}", name);
  return *option;
}

CleaningRules cleaning_rules(const std::map<std::string, std::string>& given) {
  CleaningRules rules;
  for (const auto& [name, value] : given) set_rule(rules, name, value);
  return rules;
}

RunSpec parse(std::span<const std::string> words) {
  RunSpec run;
  auto word = words.begin();
  if (word != words.end() && *word == "simulate")
    run.world = World::kSimulated, ++word;
  else if (word != words.end() && *word == "serve")
    run.world = World::kService, ++word;
  for (; word != words.end(); ++word) {
    const std::size_t mark = word->find('=');
    const std::string name = word->substr(0, mark);
    const RunOption* const option = find_option(name);
    if (option == nullptr) throw UsageError(fmt::format("there is no option '{}'", name));
    const bool is_flag = option->kind == Kind::kFlag;
    if (!is_flag && mark == std::string::npos && word + 1 == words.end())
      throw UsageError(fmt::format("{}: expected a value", name));
    option->set(run, is_flag ? "on" : mark == std::string::npos ? *++word : word->substr(mark + 1));
  }
  (void)cleaning_rules(run.cleaning);
  return run;
}

std::vector<std::string> to_words(const RunSpec& spec) {
  std::vector<std::string> words;
  if (spec.world != World::kLive) words.emplace_back(spec.world == World::kSimulated ? "simulate" : "serve");
  const RunSpec usual;
  for (const RunOption& option : run_options()) {
    const std::string text = option.text(spec);
    if (text == option.text(usual)) continue;
    if (option.kind == Kind::kFlag)
      words.push_back(option.name);
    else if (text.starts_with('-') && text.size() > 1)  // after a blank it would be read as an option
      words.push_back(fmt::format("{}={}", option.name, text));
    else
      words.insert(words.end(), {option.name, text});
  }
  return words;
}

}  // namespace replay::experiment
