// A measurement of what vmlib costs and gains, as tables: small messages and kernels with and without it, on cores of
// their own and on shared ones; how long moving ranks takes; what the agent adds to a job; two jobs on the same cores.
// Everything is run in alternating rounds and stands beside the targets that were set for it. Figures count on a quiet
// machine only; the load of others is measured before and after and reported.

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/utsname.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "benchmarks/perf/measured_runs.hpp"
#include "benchmarks/perf/vmlib_figures.hpp"
#include "launcher/os/topology.hpp"
#include "scheduler/base/file/paths.hpp"
#include "scheduler/experiment/disturbance.hpp"
#include "scheduler/experiment/programs.hpp"

namespace replay::bench {
namespace {

namespace fs = std::filesystem;

constexpr int kStockSharedRounds = 3;  // they take seconds each, and differ from the others by a hundredfold

struct Given {
  int rounds = 5;
  int cycles = 100;
  double scale = 1;
  bool quick = false;
  std::string cores;
  std::vector<std::string> only;
  std::string markdown;
};

/// A row of the table, and how often the program repeats itself, so that a run takes about half a second.
struct Program {
  std::string name;
  std::string unit;
  std::string result;  ///< the row of its output that counts
  Words command;
  std::string count_option;
  int alone;
  int shared;
  int stock_shared;
  bool runs_as_one_rank;
};

Program message(const std::string& name, const std::string& pattern, int alone, int shared, int stock_shared) {
  return {name,         "us", "us_per_operation", {"messages", "--pattern", pattern}, "--count", alone, shared,
          stock_shared, false};
}
Program kernel(const std::string& name, const std::string& size, int alone, int shared) {
  return {name + " " + size, "s", "time_per_repeat_s", {name, "--class", size}, "--repeat", alone, shared, 1, true};
}

/// The rows with a program that has been built. Of each kernel a class that the targets are for, and the smallest one,
/// in which messages weigh most.
std::vector<Program> programs(const fs::path& folder, const std::vector<std::string>& only) {
  std::vector<Program> all{message("ping-pong 8 B", "pingpong", 1'000'000, 100'000, 50),
                           message("allreduce 8 B", "allreduce", 500'000, 50'000, 30),
                           message("barrier", "barrier", 500'000, 50'000, 20),
                           kernel("cg", "S", 60, 30),
                           kernel("cg", "W", 10, 5),
                           kernel("ep", "S", 5, 3),
                           kernel("ep", "W", 3, 2),
                           kernel("is", "S", 200, 100),
                           kernel("is", "A", 5, 3),
                           kernel("mg", "S", 60, 30),
                           kernel("mg", "A", 2, 1),
                           kernel("ft", "S", 10, 5),
                           kernel("ft", "A", 1, 1),
                           kernel("lu", "S", 60, 30),
                           kernel("lu", "W", 1, 1)};
  std::erase_if(all, [&](const Program& program) {
    const bool is_wanted = only.empty() || std::ranges::find(only, program.command[0]) != only.end();
    return !is_wanted || !fs::exists(folder / program.command[0]);
  });
  return all;
}

class Bench {
 public:
  explicit Bench(const Given& given)
      : given_(given),
        folder_(REPLAY_BENCH_DIR),
        mpiexec_(find_program("mpiexec").value_or(fs::path{})),
        yield_(mpiexec_, folder_ / "libreplay-vm.so", launcher::BackEnd::kYield),
        token_(mpiexec_, folder_ / "libreplay-vm.so", launcher::BackEnd::kToken) {
    yield_.connect();
    token_.connect();
    const auto cores = launcher::discover_local(given.cores.empty() ? "local" : "local:" + given.cores).pu_of_core;
    if (cores.size() < 2) throw std::runtime_error("two cores are needed");
    a_ = number(cores[0]);
    b_ = number(cores[1]);
  }

  [[nodiscard]] Cores cores() const { return {a_, b_}; }

  Measurements measure() {
    has_token_ = token_.back_end(command_of("phases", {"--runtime", "0.5", "--pattern", "bsp"}), {a_, a_}) == "token";
    if (!has_token_) measured_.notes.emplace_back("the agent does not use the token on this machine: no figures of it");
    for (const Program& program : programs(folder_, given_.only)) measured_.series.push_back(measure(program));
    if (!given_.only.empty()) return measured_;
    measure_moves();
    measure_start_to_end();
    measure_pairs();
    return measured_;
  }

 private:
  [[nodiscard]] Words command_of(const std::string& name, Words arguments) const {
    arguments.insert(arguments.begin(), (folder_ / name).string());
    return arguments;
  }

  [[nodiscard]] bool is_wanted(Setting setting, const Program& program, int round) const {
    switch (setting) {
      case Setting::kStockShared:
      case Setting::kStockFour: return !given_.quick && round < kStockSharedRounds;
      case Setting::kTokenShared:
      case Setting::kTokenFour: return has_token_;
      case Setting::kOneRank: return program.runs_as_one_rank;
      default: return true;
    }
  }

  [[nodiscard]] std::string count(Setting setting, const Program& program) const {
    if (setting == Setting::kStockShared || setting == Setting::kStockFour) return scaled(program.stock_shared);
    const bool is_alone = setting == Setting::kStock || setting == Setting::kVmlib || setting == Setting::kOneRank;
    return scaled(is_alone ? program.alone : program.shared);
  }
  [[nodiscard]] std::string scaled(int count) const {
    return fmt::format("{}", std::max(1L, std::lround(count * given_.scale)));
  }

  MeasuredRun run(Setting setting, const Words& command) {
    switch (setting) {
      case Setting::kStock: return run_bare(mpiexec_, command, {a_, b_});
      case Setting::kVmlib: return yield_.run(command, {a_, b_});
      case Setting::kStockShared: return run_bare(mpiexec_, command, {a_, a_});
      case Setting::kYieldShared: return yield_.run(command, {a_, a_});
      case Setting::kTokenShared: return token_.run(command, {a_, a_});
      case Setting::kOneRank: return run_bare(mpiexec_, command, {a_});
      case Setting::kStockFour: return run_bare(mpiexec_, command, {a_, a_, b_, b_});
      case Setting::kYieldFour: return yield_.run(command, {a_, a_, b_, b_});
      case Setting::kTokenFour: return token_.run(command, {a_, a_, b_, b_});
    }
    return {};
  }

  Series measure(const Program& program) {
    Series series{program.name, program.unit, {}};
    for (int round = 0; round < given_.rounds; ++round) {
      fmt::print(stderr, "{}, round {} of {}\n", program.name, round + 1, given_.rounds);
      for (const Setting setting : kSettings) {
        if (!is_wanted(setting, program, round)) continue;
        Words command = command_of(program.command[0], {program.command.begin() + 1, program.command.end()});
        command.insert(command.end(), {program.count_option, count(setting, program)});
        series.rounds[setting].push_back(experiment::benchmark_figure(run(setting, command).output, program.result));
      }
    }
    return series;
  }

  void measure_moves() {
    measured_.moves_wanted = 2 * given_.cycles;
    // A repetition takes 60 ms expanded, twice that shrunk; a move and its pause 20 ms. With some to spare.
    const std::string repeats = fmt::format("{}", given_.cycles);
    const auto move = [&](AgentRuns& agent) {
      return agent.move(command_of("cg", {"--class", "W", "--repeat", repeats}), {a_, b_}, {a_, a_}, given_.cycles);
    };
    fmt::print(stderr, "moves\n");
    measured_.moves["yield"] = move(yield_);
    if (has_token_) measured_.moves["token"] = move(token_);
  }

  void measure_start_to_end() {
    fmt::print(stderr, "start to end\n");
    const Words command = command_of("messages", {"--pattern", "barrier", "--count", "1"});
    for (int round = 0; round < 4 * given_.rounds + 1; ++round) {
      measured_.start_to_end_bare.push_back(run_bare(mpiexec_, command, {a_, b_}).seconds);
      measured_.start_to_end_agent.push_back(yield_.run(command, {a_, b_}).seconds);
    }
  }

  /// Jobs of about two seconds each.
  void measure_pairs() {
    PairSeries pair{"cg W and ep W", {}, {}};
    const Words cg = command_of("cg", {"--class", "W", "--repeat", scaled(32)});
    const Words ep = command_of("ep", {"--class", "W", "--repeat", scaled(9)});
    for (int round = 0; round < given_.rounds; ++round) {
      fmt::print(stderr, "{}, round {} of {}\n", pair.name, round + 1, given_.rounds);
      pair.one_after_the_other.push_back(yield_.run(cg, {a_, b_}).seconds + yield_.run(ep, {a_, b_}).seconds);
      run_together(pair, "yield", yield_, cg, ep);
      if (has_token_) run_together(pair, "token", token_, cg, ep);
    }
    measured_.pairs.push_back(std::move(pair));
  }

  /// Without a hand-over the ranks of the two jobs have not noticed that they share a core, and the time does not
  /// count.
  void run_together(PairSeries& pair, const std::string& name, AgentRuns& agent, const Words& cg, const Words& ep) {
    const AgentRuns::Together together = agent.run_together({cg, ep}, {a_, b_});
    if (together.handoffs > 0)
      pair.together[name].push_back(together.seconds);
    else if (pair.together[name].empty())
      measured_.notes.push_back(
          fmt::format("{}, {}: no core was handed over between the jobs, so this is no figure", pair.name, name));
  }

  const Given& given_;
  fs::path folder_;
  fs::path mpiexec_;
  AgentRuns yield_;
  AgentRuns token_;
  int a_ = 0;
  int b_ = 0;
  bool has_token_ = false;
  Measurements measured_;
};

// ---- where and when -------------------------------------------------------------------------------------------------

/// The text behind the colon of the first line that begins with `name`.
std::string field(std::istream& in, const std::string& name) {
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || line.find(name) == std::string::npos) continue;
    const std::size_t text = line.find_first_not_of(" \t", colon + 1);
    return text == std::string::npos ? "" : line.substr(text);
  }
  return "";
}

std::string mpich_version(const fs::path& mpiexec) {
  std::string text;
  if (std::FILE* const pipe = ::popen((mpiexec.string() + " -version 2>/dev/null").c_str(), "r")) {
    char buffer[256];
    while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) text += buffer;
    ::pclose(pipe);
  }
  std::istringstream lines{text};
  return field(lines, "Version");
}

