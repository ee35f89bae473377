// NAS IS, integer sort: the rank of each of many small integers, ten times, with two keys changed before each. A rank
// cuts its keys into buckets by value; the sizes of all buckets decide which process gets which of them, the keys move
// there, and counting them by value gives their ranks. Messages in each of the 11 iterations, the first of them
// untimed: an Allreduce of 512 or 1,024 bucket sizes, an Alltoall of one count, and an Alltoallv of the keys that move
// to another process, (P - 1) / P of all. Five ranks are checked against published ones in each iteration, the sorted
// keys at the end. Source: Bailey et al. 1994, RNR-94-007; buckets, classes and the ranks to expect: NAS Parallel
// Benchmarks 3. We differ in two points: any number of ranks up to that of the buckets, and keys that stay on their
// rank are not copied.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/mpi/common/common.hpp"
#include "benchmarks/mpi/common/kernel.hpp"
#include "benchmarks/mpi/is/is_keys.hpp"

namespace replay::bench {
namespace {

constexpr int kIterations = 10;
constexpr std::ptrdiff_t kChanged = 2 * kIterations + 1;  // keys from the first that may be changed
constexpr std::size_t kTests = 5;

/// A key with a published rank: `rank` + `drift` * (iteration + `shift`), as the changed keys move it by one a time.
struct RankTest {
  std::int64_t index;
  std::int64_t rank;
  int drift;
  int shift;

  std::int64_t expected(int iteration) const { return rank + std::int64_t{drift} * (iteration + shift); }
};

struct Problem {
  const char* name;
  int keys_log2;
  int limit_log2;    // keys are below that power of two
  int buckets_log2;  // which is the most ranks, too
  std::array<RankTest, kTests> tests;

  std::int64_t keys() const { return std::int64_t{1} << keys_log2; }
  Key limit() const { return Key{1} << limit_log2; }
  std::size_t buckets() const { return std::size_t{1} << buckets_log2; }
};

// clang-format off
constexpr std::array kProblems = {
    Problem{"S", 16, 11, 9, {{{48427, 0, 1, 0}, {17148, 18, 1, 0}, {23627, 346, 1, 0},
                              {62548, 64917, -1, 0}, {4431, 65463, -1, 0}}}},
    Problem{"W", 20, 16, 10, {{{357773, 1249, 1, -2}, {934767, 11698, 1, -2}, {875723, 1039987, -1, 0},
                               {898999, 1043896, -1, 0}, {404505, 1048018, -1, 0}}}},
    Problem{"A", 23, 19, 10, {{{2112377, 104, 1, -1}, {662041, 17523, 1, -1}, {5336171, 123928, 1, -1},
                               {3642833, 8288932, -1, -1}, {4250760, 8388264, -1, -1}}}},
    Problem{"B", 25, 21, 10, {{{41869, 33422937, -1, 0}, {812306, 10244, 1, 0}, {5102857, 59149, 1, 0},
                               {18232239, 33135281, -1, 0}, {26860214, 99, 1, 0}}}},
};
// clang-format on

/// How a buffer is cut by rank, as MPI_Alltoallv expects it.
struct Cuts {
  std::vector<int> counts;
  std::vector<int> offsets;

  explicit Cuts(int ranks) : counts(static_cast<std::size_t>(ranks)), offsets(counts.size()) {}
  int set_offsets() {
    std::exclusive_scan(counts.begin(), counts.end(), offsets.begin(), 0);
    return offsets.back() + counts.back();
  }
};

class IntegerSort {
 public:
  IntegerSort(const Problem& problem, const World& world)
      : problem_(problem),
        world_(world),
        part_(block_of(problem.keys(), world.rank, world.size)),
        shift_(problem.limit_log2 - problem.buckets_log2),
        keys_(draw_keys(part_, problem.limit())),
        bucketed_(keys_.size()),
        sending_(world.size),
        receiving_(world.size) {
    // Rank 0 has all keys that are changed: there are at least 128 for each rank.
    if (world.is_root()) original_.assign(keys_.begin(), keys_.begin() + kChanged);
  }

  /// Undoes all changes to keys.
  void reset() { std::ranges::copy(original_, keys_.begin()); }

