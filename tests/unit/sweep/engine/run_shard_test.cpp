// Cells of which each goes wrong in its own way, and shards of them.
#include "scheduler/sweep/engine/run_shard.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/base/json/read_json.hpp"
#include "scheduler/sweep/engine/cell_line.hpp"
#include "scheduler/sweep/engine/known_cells.hpp"
#include "scheduler/sweep/engine/marks.hpp"
#include "tests/support/shell.hpp"

namespace replay::test {
namespace {

using namespace replay::sweep;
namespace fs = std::filesystem;

// As many cells as there are works; cell i has the id 1000 + i, number 1 is left out.
class MadeCells : public Cells {
 public:
  using Work = std::function<Results(const fs::path& scratch)>;
  explicit MadeCells(std::vector<Work> works) : works_(std::move(works)) {}
  [[nodiscard]] std::size_t count() const override { return works_.size(); }
  [[nodiscard]] std::optional<CellId> id(std::size_t cell) const override {
    return works_[cell] ? std::optional<CellId>{1000 + cell} : std::nullopt;
  }
  [[nodiscard]] std::string parameters(std::size_t cell) const override {
    return fmt::format("{{\"n\":\"{}\"}}", cell);
  }
  [[nodiscard]] Results compute(std::size_t cell, const fs::path& scratch) const override {
    return works_[cell](scratch);
  }

 private:
  std::vector<Work> works_;
};

Results fine(const fs::path& /*scratch*/) { return {{"answer", 42}, {"none", std::nan("")}}; }

class Shards : public testing::Test {
 protected:
  ShardEnd run(const Cells& cells, const std::function<void(ShardOptions&)>& change = {}) {
    ShardOptions options{.folder = folder_ / "out", .version = "1"};
    if (change) change(options);
    return run_shard(cells, options, [](std::string_view) {});
  }
  std::map<CellId, CellLine> lines() {
    std::map<CellId, CellLine> all;
    CellFiles files{folder_ / "out/cells"};
    files.read_new([&](const LineHead& head, std::string_view text) { all[head.id] = parse_line(text); });
    damaged_ = files.damaged();
    return all;
  }
  std::size_t files_in(const char* name) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator{folder_ / "out" / name}, {}));
  }
  TemporaryFolder folder_;
  std::size_t damaged_ = 0;
};

TEST_F(Shards, ACellThatGoesWrongIsOneFailedCellWithItsReason) {
  const MadeCells cells{{
      fine,
      nullptr,
      [](const fs::path&) -> Results { throw std::runtime_error("the\nreason"); },
      [](const fs::path&) -> Results { std::abort(); },
      [](const fs::path&) -> Results { INVARIANT(1 + 1 == 3, "sums are {}", "wrong"); },
      [](const fs::path&) -> Results { ::_exit(7); },
      [](const fs::path&) -> Results {
        for (;;) ::pause();
      },
      fine,
  }};
  const ShardEnd end =
      run(cells, [](ShardOptions& options) { options.jobs = 2, options.limits.time = std::chrono::milliseconds{300}; });
  EXPECT_EQ(end.cells, 7u);
  EXPECT_EQ(end.done, 2u);
  EXPECT_EQ(end.failed, 5u);
  EXPECT_EQ(end.left, 0u);
  EXPECT_EQ(end.exit_status(), 1);
  auto found = lines();
  EXPECT_EQ(found[1000].results.at("answer"), 42);
  EXPECT_TRUE(std::isnan(found[1000].results.at("none")));
  EXPECT_EQ(found[1000].parameters, "{\"n\":\"0\"}");
  EXPECT_FALSE(found.contains(1001));
  EXPECT_EQ(found[1002].failure, "the reason");
  EXPECT_EQ(found[1003].failure, "was ended by signal 6 (SIGABRT)");
  EXPECT_NE(found[1004].failure.find("sums are wrong"), std::string::npos) << found[1004].failure;
  EXPECT_EQ(found[1005].failure, "ended with exit status 7");
  EXPECT_EQ(found[1006].failure, "took longer than 300ms (--cell-time)");
  EXPECT_EQ(files_in("claims"), 0u);
  EXPECT_EQ(files_in("running"), 0u);
}

