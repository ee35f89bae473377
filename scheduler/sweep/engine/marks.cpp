#include "scheduler/sweep/engine/marks.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <optional>

#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/base/process/process.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/base/text/split.hpp"

namespace replay::sweep {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void fail(const fs::path& file, const char* what) {
  throw TryAgain(fmt::format("{}: cannot be {}: {}", file.string(), what, std::strerror(errno)));
}

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "host";
  std::string text = name.data();
  for (char& c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '-';  // a label's parts are between dots
  return text;
}

std::uint64_t start_of(pid_t pid) {
  const auto stat = read_stat(pid);
  return stat ? stat->start : 0;
}

struct Label {
  std::string_view host;
  pid_t pid;
  std::uint64_t start;
};

// Nothing: none. So is what leads to another folder, or would act on a terminal.
std::optional<Label> parse_label(std::string_view label) {
  const auto parts = split(label, '.');
  const auto is_of_label = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '.'; };
  if (parts.size() != 4 || !std::ranges::all_of(label, is_of_label)) return std::nullopt;
  const auto pid = parse_number<pid_t>(parts[2], 1, INT_MAX);
  const auto start = parse_number<std::uint64_t>(parts[3]);
  if (!pid || !start) return std::nullopt;
  return Label{parts[1], *pid, *start};
}

// Nothing: on another computer, or no label.
std::optional<bool> lives_here(std::string_view text) {
  const auto label = parse_label(text);
  if (!label || label->host != host_name()) return std::nullopt;
  const auto stat = read_stat(label->pid);
  return stat && stat->start == label->start && stat->state != 'Z';
}

}  // namespace

std::string process_label(std::string_view begins) {
  return fmt::format("{}.{}.{}.{}", begins, host_name(), ::getpid(), start_of(::getpid()));
}

bool has_ended(std::string_view label) { return !lives_here(label).value_or(true); }

std::optional<Shard> shard_of_label(std::string_view label) {
  const std::string_view begins = label.substr(0, label.find('.'));
  constexpr std::string_view kOf = "-of-";
  const std::size_t of = begins.find(kOf);
  if (of == std::string_view::npos) return std::nullopt;
  const auto index = parse_number<std::size_t>(begins.substr(0, of));
  const auto count = parse_number<std::size_t>(begins.substr(of + kOf.size()));
  if (!index || !count || *index < 1 || *index > *count) return std::nullopt;
  return Shard{*index, *count};
}

bool seems_alive(const fs::path& folder, const std::string& label) {
  struct stat found {};
  if (!parse_label(label) || ::stat((folder / "running" / label).c_str(), &found) != 0) return false;
  const std::int64_t age = std::time(nullptr) - found.st_mtim.tv_sec;
  return lives_here(label).value_or(age < RunningMark::kDeadAfter.count());
}

RunningMark::RunningMark(const fs::path& folder, std::string label)
    : folder_(folder / "running"), label_(std::move(label)) {
  std::error_code error;
  fs::create_directories(folder_, error);
  const fs::path file = folder_ / label_;
  const UniqueFd made{::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666)};
  if (!made.is_open()) fail(file, "created");
  touched_ = std::chrono::steady_clock::now() - kTouchedEvery;
  keep_up();
}

RunningMark::~RunningMark() { ::unlink((folder_ / label_).c_str()); }

void RunningMark::keep_up() {
  const auto now = std::chrono::steady_clock::now();
  if (now - touched_ < kTouchedEvery) return;
  touched_ = now;
  const fs::path file = folder_ / label_;
  struct stat found {};
  // If it has gone, others took it for that of a killed process.
  if (::utimensat(AT_FDCWD, file.c_str(), nullptr, 0) != 0)
    const UniqueFd again{::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666)};
  if (::stat(file.c_str(), &found) == 0) now_on_server_ = found.st_mtim.tv_sec;
}

bool RunningMark::is_alive(const std::string& label) {
  if (label == label_) return true;
  const fs::path file = folder_ / label;
  struct stat found {};
  if (!parse_label(label) || ::stat(file.c_str(), &found) != 0) return false;
  const bool lives =
      lives_here(label).value_or(now_on_server_ - found.st_mtim.tv_sec < std::chrono::seconds{kDeadAfter}.count());
  if (!lives) ::unlink(file.c_str());
  return lives;
}

std::vector<std::string> RunningMark::others() {
  std::vector<std::string> labels;
  std::error_code error;
  for (fs::directory_iterator entry{folder_, error}; !error && entry != fs::directory_iterator{};
       entry.increment(error))
    labels.push_back(entry->path().filename().string());
  std::erase_if(labels, [&](const std::string& label) { return label == label_ || !is_alive(label); });
  std::ranges::sort(labels);
  return labels;
}

Claims::Claims(const fs::path& folder, RunningMark& mark) : folder_(folder / "claims"), mark_(mark) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) throw TryAgain(fmt::format("{}: cannot be created: {}", folder_.string(), error.message()));
}

bool Claims::claim(CellId id) {
  const fs::path link = folder_ / id_text(id);
  for (int tries = 0; tries < 3; ++tries) {
    if (::symlink(mark_.label().c_str(), link.c_str()) == 0) return true;
    if (errno == EPERM || errno == EOPNOTSUPP) return true;  // a file system without links: cells may be computed twice
    if (errno != EEXIST) fail(link, "created");
    std::error_code error;
    const std::string holder = fs::read_symlink(link, error).string();
    if (error == std::errc::no_such_file_or_directory) continue;  // released meanwhile
    if (holder == mark_.label()) return true;
    if (!error && mark_.is_alive(holder)) return false;
    ::unlink(link.c_str());  // of a killed process
  }
  return false;
}

void Claims::release(CellId id) { ::unlink((folder_ / id_text(id)).c_str()); }

}  // namespace replay::sweep
