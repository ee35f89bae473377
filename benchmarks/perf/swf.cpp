// A measurement of how fast logs are read: MB/s and records/s of SwfReader and WorkloadReader, plain and gzip, from the
// page cache, beside reading the bytes only and zlib alone. All cases take turns (A B A B); the median of the rounds
// counts. A log of our own making is always measured; further logs are named on the command line or lie in
// $REPLAY_PWA_DIR.
#include <fmt/format.h>
#include <zlib.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "benchmarks/perf/vmlib_figures.hpp"
#include "scheduler/base/error.hpp"
#include "scheduler/base/file/byte_sink.hpp"
#include "scheduler/base/file/byte_source.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "traces/models/random.hpp"
#include "traces/swf_reader.hpp"
#include "traces/swf_writer.hpp"
#include "traces/workload_reader.hpp"

namespace {

namespace fs = std::filesystem;
using namespace replay;

constexpr std::size_t kBlock = std::size_t{256} * 1024;

struct Log {
  std::string name;
  std::string plain, zipped;  // paths
  std::uint64_t bytes = 0;    // uncompressed
  std::uint64_t records = 0;
};

// ---- the logs ----

void copy(const std::string& from, const std::string& to) {
  const auto source = open_source(from);
  const auto sink = open_sink(to);
  std::vector<char> block(kBlock);
  for (std::size_t got = 1; got > 0;) {
    got = source->read(block.data(), block.size());
    sink->write({block.data(), got});
  }
  sink->close();
}

// Every field is known and of a usual length, so that missing fields speed up no reader.
void make_log(const std::string& path, std::int64_t records) {
  Rng chance{Seed{42}, "swf-bench"};
  SwfWriter writer(path);
  SwfHeader header;
  header.add("Version", "2.2");
  header.add("MaxProcs", "1024");
  writer.write(header);
  const auto time = [&chance](std::uint64_t most) {
    return Duration{std::chrono::seconds{static_cast<std::int64_t>(chance.below(most))}};
  };
  const auto number = [&chance](std::uint64_t most) { return static_cast<std::int32_t>(1 + chance.below(most)); };
  SwfRecord record;
  for (std::int64_t job = 1; job <= records; ++job) {
    record = {.job = job, .submit = (job == 1 ? Duration::zero() : record.submit) + time(120), .wait = time(40'000)};
    record.run = time(40'000) + std::chrono::seconds{1};
    record.allocated = record.requested = number(1024);
    record.average_cpu = time(40'000) + std::chrono::milliseconds{250};
    record.used_memory = number(200'000);
    record.requested_time = record.run + time(50'000);
    record.requested_memory = number(200'000);
    record.status = 1;
    record.user = number(500), record.group = number(50), record.executable = number(2000);
    record.queue = number(6), record.partition = number(3);
    writer.write(record);
  }
  writer.close();
}

Log prepare(const TemporaryFolder& folder, const std::string& path) {
  Log log;
  log.name = fs::path(path).filename().string();
  for (const std::string_view ending : {".gz", ".swf"})
    if (log.name.ends_with(ending)) log.name.resize(log.name.size() - ending.size());
  log.plain = (folder / (log.name + ".swf")).string();
  log.zipped = (folder / (log.name + ".swf.gz")).string();
  if (path != log.plain) copy(path, log.plain);
  copy(log.plain, log.zipped);
  log.bytes = fs::file_size(log.plain);
  SwfReader reader(log.plain);
  for (SwfRecord record; reader.next(record);) ++log.records;
  return log;
}

// ---- what is measured ----

void read_bytes(const std::string& path) {
  static std::vector<char> block(kBlock);
  const auto source = open_source(path);
  while (source->read(block.data(), block.size()) > 0) {
  }
}

void inflate_alone(const std::string& path) {
  static std::vector<char> block(kBlock);
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) throw InputError(fmt::format("{}: cannot be opened", path));
  gzbuffer(file, 128 * 1024);
  while (gzread(file, block.data(), static_cast<unsigned>(block.size())) > 0) {
  }
  gzclose(file);
}

void read_records(const std::string& path, std::uint64_t expected) {
  SwfReader reader(path);
  SwfRecord record;
  std::uint64_t count = 0;
  while (reader.next(record)) ++count;
  INVARIANT(count == expected, "{} records instead of {}", count, expected);
}

void read_jobs(const std::string& path) {
  WorkloadReader reader(path, CleaningRules{});
  TracedJob job;
  while (reader.next(job)) {
  }
}

struct Case {
  std::string name;
  std::function<void(const Log&)> run;
  std::vector<double> seconds{};
};

std::vector<Case> all_cases() {
  return {{"bytes only", [](const Log& log) { read_bytes(log.plain); }},
          {"SwfReader", [](const Log& log) { read_records(log.plain, log.records); }},
          {"WorkloadReader", [](const Log& log) { read_jobs(log.plain); }},
          {".gz: zlib alone", [](const Log& log) { inflate_alone(log.zipped); }},
          {".gz: SwfReader", [](const Log& log) { read_records(log.zipped, log.records); }}};
}

// Short logs are read several times in a turn, so that the clock's grain and a single disturbance matter less.
double seconds_of(const Case& measured, const Log& log) {
  constexpr std::uint64_t kBytesPerTurn = std::uint64_t{16} << 20U;
  const std::uint64_t repeats = 1 + kBytesPerTurn / log.bytes;
  const auto before = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < repeats; ++i) measured.run(log);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - before;
  return taken.count() / static_cast<double>(repeats);
}

void measure(const Log& log, int rounds) {
  std::vector<Case> cases = all_cases();
  for (Case& one : cases) one.run(log);  // into the page cache
  for (int round = 0; round < rounds; ++round)
    for (Case& one : cases) one.seconds.push_back(seconds_of(one, log));
  for (const Case& one : cases) {
    const double taken = bench::median(one.seconds);
    const auto speed = [&](double s) { return static_cast<double>(log.bytes) / s / 1e6; };
    fmt::print("| {} | {} | {:.0f} | {:.0f}-{:.0f} | {:.2f} |\n", log.name, one.name, speed(taken),
               speed(std::ranges::max(one.seconds)), speed(std::ranges::min(one.seconds)),
               static_cast<double>(log.records) / taken / 1e6);
    std::fflush(stdout);
  }
}

std::vector<std::string> logs_of_the_archive() {
  const char* const folder = std::getenv("REPLAY_PWA_DIR");
  std::vector<std::string> found;
  if (folder == nullptr) return found;
  for (const char* const name : {"KTH-SP2-1996-2.1-cln", "SDSC-BLUE-2000-4.2-cln", "HPC2N-2002-2.1-cln"}) {
    const fs::path path = fs::path(folder) / (std::string(name) + ".swf.gz");
    if (fs::exists(path)) found.push_back(path.string());
  }
  return found;
}

void run(std::vector<std::string> files, int rounds, std::int64_t made) {
  if (files.empty()) files = logs_of_the_archive();
  if (files.empty()) fmt::print(stderr, "only the made-up log: set REPLAY_PWA_DIR or name logs to read real ones\n");
  const TemporaryFolder folder;
  fmt::print("| log | read by | MB/s | slowest-fastest | million records/s |\n|---|---|---|---|---|\n");
  for (const std::string& file : files) measure(prepare(folder, file), rounds);
  const std::string path = (folder / "made-up.swf").string();
  make_log(path, made);
  measure(prepare(folder, path), rounds);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"MB/s (10^6 uncompressed bytes) of reading SWF from the page cache, as a markdown table"};
  std::vector<std::string> files;
  int rounds = 9;
  std::int64_t made = 300'000;
  app.add_option("LOG", files, "SWF, plain or .gz; default: KTH, Blue Horizon and HPC2N in $REPLAY_PWA_DIR");
  app.add_option("--rounds", rounds, "of which the median counts")->check(CLI::Range(1, 1000))->capture_default_str();
  app.add_option("--made", made, "records of the made-up log")
      ->check(CLI::Range(1, 100'000'000))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    run(std::move(files), rounds, made);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "swf_bench: {}\n", error.what());
    return 1;
  }
}
