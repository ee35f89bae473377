#include "scheduler/experiment/run_spec.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/policy/view/parameters.hpp"
#include "scheduler/results/output_names.hpp"

namespace replay::experiment {
namespace {

using Kind = RunOption::Kind;

constexpr Duration kShortestQuantum{1'000};  // below it the timer's delay is as long as a slice
constexpr Duration kLongestQuantum{1'000'000};
constexpr double kLeastTimeScale = 1e-6, kMostTimeScale = 1000;

// A member of a run, constant or not, as the run is.
#define OF_RUN(member) \
  [](auto& run) -> auto& { return run.member; }

template <class Field>
RunOption text_option(const char* name, const char* type, std::string help, Field field) {
  return {.name = name,
          .type = type,
          .help = std::move(help),
          .set = [field](RunSpec& run, const std::string& text) { field(run) = text; },
          .text = [field](const RunSpec& run) { return field(run); }};
}

template <class Field>
RunOption flag_option(const char* name, std::string help, Field field) {
  return {.name = name,
          .kind = Kind::kFlag,
          .type = "",
          .help = std::move(help),
          .text = [field](const RunSpec& run) { return std::string{field(run) ? "on" : ""}; },
          .flag = [field](RunSpec& run) -> bool& { return field(run); }};
}

template <class Field, class Value, std::size_t N>
RunOption choice_option(const char* name, const char* type, std::string help, const Choice<Value> (&choices)[N],
                        Field field) {
  RunOption option{.name = name, .kind = Kind::kChoice, .type = type, .help = std::move(help)};
  for (const Choice<Value>& choice : choices) option.words.emplace_back(choice.word);
  option.set = [name, &choices, field, words = option.words](RunSpec& run, const std::string& text) {
    const auto found = std::ranges::find(words, text);
    if (found == words.end())
      throw UsageError(fmt::format("{}: expected one of {}, found '{}'", name, fmt::join(words, ","), text));
    field(run) = choices[found - words.begin()].value;
  };
  option.text = [&choices, field](const RunSpec& run) { return std::string{word_of(choices, field(run))}; };
  return option;
}

template <class Field>
RunOption number_option(const char* name, const char* type, std::string help, double most, Field field) {
  using Number = std::remove_cvref_t<decltype(field(std::declval<RunSpec&>()))>;
  return {.name = name,
          .kind = std::is_integral_v<Number> ? Kind::kCount : Kind::kNumber,
          .type = type,
          .help = std::move(help),
          .most = most,
          .set =
              [name, most, field](RunSpec& run, const std::string& text) {
                const auto number = parse_number<Number>(text);
                if (!number) throw UsageError(fmt::format("{}: expected a number, found '{}'", name, text));
                if (const auto value = static_cast<double>(*number); most > 0 && !(value >= 0 && value <= most))
                  throw UsageError(fmt::format("{}: expected a number from 0 to {}, found '{}'", name, most, text));
                field(run) = *number;
              },
          .text = [field](const RunSpec& run) { return fmt::format("{}", field(run)); }};
}

// A duration from 1 ms to 1 s; where `or_nothing`, 0 too.
template <class Field>
RunOption slice_option(const char* name, std::string help, bool or_nothing, Field field) {
  return {.name = name,
          .type = "T",
          .help = std::move(help),
          .set =
              [name, or_nothing, field](RunSpec& run, const std::string& text) {
                const auto slice = parse_duration(text);
                const bool is_nothing = or_nothing && text == "0";
                if (!is_nothing && (!slice || *slice < kShortestQuantum || *slice > kLongestQuantum))
                  throw UsageError(fmt::format("{}: expected {}a duration from 1ms to 1s, found '{}'", name,
                                               or_nothing ? "0 or " : "", text));
                field(run) = *slice;
              },
          .text = [field](const RunSpec& run) { return with_unit(field(run)); }};
}

RunOption policies_option() {
  return {.name = "--policy",
          .type = "LIST",
          .help = "policies, joined by commas; parameters as name:key=value (`replay policies` lists them)",
          .set =
              [](RunSpec& run, const std::string& text) {
                run.policies = text.empty() ? std::vector<std::string>{} : split_policies(text);
              },
          .text = [](const RunSpec& run) { return fmt::format("{}", fmt::join(run.policies, ",")); }};
}

RunOption until_option() {
  return {
      .name = "--until",
      .type = "T",
      .help = "end the run at this time of the trace, from its first job on: 90s, 2h",
      .set =
          [](RunSpec& run, const std::string& text) {
            run.until = parse_duration(text);
            if (!run.until || *run.until <= Duration::zero())
              throw UsageError(fmt::format("--until: expected a duration such as 90s, 5min or 2h, found '{}'", text));
          },
      .text = [](const RunSpec& run) { return run.until ? with_unit(*run.until) : ""; }};
}

RunOption scale_option() {
  return {
      .name = "--scale-sizes",
      .type = "auto|N",
      .help = "scale job sizes to the machine: from the trace's machine (auto), or from a machine of N cores",
      .set =
          [](RunSpec& run, const std::string& text) {
            const auto number = text == "auto" ? Duration::zero() : parse_seconds(text);
            if (!number || (text != "auto" && *number < std::chrono::seconds{1}))
              throw UsageError(fmt::format("--scale-sizes: expected auto or a count of cores >= 1, found '{}'", text));
            run.scale_from = seconds(*number);
          },
      .text =
          [](const RunSpec& run) {
            if (!run.scale_from) return std::string{};
            return *run.scale_from == 0 ? "auto" : to_text(from_seconds(*run.scale_from));
          }};
}

RunOption time_scale_option() {
  RunOption option = number_option("--time-scale", "", "real seconds per second of the trace", 0, OF_RUN(time_scale));
  option.set = [](RunSpec& run, const std::string& text) {
    const auto number = parse_number<double>(text);
    if (!number || !(*number >= kLeastTimeScale && *number <= kMostTimeScale))
      throw UsageError(fmt::format("--time-scale: expected a number from {} to {}, found '{}'", kLeastTimeScale,
                                   kMostTimeScale, text));
    run.time_scale = *number;
  };
  return option;
}

std::string help_on_error(const char* of_what) {
  return fmt::format(
      "how wrong declared {} are: a job's true ones are the declared to the power p, drawn from 1/(1+E) to 1+E by "
      "--seed; one that then takes longer than estimated is killed, unless --overrun extend",
      of_what);
}

std::vector<RunOption> all_options() {
  return {
      text_option("--trace", "FILE", "the trace: SWF, plain or .gz, '-' for standard input", OF_RUN(trace)),
      text_option("--jobs-from", "FILE",
                  "the side file of the trace (default: NAME.jobs.csv beside NAME.swf, if it is there)",
                  OF_RUN(jobs_from)),
      policies_option(),
      text_option("--machine", "MACHINE", "", OF_RUN(machine)),
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
      number_option("--curve-error", "E", help_on_error("speedup curves"), 10, OF_RUN(errors.curve_error)),
      number_option("--slowdown-error", "E", help_on_error("slowdowns, beside others and by itself,"), 10,
                    OF_RUN(errors.slowdown_error)),
      choice_option("--overrun", "",
                    "what happens to a job at the end of its estimate: kill it, extend the estimate by 10 %, or as "
                    "the policy says (slack; the others kill)",
                    kOverruns, OF_RUN(overrun)),
      until_option(),
      scale_option(),
      number_option("--seed", "", "everything that is drawn by chance follows from it", 0, OF_RUN(seed)),
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
      time_scale_option(),
      choice_option("--pairing", "", "which ranks of a shrunk job share a core: block (neighbours) or cyclic",
                    kPairings, OF_RUN(pairing)),
      text_option("--program", "CMD",
                  "run this MPI program for every job; {n} {id} {runtime} {cpu_use} {seed} are filled in",
                  OF_RUN(program)),
      flag_option("--programs-from-trace",
                  "run what the trace's Program table names, though it is no benchmark of ours",
                  OF_RUN(programs_from_trace)),
      flag_option("--strict", "stop at the first broken line instead of skipping and counting it", OF_RUN(strict)),
  };
}

#undef OF_RUN

const RunOption* find_option(std::string_view name) {
  const auto options = run_options();
  const auto found = std::ranges::find(options, name, &RunOption::name);
  return found == options.end() ? nullptr : &*found;
}

bool is_cleaning_rule(std::string_view option) {
  return option.starts_with("--") &&
         std::ranges::find(cleaning_options(), option.substr(2), &CleaningOption::name) != cleaning_options().end();
}

}  // namespace

std::span<const RunOption> run_options() {
  static const std::vector<RunOption> kAll = all_options();
  return kAll;
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
    if (option == nullptr && !is_cleaning_rule(name)) throw UsageError(fmt::format("there is no option '{}'", name));
    if (option != nullptr && option->kind == Kind::kFlag) {
      option->flag(run) = true;
      continue;
    }
    if (mark == std::string::npos && word + 1 == words.end())
      throw UsageError(fmt::format("{}: expected a value", name));
    const std::string value = mark == std::string::npos ? *++word : word->substr(mark + 1);
    if (option != nullptr)
      option->set(run, value);
    else
      run.cleaning[name.substr(2)] = value;
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
  for (const auto& [name, value] : spec.cleaning) words.push_back(fmt::format("--{}={}", name, value));
  return words;
}

}  // namespace replay::experiment
