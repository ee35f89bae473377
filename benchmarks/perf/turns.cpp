// A measurement of two jobs on the same cores, as a Markdown table a class: for each pair of kernels, how much longer each
// takes beside the other than alone, from its start to its end, and both together against one after the other, launches
// included. With turns of each length that is asked for, and with 0, which is without turns. All of it alternates within a
// round; the load of others stands beside each row.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <list>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
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

struct Given {
  std::vector<std::string> kernels{"ep", "cg", "is", "mg", "ft", "lu"};
  std::vector<std::string> classes{"W", "A"};
  std::vector<double> turns{0, 20};
  int rounds = 3;
  double seconds = 1;
  std::string cores;
};

constexpr double kOfARepetition = 0.1;  // a job may be so much of a repetition shorter than asked for
constexpr double kMostEach = 2.3;       // times its time alone
constexpr double kMostTogether = 1.05;  // times one after the other

struct Figures {
  std::vector<double> first, second, together;
};

class Bench {
 public:
  explicit Bench(const Given& given) : given_(given), folder_(REPLAY_BENCH_DIR) {
    const auto mpiexec = find_program("mpiexec");
    if (!mpiexec) throw std::runtime_error("mpiexec is not on the PATH: install MPICH");
    for (const double turn : given_.turns)
      agents_.emplace_back(*mpiexec, folder_ / "libreplay-vm.so", launcher::BackEnd::kAuto,
                           std::chrono::microseconds{std::lround(turn * 1000)});
    for (AgentRuns& agent : agents_) agent.connect();
    const auto cores = launcher::discover_local(given.cores.empty() ? "local" : "local:" + given.cores).pu_of_core;
    if (cores.size() < 2) throw std::runtime_error("two cores are needed");
    cores_ = {number(cores[0]), number(cores[1])};
  }

  /// How many pairs exceed a bound with the last of the turns.
  int measure() {
    for (const std::string& size : given_.classes) {
      print_head(size);
      for (std::size_t a = 0; a < given_.kernels.size(); ++a)
        for (std::size_t b = a; b < given_.kernels.size(); ++b) measure({given_.kernels[a], given_.kernels[b]}, size);
      fmt::print("\n");
    }
    fmt::print(
        "\\* more than {} times its time alone, or both more than {} times one after the other; with the last of the "
        "turns: {} pairs\n",
        kMostEach, kMostTogether, missed_);
    return missed_;
  }

 private:
  using Pair = std::pair<std::string, std::string>;

  [[nodiscard]] Words command(const std::string& kernel, const std::string& size, double seconds) {
    const auto [known, is_new] = seconds_.try_emplace({kernel, size}, 0.0);
    Words words{(folder_ / kernel).string(), "--class", size};
    if (is_new)
      known->second = experiment::benchmark_figure(agents_.front().run(words, cores_).output, "time_per_repeat_s");
    const auto repeats =
        std::max(1L, static_cast<long>(std::ceil(seconds / std::max(1e-4, known->second) - kOfARepetition)));
    words.insert(words.end(), {"--repeat", fmt::format("{}", repeats)});
    return words;
  }

  void measure(const Pair& pair, const std::string& size) {
    (void)command(pair.first, size, 1);
    (void)command(pair.second, size, 1);
    const double length = std::max({given_.seconds, seconds_.at({pair.first, size}), seconds_.at({pair.second, size})});
    const Words first = command(pair.first, size, length), second = command(pair.second, size, length);
    std::vector<Figures> figures(agents_.size());
    std::vector<double> load;
    for (int round = 0; round < given_.rounds; ++round) {
      load.push_back(experiment::load_of_others().value_or(0));
      const MeasuredRun alone_first = agents_.front().run(first, cores_);
      const MeasuredRun alone_second = first == second ? alone_first : agents_.front().run(second, cores_);
      std::size_t at = 0;
      for (AgentRuns& agent : agents_) {
        const AgentRuns::Together both = agent.run_together({first, second}, cores_);
        figures[at].first.push_back(both.each[0] / alone_first.ran);
        figures[at].second.push_back(both.each[1] / alone_second.ran);
        figures[at++].together.push_back(both.seconds / (alone_first.seconds + alone_second.seconds));
      }
    }
    print(pair, length, figures, load);
  }

  void print_head(const std::string& size) const {
    fmt::print("| {} | alone at least, s |", size);
    for (const double turn : given_.turns)
      fmt::print(" {}: first | second | both |", turn == 0 ? "no turns" : fmt::format("{:g} ms", turn));
    fmt::print(" load of others, % |\n|---|---|");
    for (std::size_t i = 0; i < given_.turns.size(); ++i) fmt::print("---|---|---|");
    fmt::print("---|\n");
    std::fflush(stdout);
  }

  void print(const Pair& pair, double length, const std::vector<Figures>& figures, const std::vector<double>& load) {
    fmt::print("| {} and {} | {:.1f} |", pair.first, pair.second, length);
    bool is_missed = false;
    for (const Figures& f : figures) {
      const double first = median(f.first), second = median(f.second), together = median(f.together);
      const auto marked = [](double ratio, double most) {
        return fmt::format("{:.2f}{}", ratio, ratio > most ? "\\*" : "");
      };
      is_missed = std::max(first, second) > kMostEach || together > kMostTogether;
      fmt::print(" {} | {} | {} |", marked(first, kMostEach), marked(second, kMostEach),
                 marked(together, kMostTogether));
    }
    missed_ += is_missed ? 1 : 0;
    fmt::print(" {:.0f} |\n", 100 * std::accumulate(load.begin(), load.end(), 0.0) / static_cast<double>(load.size()));
    std::fflush(stdout);
  }

  const Given& given_;
  fs::path folder_;
  std::list<AgentRuns> agents_;
  Cores cores_;
  std::map<Pair, double> seconds_;  // of one repetition alone, by kernel and class
  int missed_ = 0;
};

}  // namespace
}  // namespace replay::bench

int main(int argc, char** argv) {
  replay::bench::Given given;
  CLI::App app{"Two jobs on the same cores, with and without turns", "turns_bench"};
  app.add_option("--kernels", given.kernels, "every pair of these, each with itself too")->delimiter(',');
  app.add_option("--classes", given.classes, "problem sizes")->delimiter(',');
  app.add_option("--turns", given.turns, "ms; 0: without turns; the last ones count")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 1000.0));
  app.add_option("--rounds", given.rounds, "alternating rounds of each pair")->check(CLI::Range(1, 100));
  app.add_option("--seconds", given.seconds, "least length of a job alone")->check(CLI::Range(0.05, 60.0));
  app.add_option("--cores", given.cores, "two cores by OS index, such as 2,3 (default: the first two)")
      ->type_name("LIST");
  CLI11_PARSE(app, argc, argv);
  try {
    return replay::bench::Bench{given}.measure() == 0 ? 0 : 3;
  } catch (const std::exception& error) {
    fmt::print(stderr, "turns_bench: {}\n", error.what());
    return 1;
  }
}
