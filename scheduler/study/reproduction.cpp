#include "scheduler/study/reproduction.hpp"

#include <fmt/core.h>

#include <system_error>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/whole_file.hpp"
#include "scheduler/study/page.hpp"

namespace replay::study {
namespace fs = std::filesystem;
namespace {

// Makes the output folder, before hours of work begin. Returns whether it is new.
bool make_folder(const fs::path& folder, bool force) {
  std::error_code error;
  if (fs::exists(folder, error) && !fs::is_directory(folder, error))
    throw InputError(fmt::format("--out {}: is a file, expected a folder to make", folder.string()));
  if (!force && fs::exists(folder, error) && !fs::is_empty(folder, error))
    throw InputError(
        fmt::format("--out {}: exists already; choose another folder, or --force to write into it", folder.string()));
  const bool is_new = fs::create_directories(folder, error);
  if (error) throw InputError(fmt::format("--out {}: cannot be made: {}", folder.string(), error.message()));
  return is_new;
}

}  // namespace

Reproduction reproduce(std::string_view paper, const LogSearch& logs, const Study& study, const fs::path& folder,
                       bool force, const Surroundings& surroundings) {
  const bool is_new = make_folder(folder, force);
  Reproduction made;
  try {
    made.result = study(logs, surroundings);
  } catch (const sweep::Interrupted&) {
    if (is_new) fs::remove(folder);
    throw;
  }
  made.result.limits.insert(made.result.limits.end(), logs.missing.begin(), logs.missing.end());
  made.page = folder / fmt::format("{}.html", paper);
  made.numbers = folder / "numbers.csv";
  write_whole_file(made.page, to_html(made.result));
  write_whole_file(made.numbers, to_csv(made.result));
  return made;
}

}  // namespace replay::study