  /// One iteration. Returns how many of the published ranks were found here. Collective.
  int rank_keys(int iteration) {
    if (world_.is_root()) {
      const auto change = static_cast<Key>(iteration);
      keys_[change] = change;
      keys_[change + kIterations] = problem_.limit() - change;
    }
    fill_buckets();
    share_sizes();
    move_keys();
    count_keys();
    return right_ranks(iteration);
  }

  /// Puts the keys of the last iteration in order. Whether they are, over the borders of ranks as well, and are the
  /// same keys as before. To be called once after an iteration. Collective.
  bool is_sorted() {
    std::vector<Key> sorted(static_cast<std::size_t>(own_keys_));
    for (const std::span<const Key> keys : {staying(), received()}) {
      for (const Key key : keys) sorted[static_cast<std::size_t>(--up_to_[key - low_])] = key;
    }
    const std::array<std::uint64_t, 2> here{fingerprint(keys_), fingerprint(sorted)};
    std::array<std::uint64_t, 2> all{};
    MPI_Allreduce(here.data(), all.data(), 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return std::ranges::is_sorted(sorted) && all[0] == all[1] && is_sorted_over_borders(sorted);
  }

  /// Keys on this rank in the last iteration, over a fair share.
  double share() const { return static_cast<double>(own_keys_) * world_.size / static_cast<double>(problem_.keys()); }

 private:
  void fill_buckets() {
    local_sizes_.assign(problem_.buckets() + kTests, 0);
    for (const Key key : keys_) ++local_sizes_[key >> shift_];
    places_.resize(problem_.buckets() + 1);
    std::exclusive_scan(local_sizes_.begin(), local_sizes_.begin() + static_cast<std::ptrdiff_t>(places_.size()),
                        places_.begin(), 0);
    std::vector<std::int32_t> next = places_;
    for (const Key key : keys_) bucketed_[static_cast<std::size_t>(next[key >> shift_]++)] = key;
  }

  /// Sizes of all buckets; the values of the keys to test are appended, as only the owner of a key adds anything but 0.
  void share_sizes() {
    for (std::size_t i = 0; i < kTests; ++i) {
      const std::int64_t index = problem_.tests[i].index;
      if (index < part_.begin || index >= part_.end) continue;
      local_sizes_[problem_.buckets() + i] =
          static_cast<std::int32_t>(keys_[static_cast<std::size_t>(index - part_.begin)]);
    }
    sizes_.resize(local_sizes_.size());
    MPI_Allreduce(local_sizes_.data(), sizes_.data(), static_cast<int>(sizes_.size()), MPI_INT32_T, MPI_SUM,
                  MPI_COMM_WORLD);
  }

  void move_keys() {
    const std::span<const std::int32_t> sizes{sizes_.data(), problem_.buckets()};
    const std::vector<std::size_t> first = divide_buckets(sizes, world_.size);
    const auto me = static_cast<std::size_t>(world_.rank);
    low_ = static_cast<Key>(first[me]) << shift_;
    high_ = static_cast<Key>(first[me + 1]) << shift_;
    lesser_ = std::accumulate(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(first[me]), std::int64_t{0});
    for (std::size_t rank = 0; rank + 1 < first.size(); ++rank) {
      sending_.offsets[rank] = places_[first[rank]];
      sending_.counts[rank] = places_[first[rank + 1]] - places_[first[rank]];
    }
    staying_ = sending_.counts[me];
    sending_.counts[me] = 0;
    MPI_Alltoall(sending_.counts.data(), 1, MPI_INT, receiving_.counts.data(), 1, MPI_INT, MPI_COMM_WORLD);
    arrived_ = receiving_.set_offsets();
    if (received_.size() < static_cast<std::size_t>(arrived_)) received_.resize(static_cast<std::size_t>(arrived_));
    MPI_Alltoallv(bucketed_.data(), sending_.counts.data(), sending_.offsets.data(), MPI_UINT32_T, received_.data(),
                  receiving_.counts.data(), receiving_.offsets.data(), MPI_UINT32_T, MPI_COMM_WORLD);
  }

  std::span<const Key> staying() const {
    const int offset = sending_.offsets[static_cast<std::size_t>(world_.rank)];
    return std::span{bucketed_}.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(staying_));
  }
  std::span<const Key> received() const { return std::span{received_}.first(static_cast<std::size_t>(arrived_)); }

