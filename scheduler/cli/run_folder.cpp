#include "scheduler/cli/run_folder.hpp"

#include <fmt/chrono.h>
#include <fmt/core.h>

#include <cctype>
#include <cstdint>
#include <ctime>

#include "scheduler/model/error.hpp"
#include "scheduler/model/mix_bits.hpp"

namespace replay::cli {
namespace fs = std::filesystem;
namespace {

// Has a file that only we write, itself or in a sub-folder (one per policy).
bool has_results(const fs::path& folder) {
  for (const char* file :
       {"run.json", "events.log", "jobs.csv", "schedule.swf", "metrics.json", "series.csv", "seeds.json"})
    if (fs::exists(folder / file)) return true;
  return false;
}

bool is_a_run(const fs::path& folder) {
  if (fs::is_empty(folder) || has_results(folder)) return true;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_directory() && has_results(entry.path())) return true;
  return false;
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
      if (!is_a_run(folder))
        throw InputError(
            fmt::format("--out {}: --force replaces results of a run only, and this folder has none", folder.string()));
      fs::remove_all(folder);
    }
    fs::create_directories(folder);
  } catch (const fs::filesystem_error& error) {
    throw InputError(fmt::format("--out {}: {}", folder.string(), error.code().message()));
  }
  return folder;
}

}  // namespace replay::cli