#ifndef __SANITIZE_ADDRESS__  // which has reserved more memory than any limit
TEST_F(Shards, ACellThatNeedsTooMuchMemoryFails) {
  const MadeCells cells{{[](const fs::path&) -> Results {
    const std::vector<double> much(std::size_t{1} << 28, 1.0);
    return {{"much", much.back()}};
  }}};
  const ShardEnd end = run(cells, [](ShardOptions& options) { options.limits.memory = std::uint64_t{1} << 28; });
  EXPECT_EQ(end.failed, 1u);
  EXPECT_EQ(lines()[1000].failure, "needs more memory than 256 MiB (--cell-memory)");
}
#endif

TEST_F(Shards, AProcessThatIsKilledFromOutsideIsTriedAgain) {
  const MadeCells killed{{[](const fs::path&) -> Results {
                            ::raise(SIGKILL);
                            return {};
                          },
                          fine}};
  const ShardEnd end = run(killed);
  EXPECT_EQ(end.done, 1u);
  EXPECT_EQ(end.failed, 0u);
  EXPECT_EQ(end.left, 1u);
  EXPECT_EQ(end.exit_status(), 75);
  ASSERT_EQ(end.try_again.size(), 1u);
  EXPECT_EQ(end.try_again[0], "00000000000003e8: was ended by signal 9 (SIGKILL)");
  EXPECT_EQ(run(MadeCells{{fine, fine}}).exit_status(), 0);
}

TEST_F(Shards, ManyCellsThatAreToBeTriedAgainEndIt) {
  const auto full = [this](const fs::path&) -> Results {
    std::ofstream{folder_ / "computed", std::ios::app} << "x";
    throw TryAgain("no space");
  };
  EXPECT_THROW((void)run(MadeCells{std::vector<MadeCells::Work>(100, full)}), TryAgain);
  EXPECT_LT(text_of(folder_ / "computed").size(), 30u);
  EXPECT_EQ(files_in("claims"), 0u);
}

TEST_F(Shards, WhatIsDoneOrHasFailedIsNotComputedAgain) {
  const auto counting = [this](const fs::path&) -> Results {
    std::ofstream{folder_ / "computed", std::ios::app} << "x";
    throw std::runtime_error("no");
  };
  const MadeCells cells{{fine, counting}};
  EXPECT_EQ(run(cells).exit_status(), 1);
  const ShardEnd again = run(cells);
  EXPECT_EQ(again.exit_status(), 1);
  EXPECT_EQ(again.done_before, 1u);
  EXPECT_EQ(again.done, 0u);
  EXPECT_EQ(text_of(folder_ / "computed"), "x");
  EXPECT_EQ(run(cells, [](ShardOptions& options) { options.repeats_failed = true; }).failed, 1u);
  EXPECT_EQ(text_of(folder_ / "computed"), "xx");
  const ShardEnd mended = run(MadeCells{{fine, fine}}, [](ShardOptions& options) { options.repeats_failed = true; });
  EXPECT_EQ(mended.exit_status(), 0);
  EXPECT_EQ(run(cells).exit_status(), 0) << "done rather than failed";
}

TEST_F(Shards, ACellsFolderIsItsOwnAndIsRemoved) {
  const auto leave = [this](const fs::path& scratch) -> Results {
    if (fs::exists(scratch / "file")) throw std::runtime_error("is that of another cell");
    std::ofstream{scratch / "file"} << "x";
    std::ofstream{folder_ / "where", std::ios::app} << scratch.string() << "\n";
    return {};
  };
  EXPECT_EQ(run(MadeCells{{leave, leave}}).exit_status(), 0);
  std::ifstream in{folder_ / "where"};
  std::size_t count = 0;
  for (std::string line; std::getline(in, line); ++count) EXPECT_FALSE(fs::exists(line)) << line;
  EXPECT_EQ(count, 2u);
}