std::string load_text(double before, double after) {
  return fmt::format("others used {:.0f} % of the machine before, {:.0f} % after", before * 100, after * 100);
}

/// The facts about a run, one per line.
std::vector<std::string> circumstances(const std::string& command, const Cores& cores, const std::string& load) {
  utsname system{};
  ::uname(&system);
  std::ifstream cpus{"/proc/cpuinfo"};
  return {fmt::format("command: `{}`", command),
          fmt::format("machine: {}, {} cores may be used; measured on {}", field(cpus, "model name"),
                      launcher::affinity_mask().size(), fmt::join(cores, " and ")),
          fmt::format("kernel: {} {}", system.sysname, system.release),
          fmt::format("MPICH: {}", mpich_version(find_program("mpiexec").value_or(fs::path{}))),
          fmt::format("date: {:%Y-%m-%d}",
                      fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()))),
          load};
}

void write_markdown(const std::string& file, const std::vector<std::string>& facts, const Measurements& measured) {
  std::ofstream out{file};
  out << "# vmlib\n\n";
  for (const std::string& fact : facts) out << "- " << fact << '\n';
  for (const std::string& note : measured.notes) out << "- " << note << '\n';
  out << "\nMedians of alternating rounds. Overhead is the median of the differences within a round.\n"
         "Fastest: from the fastest round of each setting alone.\n";
  for (const Table& table : tables_of(measured)) out << '\n' << table.markdown();
  if (!out.flush()) throw std::system_error(errno, std::generic_category(), file);
}

