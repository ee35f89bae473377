#include "benchmarks/mpi/common/kernel.hpp"

#include <mpi.h>

#include <cstdio>
#include <utility>

namespace replay::bench {

Kernel::Kernel(const World& world, std::string name, std::string purpose, int argc, char** argv)
    : world_(world), name_(name), options_(std::move(name), std::move(purpose)) {
  options_.choice("--class", class_name_, {"S", "W", "A", "B"}, "problem size");
  options_.count("--repeat", repeats_, 1, 1'000'000, "times to do it all, each verified");
  is_over_ = !options_.parse(argc, argv);
  if (is_over_ && world_.is_root()) std::fputs(options_.help().c_str(), stdout);
}

void Kernel::expect_at_most(std::int64_t most, std::string_view why) const {
  if (world_.size > most) reject_processes(fmt::format("at most {} processes, {}", most, why));
}

void Kernel::reject_processes(const std::string& expected) const {
  options_.reject("--class " + class_name_, expected, fmt::format("{}", world_.size));
}

void Kernel::time(const std::function<bool()>& once) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (std::uint64_t i = 0; i < repeats_; ++i) verified_ = once() && verified_;
  seconds_ += MPI_Wtime() - start;
}

void Kernel::untimed(const std::function<void()>& work) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  work();
  MPI_Barrier(MPI_COMM_WORLD);
  seconds_ -= MPI_Wtime() - start;
}

Report Kernel::begin_report() const {
  Report report{world_, name_};
  report.row("class", class_name_);
  report.row("repeats", repeats_);
  return report;
}

int Kernel::finish(Report& report, double operations) const {
  const auto repeats = static_cast<double>(repeats_);
  report.row("time_s", seconds_);
  report.row("time_per_repeat_s", seconds_ / repeats);
  report.row("mop_per_s", 1e-6 * operations * repeats / seconds_);
  return report.finish(holds_everywhere(verified_));
}

}  // namespace replay::bench
