#include "scheduler/base/process/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>

#include "scheduler/base/process/pidfd.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/base/text/split.hpp"

namespace replay {
namespace {

namespace fs = std::filesystem;

/// struct pidfd_info of <linux/pidfd.h> in its first version, which the headers of Linux before 6.13 lack.
struct PidfdInfo {
  std::uint64_t mask;  ///< what is asked for, then what is told
  std::uint64_t control_group;
  std::uint32_t ids[11];
  std::int32_t exit_code;
};
constexpr std::uint64_t kPidfdInfoExit = 1U << 3U;
constexpr unsigned long kPidfdGetInfo = _IOWR(0xFF, 11, PidfdInfo);

/// A file of /proc, whole. Its size is not known beforehand. Nothing: it cannot be opened.
std::optional<std::string> read_if_there(const std::string& path) {
  const UniqueFd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!file.is_open()) return std::nullopt;
  std::string text;
  char buffer[16384];
  for (ssize_t count; (count = ::read(file.get(), buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(count));
  return text;
}

/// Empty when it is not there.
std::string read_whole(const std::string& path) { return read_if_there(path).value_or(""); }

template <typename Int>
bool read_number(std::string_view& rest, Int& value) {
  rest.remove_prefix(std::min(rest.find_first_not_of(" \n"), rest.size()));
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  return error == std::errc{};
}

/// Names of a directory that are numbers.
std::vector<pid_t> numbers_in(const std::string& directory) {
  std::vector<pid_t> numbers;
  std::error_code gone;
  for (fs::directory_iterator entry{directory, gone}, end; !gone && entry != end; entry.increment(gone)) {
    const std::string name = entry->path().filename();
    if (const auto number = parse_number<pid_t>(name)) numbers.push_back(*number);
  }
  return numbers;
}

/// The first entry of an environment for which `condition` holds.
template <typename Condition>
std::optional<std::string> find_entry(std::string_view environment, Condition condition) {
  for (const std::string_view entry : split(environment, '\0'))
    if (condition(entry)) return std::string{entry};
  return std::nullopt;
}

/// Where its environment ends in its memory: "0" until execve() is through, which enters it last, an empty one's too.
/// Nothing: it has no memory, as zombies and threads of the kernel have none.
std::optional<std::string> end_of_environment(const std::string& folder) {
  constexpr std::size_t kField = 51 - 3;  // proc(5) counts from 1; the state, behind the name, is the third
  const std::string stat = read_whole(folder + "/stat");
  const std::size_t name_ends = stat.rfind(") ");
  if (name_ends == std::string::npos || read_whole(folder + "/statm").starts_with("0 ")) return std::nullopt;
  const std::vector<std::string_view> fields = split(std::string_view{stat}.substr(name_ends + 2), ' ');
  return fields.size() > kField ? std::optional{std::string{fields[kField]}} : std::nullopt;
}

bool has_entry(std::string_view environment, std::string_view assignment) {
  return find_entry(environment, [assignment](std::string_view text) { return text == assignment; }).has_value();
}

}  // namespace

std::optional<ProcessStat> parse_stat(std::string_view text) {
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');  // the name may contain brackets and blanks
  if (open == std::string_view::npos || close == std::string_view::npos || close < open || close + 3 > text.size())
    return std::nullopt;
  ProcessStat stat;
  stat.name = text.substr(open + 1, close - open - 1);
  stat.state = text[close + 2];
  std::string_view rest = text.substr(close + 3);
  if (!read_number(rest, stat.parent)) return std::nullopt;
  constexpr std::uint64_t kExiting = 0x4;  // PF_EXITING
  std::uint64_t flags = 0;
  std::int64_t skipped = 0;
  for (int field = 5; field < 22; ++field)
    if (field == 9    ? !read_number(rest, flags)
        : field == 11 ? !read_number(rest, stat.faults_of_children)
                      : !read_number(rest, skipped))
      return std::nullopt;
  stat.is_exiting = (flags & kExiting) != 0;
  if (!read_number(rest, stat.start)) return std::nullopt;
  return stat;
}

std::optional<std::uint64_t> cpu_ns(pid_t pid) {
  clockid_t clock = 0;
  timespec used{};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &used) != 0) return std::nullopt;
  return static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(used.tv_nsec);
}

std::optional<std::uint64_t> kept_waiting_ns(pid_t pid) {
  const std::string text = read_whole(fmt::format("/proc/{}/schedstat", pid));
  std::string_view rest = text;
  std::uint64_t computed = 0, kept = 0;
  if (!read_number(rest, computed) || !read_number(rest, kept)) return std::nullopt;
  return kept;
}

std::optional<ProcessStat> read_stat(pid_t pid) { return parse_stat(read_whole(fmt::format("/proc/{}/stat", pid))); }

std::vector<pid_t> threads_of(pid_t pid) { return numbers_in(fmt::format("/proc/{}/task", pid)); }

std::vector<pid_t> children_of(pid_t pid) {
  std::set<pid_t> children;
  for (const pid_t thread : threads_of(pid)) {
    // The kernel may skip one child when another exits during the reading, so read twice.
    for (int times = 0; times < 2; ++times) {
      const std::string text = read_whole(fmt::format("/proc/{}/task/{}/children", pid, thread));
      std::string_view rest = text;
      for (pid_t child = 0; read_number(rest, child);) children.insert(child);
    }
  }
  return {children.begin(), children.end()};
}

std::vector<pid_t> descendants_of(pid_t pid) {
  std::vector<pid_t> found = children_of(pid);
  for (std::size_t next = 0; next < found.size(); ++next)
    for (const pid_t child : children_of(found[next]))
      if (std::ranges::find(found, child) == found.end()) found.push_back(child);
  return found;
}