  void count_keys() {
    own_keys_ = staying_ + arrived_;
    up_to_.assign(high_ - low_, 0);
    for (const std::span<const Key> keys : {staying(), received()}) {
      for (const Key key : keys) ++up_to_[key - low_];
    }
    std::inclusive_scan(up_to_.begin(), up_to_.end(), up_to_.begin());
  }

  int right_ranks(int iteration) const {
    int right = 0;
    for (std::size_t i = 0; i < kTests; ++i) {
      const auto key = static_cast<Key>(sizes_[problem_.buckets() + i]);
      if (key < low_ || key >= high_) continue;
      const std::int64_t rank = lesser_ + (key == low_ ? 0 : up_to_[key - low_ - 1]);
      if (rank == problem_.tests[i].expected(iteration)) ++right;
    }
    return right;
  }

  bool is_sorted_over_borders(std::span<const Key> sorted) const {
    struct Ends {
      std::int64_t count;
      std::int64_t first;
      std::int64_t last;
    };
    Ends here{static_cast<std::int64_t>(sorted.size()), 0, 0};
    if (!sorted.empty()) here = {here.count, sorted.front(), sorted.back()};
    std::vector<Ends> all(static_cast<std::size_t>(world_.size));
    MPI_Allgather(&here, 3, MPI_INT64_T, all.data(), 3, MPI_INT64_T, MPI_COMM_WORLD);
    std::int64_t count = 0;
    std::int64_t last = -1;
    bool in_order = true;
    for (const Ends& ends : all) {
      if (ends.count == 0) continue;
      in_order = in_order && last <= ends.first;
      last = ends.last;
      count += ends.count;
    }
    return in_order && count == problem_.keys();
  }

  const Problem& problem_;
  World world_;
  Block part_;
  int shift_;  // from a key to its bucket
  std::vector<Key> keys_;
  std::vector<Key> original_;
  std::vector<Key> bucketed_;              // keys_ by bucket
  std::vector<std::int32_t> local_sizes_;  // of the buckets here, then the keys to test
  std::vector<std::int32_t> places_;       // of the buckets in bucketed_
  std::vector<std::int32_t> sizes_;        // as local_sizes_, over all ranks
  Cuts sending_;
  Cuts receiving_;
  std::vector<Key> received_;
  int staying_ = 0;  // keys of this rank that it ranks itself
  int arrived_ = 0;
  int own_keys_ = 0;
  Key low_ = 0;  // this rank ranks keys from low_ to high_ - 1
  Key high_ = 0;
  std::int64_t lesser_ = 0;          // keys below low_, on all ranks
  std::vector<std::int32_t> up_to_;  // keys of this rank up to low_ + i
};

int is(const World& world, int argc, char** argv) {
  Kernel kernel{world, "is", "NAS IS: integer sort, most keys change hands in each iteration", argc, argv};
  if (kernel.is_over()) return kVerified;
  const Problem& problem = *std::ranges::find(kProblems, kernel.class_name(), &Problem::name);
  kernel.expect_at_most(static_cast<std::int64_t>(problem.buckets()), "one for each bucket");

  IntegerSort sort{problem, world};
  sort.rank_keys(1);  // touches all memory and opens all connections, untimed
  int right = 0;
  kernel.time([&] {
    kernel.untimed([&] { sort.reset(); });
    right = 0;
    for (int iteration = 1; iteration <= kIterations; ++iteration) right += sort.rank_keys(iteration);
    bool sorted = false;
    kernel.untimed([&] {
      right = static_cast<int>(sum_over_ranks(right));
      sorted = sort.is_sorted();
    });
    return sorted && right == kIterations * static_cast<int>(kTests);
  });
  double share = sort.share();
  MPI_Allreduce(MPI_IN_PLACE, &share, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);

  Report report = kernel.begin_report();
  report.row("keys", problem.keys());
  report.row("key_limit", problem.limit());
  report.row("ranks_right", right);
  report.row("ranks_published", kIterations * kTests);
  report.row("largest_share", share);
  return kernel.finish(report, kIterations * static_cast<double>(problem.keys()));
}

}  // namespace
}  // namespace replay::bench

int main(int argc, char** argv) { return replay::bench::run(argc, argv, replay::bench::is); }
