#include "scheduler/cli/run_folder.hpp"

#include <fmt/chrono.h>
#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <ctime>
#include <iterator>
#include <string_view>

#include "scheduler/model/error.hpp"
#include "scheduler/model/mix_bits.hpp"
#include "scheduler/model/whole_file.hpp"

namespace replay::cli {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kResults[] = {"run.json",     "events.log", "jobs.csv",  "schedule.swf",
                                         "metrics.json", "series.csv", "seeds.json"};
constexpr std::string_view kJobs = "jobs";  // what jobs of a real run wrote
constexpr int kDepth = 2;                   // folders of seeds, and in them of policies

bool is_result(std::string_view name) {
  return std::ranges::any_of(
      kResults, [name](std::string_view whole) { return name == whole || is_unfinished_name(name, whole); });
}

// What is in the folder of a run, or of runs, that no run puts there; empty: nothing.
fs::path stranger_in(const fs::path& folder, int depth = kDepth) {
  const bool has_results =
      std::ranges::any_of(kResults, [&folder](std::string_view name) { return fs::exists(folder / name); });
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_symlink()) return entry.path();
    if (!entry.is_directory()) {
      if (!is_result(name)) return entry.path();
    } else if (name != kJobs || !has_results) {
      if (depth == 0) return entry.path();
      if (fs::path stranger = stranger_in(entry.path(), depth - 1); !stranger.empty()) return stranger;
    }
  }
  return {};
}

}  // namespace

std::string folder_name(std::string_view policy) {
  constexpr std::size_t kLongest = 80;
  std::string name;
  for (const char c : policy.substr(0, kLongest)) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.' || c == '=';
    name += plain ? c : c == ':' ? ',' : '_';
  }
  if (policy.size() <= kLongest) return name;
  std::uint64_t all = 0;  // two long ones that begin alike are two folders
  for (const char c : policy) all = mix_bits(all ^ static_cast<unsigned char>(c));
  return fmt::format("{}-{:08x}", name, static_cast<std::uint32_t>(all));
}

fs::path make_run_folder(const std::string& out, const std::vector<std::string>& policies, bool force) {
  fs::path folder = out;
  if (out.empty()) {
    const std::string name =
        policies.size() == 1 ? folder_name(policies[0]) : fmt::format("{}-policies", policies.size());
    const std::string stem = fmt::format("{:%Y%m%d-%H%M%S}-{}", fmt::localtime(std::time(nullptr)), name);
    folder = fs::path{"runs"} / stem;
    for (int again = 2; fs::exists(folder); ++again) folder = fs::path{"runs"} / fmt::format("{}-{}", stem, again);
  }
  try {
    if (fs::exists(folder)) {
      if (!fs::is_directory(folder))
        throw InputError(fmt::format("--out {}: is a file, expected a folder to make", folder.string()));
      if (!force)
        throw InputError(
            fmt::format("--out {}: exists already; choose another folder, or --force to replace it", folder.string()));
      if (const fs::path stranger = stranger_in(folder); !stranger.empty())
        throw InputError(fmt::format("--out {}: --force replaces results of a run only, and {} is none",
                                     folder.string(), stranger.string()));
      fs::remove_all(folder);
    }
    fs::create_directories(folder);
  } catch (const fs::filesystem_error& error) {
    throw InputError(fmt::format("--out {}: {}", folder.string(), error.code().message()));
  }
  return folder;
}

}  // namespace replay::cli
