// A program of messages only: it measures what one of them costs between the ranks where they are placed. Three
// patterns, each repeated a given number of times: ping-pong between neighbours (0 and 1, 2 and 3, ...; a rank without
// a partner waits for the end), a sum over all ranks, a barrier. Every message carries the number of its repetition,
// which is checked as it comes; a round before and a round after the timing check every byte. A few repetitions before
// the timing open all connections.
#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/mpi/common/common.hpp"
#include "benchmarks/mpi/common/options.hpp"
#include "benchmarks/mpi/common/report.hpp"

namespace replay::bench {
namespace {

using Words = std::vector<std::uint64_t>;

/// What word `index` of message `number` holds; the first word is the number itself.
std::uint64_t word(std::uint64_t number, std::size_t index) { return number + 0x9e3779b97f4a7c15 * index; }

void fill(Words& words, std::uint64_t number) {
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = word(number, i);
}

bool is_message(const Words& words, std::uint64_t number) {
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i] != word(number, i)) return false;
  return true;
}

/// One way to communicate: a repetition, and the same with every byte written and compared.
class Pattern {
 public:
  virtual ~Pattern() = default;
  /// Repetition `number`. False: the number came out wrong.
  virtual bool repeat(std::uint64_t number) = 0;
  virtual bool repeat_checked(std::uint64_t number) = 0;
  /// One-way trips in a repetition.
  [[nodiscard]] virtual int operations() const { return 1; }
};

class PingPong final : public Pattern {
 public:
  PingPong(const World& world, std::size_t words) : sent_(words), received_(words), is_first_(world.rank % 2 == 0) {
    const int other = is_first_ ? world.rank + 1 : world.rank - 1;
    if (other < world.size) partner_ = other;
    fill(sent_, 0);
  }

  bool repeat(std::uint64_t number) override {
    if (partner_ < 0) return true;
    sent_.front() = number;
    exchange();
    return received_.front() == number;
  }
  bool repeat_checked(std::uint64_t number) override {
    if (partner_ < 0) return true;
    fill(sent_, number);
    std::ranges::fill(received_, 0);
    exchange();
    return is_message(received_, number);
  }
  [[nodiscard]] int operations() const override { return 2; }

 private:
  void exchange() {
    if (is_first_) send();
    MPI_Recv(received_.data(), static_cast<int>(received_.size()), MPI_UINT64_T, partner_, 0, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    if (!is_first_) send();
  }
  void send() { MPI_Send(sent_.data(), static_cast<int>(sent_.size()), MPI_UINT64_T, partner_, 0, MPI_COMM_WORLD); }

  Words sent_;
  Words received_;
  bool is_first_;
  int partner_ = -1;  // none
};

class Sum final : public Pattern {
 public:
  Sum(const World& world, std::size_t words) : world_(world), mine_(words), sum_(words) { fill(mine_, 0); }

  bool repeat(std::uint64_t number) override {
    mine_.front() = number;
    reduce();
    return sum_.front() == number * ranks();
  }
  bool repeat_checked(std::uint64_t number) override {
    fill(mine_, number + static_cast<std::uint64_t>(world_.rank));
    std::ranges::fill(sum_, 0);
    reduce();
    bool is_right = true;
    for (std::size_t i = 0; i < sum_.size(); ++i)
      is_right = is_right && sum_[i] == word(number, i) * ranks() + ranks() * (ranks() - 1) / 2;
    return is_right;
  }

 private:
  [[nodiscard]] std::uint64_t ranks() const { return static_cast<std::uint64_t>(world_.size); }
  void reduce() {
    MPI_Allreduce(mine_.data(), sum_.data(), static_cast<int>(mine_.size()), MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  }

  World world_;
  Words mine_;
  Words sum_;
};

class Barrier final : public Pattern {
 public:
  explicit Barrier(const World& world) : world_(world) {}

  bool repeat(std::uint64_t /*number*/) override {
    MPI_Barrier(MPI_COMM_WORLD);
    return true;
  }
  /// No rank leaves before the last one has come, by the clock that ranks of one node share; one rank is late.
  bool repeat_checked(std::uint64_t number) override {
    const bool is_late = number % static_cast<std::uint64_t>(world_.size) == static_cast<std::uint64_t>(world_.rank);
    if (is_late) ::usleep(kLate);
    const double came = MPI_Wtime();
    MPI_Barrier(MPI_COMM_WORLD);
    const double left = MPI_Wtime();
    double last_came = 0;
    MPI_Allreduce(&came, &last_came, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return left >= last_came;
  }

 private:
  static constexpr useconds_t kLate = 1000;
  World world_;
};

struct Parameters {
  std::string pattern = "pingpong";
  std::uint64_t size = 8;
  std::uint64_t count = 10'000;
};

std::unique_ptr<Pattern> make_pattern(const Parameters& given, const World& world) {
  const std::size_t words = given.size / sizeof(std::uint64_t);
  if (given.pattern == "pingpong") return std::make_unique<PingPong>(world, words);
  if (given.pattern == "allreduce") return std::make_unique<Sum>(world, words);
  return std::make_unique<Barrier>(world);
}

void read_arguments(Options& options, Parameters& given) {
  options.choice("--pattern", given.pattern, {"pingpong", "allreduce", "barrier"}, "who sends to whom");
  options.count("--size", given.size, 8, 1U << 30, "bytes in a message, a multiple of 8");
  options.count("--count", given.count, 1, 1'000'000'000, "times to do it");
}

int messages(const World& world, int argc, char** argv) {
  Parameters given;
  Options options{"messages", "what a message costs"};
  read_arguments(options, given);
  if (!options.parse(argc, argv)) {
    if (world.is_root()) std::fputs(options.help().c_str(), stdout);
    return kVerified;
  }
  if (given.size % 8 != 0) options.reject("--size", "a multiple of 8", fmt::format("{}", given.size));
  if (given.pattern == "pingpong" && world.size < 2) options.reject("--pattern pingpong", "at least 2 processes", "1");

  const auto pattern = make_pattern(given, world);
  bool verified = pattern->repeat_checked(given.count);
  const std::uint64_t rehearsals = std::min<std::uint64_t>(given.count / 10, 1000);
  for (std::uint64_t i = 0; i < rehearsals; ++i) verified = pattern->repeat(i) && verified;
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (std::uint64_t i = 0; i < given.count; ++i) verified = pattern->repeat(i) && verified;
  const double seconds = MPI_Wtime() - start;
  verified = pattern->repeat_checked(given.count + 1) && verified;

  Report report{world, "messages"};
  report.row("pattern", given.pattern);
  report.row("message_bytes", given.pattern == "barrier" ? 0 : given.size);
  report.row("count", given.count);
  report.row("time_s", seconds);
  report.row("us_per_operation", 1e6 * seconds / (static_cast<double>(given.count) * pattern->operations()));
  return report.finish(holds_everywhere(verified));
}

}  // namespace
}  // namespace replay::bench

int main(int argc, char** argv) { return replay::bench::run(argc, argv, replay::bench::messages); }
