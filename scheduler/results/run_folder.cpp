#include "scheduler/results/run_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <memory>
#include <string_view>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/base/file/whole_file.hpp"
#include "scheduler/base/mix_bits.hpp"
#include "scheduler/results/output_names.hpp"

namespace replay::results {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kSeeds = "seeds.json";  // of several runs
constexpr std::string_view kJobs = "jobs";         // what jobs of a real run wrote
constexpr int kDepth = 2;                          // folders of seeds, and in them of policies

bool is_result(std::string_view name) {
  return name == kSeeds || name == kTurnsFile || name == kLogBefore ||
         std::ranges::any_of(output_files(), [name](const OutputFile& output) { return output.file == name; });
}

bool is_word_file(std::string_view name) {
  return name.starts_with(kWordFile) && name.size() == kWordFile.size() + kWordDigits &&
         name.find_first_not_of("0123456789abcdef", kWordFile.size()) == std::string_view::npos;
}

bool is_unfinished_result(std::string_view name) {
  const std::string_view word = name.substr(0, kWordFile.size() + kWordDigits);
  return is_unfinished_name(name, kSeeds) || (is_word_file(word) && is_unfinished_name(name, word)) ||
         std::ranges::any_of(output_files(),
                             [name](const OutputFile& output) { return is_unfinished_name(name, output.file); });
}

bool is_job_number(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
}

// The contents of a folder when it was examined: only these are removed.
struct Looked {
  std::string name;
  dev_t device = 0;
  ino_t number = 0;
  std::vector<std::string> files{};  // and links
  std::vector<Looked> folders{};
};

UniqueFd open_folder(int parent, const std::string& name, int more = O_NOFOLLOW) {
  return UniqueFd{::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | more)};
}

[[noreturn]] void fail_at(const std::string& path) {
  throw InputError(fmt::format("{}: {}", path, std::strerror(errno)));
}

Looked look_at(int folder, const std::string& name) {
  struct stat status {};
  if (::fstat(folder, &status) != 0) fail_at(name);
  Looked looked{name, status.st_dev, status.st_ino};
  UniqueFd own = open_folder(folder, ".");
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(own.is_open() ? ::fdopendir(own.get()) : nullptr, &::closedir);
  if (!stream) fail_at(name);
  (void)own.release();  // closedir() closes it
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string inside = entry->d_name;
    if (inside == "." || inside == "..") continue;
    if (::fstatat(folder, inside.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) fail_at(name + "/" + inside);
    if (S_ISDIR(status.st_mode))
      looked.folders.push_back({inside});
    else
      looked.files.push_back(inside);
  }
  return looked;
}

// Lists all that is below a job's folder, without a check: a job may write any files there.
void look_deeply(int folder, Looked& looked) {
  for (Looked& inside : looked.folders) {
    const UniqueFd fd = open_folder(folder, inside.name);
    if (!fd.is_open()) fail_at(inside.name);
    inside = look_at(fd.get(), inside.name);
    look_deeply(fd.get(), inside);
  }
}

// The first entry of jobs/ that no run writes; empty: there is none. A job's folder has its command, or is empty.
std::string stranger_among_jobs(int jobs, Looked& looked) {
  if (!looked.files.empty()) return looked.files.front();
  for (Looked& job : looked.folders) {
    const UniqueFd fd = open_folder(jobs, job.name);
    if (!is_job_number(job.name) || !fd.is_open()) return job.name;
    job = look_at(fd.get(), job.name);
    const bool is_empty = job.files.empty() && job.folders.empty();
    if (!is_empty && std::ranges::find(job.files, "command") == job.files.end()) return job.name;
    look_deeply(fd.get(), job);
  }
  return {};
}

// The first entry in the folder of a run, or of runs, that no run writes; empty: there is none.
std::string stranger_in(int folder, Looked& looked, int depth = kDepth) {
  const bool has_results = std::ranges::any_of(looked.files, is_result);
  for (const std::string& name : looked.files) {
    struct stat status {};
    const bool is_file = ::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode);
    const bool is_page_of_runs =
        (name == kPageFile || name == kLivePageFile) && (has_results || !looked.folders.empty());
    const bool is_known = is_result(name) || is_unfinished_result(name) || is_word_file(name) || is_page_of_runs;
    if (!is_file || !is_known) return name;
  }
  for (Looked& inside : looked.folders) {
    const bool are_jobs = inside.name == kJobs && has_results;
    const UniqueFd fd = open_folder(folder, inside.name);
    if (!fd.is_open() || (depth == 0 && !are_jobs)) return inside.name;
    inside = look_at(fd.get(), inside.name);
    const std::string stranger =
        are_jobs ? stranger_among_jobs(fd.get(), inside) : stranger_in(fd.get(), inside, depth - 1);
    if (!stranger.empty()) return inside.name + "/" + stranger;
  }
  return {};
}

bool is_as_looked_at(const struct stat& status, const Looked& looked) {
  return status.st_dev == looked.device && status.st_ino == looked.number;
}

// Follows no link and removes nothing that was added since: then the folder is not empty, which is an error.
void remove_looked_at(int parent, const Looked& looked) {
  struct stat status {};
  const UniqueFd folder = open_folder(parent, looked.name);
  if (!folder.is_open() || ::fstat(folder.get(), &status) != 0) fail_at(looked.name);
  if (!is_as_looked_at(status, looked)) throw InputError(fmt::format("{}: was exchanged meanwhile", looked.name));
  for (const std::string& file : looked.files)
    if (::unlinkat(folder.get(), file.c_str(), 0) != 0) fail_at(looked.name + "/" + file);
  for (const Looked& inside : looked.folders) remove_looked_at(folder.get(), inside);
  if (::fstatat(parent, looked.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 || !is_as_looked_at(status, looked) ||
      ::unlinkat(parent, looked.name.c_str(), AT_REMOVEDIR) != 0)
    fail_at(looked.name);
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
  std::uint64_t all = 0;  // a hash, so that long names with the same beginning differ
  for (const char c : policy) all = mix_bits(all ^ static_cast<unsigned char>(c));
  return fmt::format("{}-{:08x}", name, static_cast<std::uint32_t>(all));
}

void remove_run(const fs::path& given) {
  fs::path folder = fs::absolute(given).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();  // "r/"
  const UniqueFd parent = open_folder(AT_FDCWD, folder.parent_path().string(), 0);
  const std::string name = folder.filename().string();
  const UniqueFd run = open_folder(parent.get(), name);
  if (!run.is_open()) throw InputError(fmt::format("{}: expected a folder, and no link to one", given.string()));
  Looked looked = look_at(run.get(), name);
  if (const std::string stranger = stranger_in(run.get(), looked); !stranger.empty())
    throw InputError(fmt::format("{}: only results of a run are replaced, and {} is none", given.string(),
                                 (given / stranger).string()));
  remove_looked_at(parent.get(), looked);
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
      remove_run(folder);
    }
    fs::create_directories(folder);
  } catch (const fs::filesystem_error& error) {
    throw InputError(fmt::format("--out {}: {}", folder.string(), error.code().message()));
  }
  return folder;
}

}  // namespace replay::results