TEST_F(Shards, LinesThatAreCutOffOrDamagedAreComputedAgain) {
  const MadeCells cells{{fine, fine, fine}};
  ASSERT_EQ(run(cells).exit_status(), 0);
  const fs::path file = fs::directory_iterator { folder_ / "out/cells" } -> path();
  std::string text = text_of(file);
  text[text.find("42")] = '7';    // of the first line
  text.resize(text.size() - 10);  // of the last one
  write_text(file, text);
  EXPECT_EQ(lines().size(), 1u);
  EXPECT_EQ(damaged_, 1u) << "a line without its end is not there yet";
  const ShardEnd end = run(cells);
  EXPECT_EQ(end.done_before, 1u);
  EXPECT_EQ(end.done, 2u);
  EXPECT_EQ(lines().size(), 3u);
}

TEST_F(Shards, ALineThatCannotBeWrittenLeavesNoPart) {
  const pid_t child = ::fork();  // with a limit of its own
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{500, 500};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    CellFile file{folder_ / "lines.jsonl"};
    file.append(std::string(299, 'x') + '\n');
    try {
      file.append(std::string(299, 'y') + '\n');
    } catch (const TryAgain&) {
      ::_exit(75);
    }
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 75);
  EXPECT_EQ(text_of(folder_ / "lines.jsonl"), std::string(299, 'x') + '\n');
}

TEST_F(Shards, CellsOfAnotherVersionAreNotTheseCells) {
  const MadeCells cells{{fine}};
  ASSERT_EQ(run(cells).done, 1u);
  EXPECT_EQ(run(cells, [](ShardOptions& options) { options.version = "2"; }).done, 1u);
}

TEST_F(Shards, TheMarkOfAProcessThatHasEndedHoldsNothing) {
  fs::create_directories(folder_ / "out/running");
  fs::create_directories(folder_ / "out/claims");
  const std::string host = process_label("").substr(1, process_label("").find('.', 1) - 1);
  const std::string dead = "1-of-1." + host + ".1.1";  // process 1 has not started at tick 1
  write_text(folder_ / "out/running" / dead, "");
  fs::create_symlink(dead, folder_ / "out/claims/00000000000003e8");
  EXPECT_EQ(run(MadeCells{{fine}}).done, 1u);
  EXPECT_EQ(files_in("claims"), 0u);
}

TEST_F(Shards, AMarkOrAClaimThatIsNoLabelRemovesNoFile) {
  fs::create_directories(folder_ / "out/running");
  fs::create_directories(folder_ / "out/claims");
  const fs::path outside = folder_ / "outside", named = folder_ / "1-of-1.elsewhere.5.5";
  const fs::path inside = folder_ / "out/running/notes.txt";
  for (const fs::path& file : {outside, named, inside}) {
    write_text(file, "the user's");
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours{1});
  }
  fs::create_symlink(outside, folder_ / "out/claims/00000000000003e8");
  fs::create_symlink("../../1-of-1.elsewhere.5.5", folder_ / "out/claims/00000000000003e9");
  EXPECT_EQ(run(MadeCells{{fine, fine}}).done, 2u);
  for (const fs::path& file : {outside, named, inside}) EXPECT_TRUE(fs::exists(file)) << file;
}

TEST_F(Shards, ACellThatAnotherComputerIsAtIsWaitedFor) {
  fs::create_directories(folder_ / "out/running");
  fs::create_directories(folder_ / "out/claims");
  write_text(folder_ / "out/running/1-of-1.elsewhere.5.5", "");
  fs::create_symlink("1-of-1.elsewhere.5.5", folder_ / "out/claims/00000000000003e8");
  const auto ends = [this](const fs::path&) -> Results {  // cell 1: the other one does cell 0 meanwhile
    fs::create_directories(folder_ / "out/cells");
    const CellLine line{.id = 1000, .version = "1", .failure = {}, .parameters = "{}", .seconds = 1, .results = {}};
    write_text(folder_ / "out/cells/1-of-1.elsewhere.5.5.jsonl", to_text(line, "{\"answer\":43.0}"));
    return {};
  };
  const ShardEnd end = run(MadeCells{{fine, ends}});
  EXPECT_EQ(end.exit_status(), 0);
  EXPECT_EQ(end.done, 1u);
  EXPECT_EQ(lines()[1000].results.at("answer"), 43);
}