int measure_and_print(const Given& given, const std::string& command) {
  if (!find_program("mpiexec")) throw std::runtime_error("mpiexec is not on the PATH: install MPICH");
  const double before = experiment::load_of_others().value_or(0);
  Bench bench{given};
  Measurements measured = bench.measure();
  const double after = experiment::load_of_others().value_or(0);
  measured.is_disturbed = std::max(before, after) >= experiment::kDisturbed;
  if (measured.is_disturbed)
    measured.notes.emplace_back("DISTURBED: these figures are the strangers', too; repeat them");
  const std::vector<std::string> facts = circumstances(command, bench.cores(), load_text(before, after));
  for (const std::string& fact : facts) fmt::print("{}\n", fact);
  for (const std::string& note : measured.notes) fmt::print("{}\n", note);
  for (const Table& table : tables_of(measured)) fmt::print("\n{}", table.text());
  if (!given.markdown.empty()) write_markdown(given.markdown, facts, measured);
  return 0;
}

}  // namespace
}  // namespace replay::bench

int main(int argc, char** argv) {
  replay::bench::Given given;
  CLI::App app{"What vmlib costs and what it gains on this machine, beside its targets", "vmlib_bench"};
  app.add_option("--rounds", given.rounds, "alternating rounds of each row")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--cycles", given.cycles, "shrinks and expands of a running job")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  app.add_option("--scale", given.scale, "times the usual repetitions: below 1 to try it out")
      ->check(CLI::Range(1e-6, 1e3))
      ->capture_default_str();
  app.add_flag("--quick", given.quick, "without stock MPI on shared cores, which takes minutes");
  app.add_option("--cores", given.cores, "two cores by OS index, such as 2,3 (default: the first two)")
      ->type_name("LIST");
  app.add_option("--only", given.only, "these programs' rows and nothing else: messages, cg, ep, ...")
      ->type_name("NAME");
  app.add_option("--markdown", given.markdown, "write it all here as well")->type_name("FILE");
  CLI11_PARSE(app, argc, argv);
  std::string command = "vmlib_bench";
  for (int i = 1; i < argc; ++i) command += fmt::format(" {}", argv[i]);
  try {
    return replay::bench::measure_and_print(given, command);
  } catch (const std::exception& error) {
    fmt::print(stderr, "vmlib_bench: {}\n", error.what());
    return 1;
  }
}