bool is_stopped(pid_t pid) {
  return std::ranges::all_of(threads_of(pid), [pid](pid_t thread) {
    const auto stat = parse_stat(read_whole(fmt::format("/proc/{}/task/{}/stat", pid, thread)));
    constexpr std::string_view kCannotRun = "TtZX";  // stopped, traced, dead
    return !stat || kCannotRun.find(stat->state) != std::string_view::npos;
  });
}

std::string environment_of(pid_t pid) { return read_whole(fmt::format("/proc/{}/environ", pid)); }

std::optional<std::string> value_in(std::string_view environment, std::string_view name) {
  const std::string start = std::string{name} + '=';
  const auto entry = find_entry(environment, [&start](std::string_view text) { return text.starts_with(start); });
  return entry ? std::optional{entry->substr(start.size())} : std::nullopt;
}

std::optional<std::string> environment_value(pid_t pid, std::string_view name) {
  return value_in(environment_of(pid), name);
}

bool environment_has(pid_t pid, std::string_view assignment) { return has_entry(environment_of(pid), assignment); }

std::vector<pid_t> processes_with(std::string_view assignment) { return find_processes_with(assignment).processes; }

ProcessesWith find_processes_with(std::string_view assignment) {
  ProcessesWith found;
  for (const pid_t pid : numbers_in("/proc")) {
    const std::string folder = fmt::format("/proc/{}", pid);
    auto environment = read_if_there(folder + "/environ");
    struct stat status {};
    if (environment && environment->empty() && ::stat(folder.c_str(), &status) == 0 && status.st_uid == ::geteuid()) {
      const auto before = end_of_environment(folder);
      environment = read_if_there(folder + "/environ");
      const bool is_without = before && *before != "0" && end_of_environment(folder) == before;
      if (before && environment && environment->empty() && !is_without) found.in_execve.push_back(pid);
    }
    if (environment && has_entry(*environment, assignment)) found.processes.push_back(pid);
  }
  return found;
}

bool is_of_another_mpi(std::string_view file) {
  const std::size_t end = file.find(".so.");
  if (end == std::string_view::npos) return false;
  const std::string_view name = file.substr(0, end);
  if (name == "libmpi") return file.substr(end) != ".so.12" && !file.starts_with("libmpi.so.12.");
  return name == "libmpi_cxx" || name == "libmpi_mpifh" || name.starts_with("libmpi_usempi");
}

Image parse_maps(std::string_view maps) {
  Image image;
  std::string_view runtime;  // of Open MPI; its mpirun has it, too, and is no program of it
  for (const std::string_view line : split(maps, '\n')) {
    const std::size_t slash = line.rfind('/');
    if (slash == std::string_view::npos) continue;
    const std::string_view file = line.substr(slash + 1);
    if (file.starts_with("ld-linux") || file.starts_with("ld-musl") || file.starts_with("ld-2."))
      image.is_dynamic = true;
    if (file.starts_with("libreplay-vm")) image.has_vmlib = true;
    if (file.starts_with("libmpich.") || file.starts_with("libmpi.so.12")) image.has_mpich = true;
    if (is_of_another_mpi(file) && !image.other_mpi.starts_with("libmpi.so")) image.other_mpi = file;
    if (file.starts_with("libopen-rte.")) runtime = file;
  }
  if (image.other_mpi.empty() && image.has_mpich && !runtime.empty()) {  // Open MPI 1.10 is called libmpi.so.12
    image.has_mpich = false;
    image.other_mpi = runtime;
  }
  return image;
}

Image image_of(pid_t pid) {
  Image image = parse_maps(read_whole(fmt::format("/proc/{}/maps", pid)));
  std::error_code gone;
  image.program = fs::read_symlink(fmt::format("/proc/{}/exe", pid), gone).string();
  return image;
}

std::optional<Process> Process::open(pid_t pid, std::uint64_t start) {
  if (pid <= 1) return std::nullopt;
  UniqueFd pidfd{::pidfd_open(pid, 0)};  // close-on-exec by itself
  if (!pidfd.is_open()) return std::nullopt;
  const auto stat = read_stat(pid);  // after opening: if it matches now, the pidfd is of this process
  if (!stat || (start != 0 && stat->start != start)) return std::nullopt;
  return Process{pid, std::move(pidfd)};
}

bool Process::is_gone() const {
  pollfd exited{pidfd_.get(), POLLIN, 0};
  return ::poll(&exited, 1, 0) > 0;
}

std::optional<int> Process::exit_status() const {
  PidfdInfo info{};
  info.mask = kPidfdInfoExit;
  if (::ioctl(pidfd_.get(), kPidfdGetInfo, &info) != 0 || (info.mask & kPidfdInfoExit) == 0) return std::nullopt;
  return info.exit_code;
}

std::optional<Process> open_child(pid_t child, pid_t pid) {
  auto process = Process::open(child);
  const auto stat = read_stat(child);
  if (!process || process->is_gone() || !stat || stat->parent != pid) return std::nullopt;
  return process;
}

std::vector<Process> open_all_below(pid_t pid) {
  std::vector<Process> found;
  std::vector<pid_t> parents{pid};
  for (std::size_t next = 0; next < parents.size(); ++next)
    for (const pid_t child : children_of(parents[next]))
      if (auto process = open_child(child, parents[next])) {
        parents.push_back(child);
        found.push_back(std::move(*process));
      }
  return found;
}

void Process::signal(int number) const { ::pidfd_send_signal(pidfd_.get(), number, nullptr, 0); }

}  // namespace replay