TEST(Shard, EachCellIsInOneShardOnly) {
  for (std::size_t of = 1; of <= 8; ++of)
    for (std::size_t cell = 0; cell < 100; ++cell) {
      std::size_t in = 0;
      for (std::size_t index = 1; index <= of; ++index) in += Shard{index, of}.has(cell) ? 1u : 0u;
      EXPECT_EQ(in, 1u) << cell << " of " << of;
    }
}

TEST(Shard, ValuesOfTheFastestAxisAreSpreadOverShards) {
  for (std::size_t value = 0; value < 5; ++value) {
    std::size_t in_first = 0;
    for (std::size_t row = 0; row < 5; ++row) in_first += Shard{1, 5}.has(row * 5 + value) ? 1u : 0u;
    EXPECT_EQ(in_first, 1u) << value;
  }
}

TEST(Shard, IsReadFromWordsAndFromTheEnvironment) {
  const auto with = [](std::map<std::string, std::string> variables) {
    return [variables](const char* name) {
      const auto found = variables.find(name);
      return found == variables.end() ? std::nullopt : std::optional{found->second};
    };
  };
  const auto none = with({});
  EXPECT_EQ(parse_shard("3/7", none), (Shard{3, 7}));
  for (const char* wrong : {"", "0/7", "8/7", "3", "3/", "/7", "a/b", "auto", "-1/7", "3/7/2"})
    EXPECT_THROW((void)parse_shard(wrong, none), UsageError) << wrong;
  EXPECT_EQ(parse_shard("auto", with({{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}})), (Shard{2, 4}));
  EXPECT_EQ(parse_shard("auto", with({{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "4"}})), (Shard{4, 4}));
  EXPECT_EQ(parse_shard("auto", with({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "2"}})), (Shard{1, 2}));
  std::map<std::string, std::string> array{{"SLURM_ARRAY_TASK_ID", "5"},
                                           {"SLURM_ARRAY_TASK_COUNT", "5"},
                                           {"SLURM_ARRAY_TASK_MIN", "1"},
                                           {"SLURM_PROCID", "0"},
                                           {"SLURM_NTASKS", "4"}};
  EXPECT_EQ(parse_shard("auto", with(array)), (Shard{5, 5})) << "of a batch script: one process";
  array["SLURM_STEP_ID"] = "0";
  array["SLURM_PROCID"] = "2";
  EXPECT_EQ(parse_shard("auto", with(array)), (Shard{4 * 4 + 2 + 1, 20})) << "of srun in an array";
  array["SLURM_ARRAY_TASK_ID"] = "7";  // an array with gaps
  EXPECT_THROW((void)parse_shard("auto", with(array)), UsageError);
  EXPECT_THROW((void)parse_shard("auto", with({{"PMI_RANK", "x"}, {"PMI_SIZE", "4"}})), UsageError);
}

TEST(CellLine, EndsWithACheckOfAllBeforeIt) {
  const CellLine line{.id = 0xabc,
                      .version = "1.2",
                      .failure = "\"failure\": a \\ reason",
                      .parameters = "{}",
                      .seconds = 0.5,
                      .results = {}};
  std::string text = to_text(line, "");
  ASSERT_EQ(text.back(), '\n');
  text.pop_back();
  const auto head = head_of(text);
  ASSERT_TRUE(head);
  EXPECT_EQ(head->id, 0xabcu);
  EXPECT_EQ(head->version, "1.2");
  EXPECT_TRUE(head->has_failed);
  EXPECT_EQ(parse_line(text).failure, line.failure);
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = changed[i] == '0' ? '1' : '0';
    EXPECT_FALSE(head_of(changed)) << i;
    EXPECT_FALSE(head_of(text.substr(0, i))) << i;
  }
}

TEST(KnownCells, TakeManyInAnyOrder) {
  const TemporaryFolder folder;
  KnownCells known{folder.path(), "1"};
  for (std::size_t i = 0; i < 5000; ++i) known.add(CellId{i * 7919 % 5000 * 2}, i % 10 == 0);
  for (CellId id = 0; id < 10'000; ++id) EXPECT_EQ(known.is_done(id) || known.has_failed(id), id % 2 == 0) << id;
}

}  // namespace
}  // namespace replay::test
