#include "launcher/mpich/mpiexec.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>

#include "launcher/mpich/hydra_process.hpp"
#include "scheduler/base/error.hpp"
#include "scheduler/base/file/paths.hpp"
#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/base/text/add_item.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/base/text/split.hpp"
#include "scheduler/base/text/trimmed.hpp"

namespace replay::launcher {
namespace {

namespace fs = std::filesystem;

/// Opens for reading and writing: opening an existing pipe for writing alone would wait for a reader.
UniqueFd open_for_output(const fs::path& file) {
  UniqueFd fd{::open(file.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666)};
  if (!fd.is_open())
    throw std::system_error(errno, std::generic_category(), fmt::format("cannot write {}", file.string()));
  return fd;
}

/// The length of a label "[HOST RANK] " at the text's begin; 0: there is none.
std::size_t label_at(std::string_view text) {
  constexpr std::size_t kLongest = 300;  // a name of DNS and a number
  text = text.substr(0, kLongest);
  const std::size_t end = text.find("] ");
  const std::size_t blank = text.find(' ');
  if (end == std::string_view::npos || blank >= end || blank < 2) return 0;
  return parse_number<std::size_t>(text.substr(blank + 1, end - blank - 1)) ? end + 2 : 0;
}

std::string_view last_line_starting(std::string_view text, std::string_view start) {
  const std::size_t at = text.rfind(start);
  if (at == std::string_view::npos) return {};
  return text.substr(at, std::min(text.find('\n', at), text.size()) - at);
}

}  // namespace

fs::path find_mpiexec() {
  if (auto found = find_program("mpiexec")) return *found;
  throw InputError(
      "mpiexec is not on the PATH: a real run needs MPICH; on Debian `apt install mpich`, or `./dev build`");
}

std::vector<std::string> mpiexec_arguments(const MpiexecCall& call) {
  const std::string binding = call.binds ? fmt::format("user:{}", fmt::join(call.pu_of_rank, ",")) : "none";
  std::vector<std::string> arguments{"-launcher", "fork", "-rmk", "user", "-bind-to", binding};
  if (call.label) arguments.insert(arguments.end(), kLabelWords.begin(), kLabelWords.end());
  const auto add = [&arguments](const std::string& name, const std::string& value) {
    arguments.insert(arguments.end(), {"-genv", name, value});
  };
  std::string preload = call.preload;
  for (const auto& [name, value] : call.environment) {
    if (name == "LD_PRELOAD") {
      if (!value.empty()) add_item(preload, ":", "{}", value);
    } else {
      add(name, value);
    }
  }
  if (!preload.empty()) add("LD_PRELOAD", preload);
  arguments.insert(arguments.end(), {"-n", fmt::format("{}", call.pu_of_rank.size())});
  arguments.insert(arguments.end(), call.command.begin(), call.command.end());
  return arguments;
}

std::string without_labels(std::string_view output) {
  std::string text;
  while (!output.empty()) {
    const std::size_t begin = output.find('[');
    text += output.substr(0, begin);
    if (begin == std::string_view::npos) break;
    output.remove_prefix(begin);
    const std::size_t end = label_at(output);
    text += output.substr(0, end == 0 ? 1 : 0);
    output.remove_prefix(std::max<std::size_t>(end, 1));
  }
  return text;
}

Variables hydra_environment(const Variables& kept, const Variables& extra) {
  Variables result;
  for (const auto& variable : kept) {
    const bool is_replaced = std::ranges::any_of(extra, [&](const auto& e) { return e.first == variable.first; });
    if (!is_replaced && variable.first != "LD_PRELOAD") result.push_back(variable);
  }
  result.insert(result.end(), extra.begin(), extra.end());
  result.emplace_back("HYDRA_CONFIG_FILE", "/dev/null");
  return result;
}

Variables own_environment() {
  Variables result;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text{*entry};
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos && equals > 0)
      result.emplace_back(std::string{text.substr(0, equals)}, std::string{text.substr(equals + 1)});
  }
  return result;
}

StartedMpiexec start_mpiexec(const fs::path& mpiexec, const std::vector<std::string>& arguments,
                             const Variables& environment, const MpiexecPlace& place) {
  StartedMpiexec started{std::nullopt, open_for_output(place.output / "stdout"),
                         open_for_output(place.output / "stderr")};
  started.process = start_hydra({.program = mpiexec,
                                 .arguments = arguments,
                                 .environment = environment,
                                 .out = started.out.get(),
                                 .err = started.err.get(),
                                 .directory = place.directory,
                                 .at_our_death = SIGTERM,
                                 .network = place.network,
                                 .descriptors = place.descriptors});
  return started;
}

std::optional<std::size_t> rank_of(pid_t pid) {
  const std::string text = environment_value(pid, "PMI_RANK").value_or("");
  std::size_t rank = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
  return error == std::errc{} ? std::optional{rank} : std::nullopt;
}

std::optional<BadTermination> find_bad_termination(std::string_view output) {
  if (output.find("=   BAD TERMINATION") == std::string_view::npos) return std::nullopt;
  BadTermination found;
  constexpr std::string_view kPid = "=   PID ";
  const std::string_view pid = last_line_starting(output, kPid);
  if (!pid.empty()) std::from_chars(pid.data() + kPid.size(), pid.data() + pid.size(), found.pid);
  constexpr std::string_view kCode = "=   EXIT CODE: ";
  const std::string_view code = last_line_starting(output, kCode);
  if (!code.empty()) std::from_chars(code.data() + kCode.size(), code.data() + code.size(), found.signal);
  constexpr std::string_view kHow = "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: ";
  const std::string_view how = last_line_starting(output, kHow);
  if (!how.empty()) found.how = how.substr(kHow.size());
  return found;
}

std::string explain(const BadTermination& bad, std::optional<std::size_t> named, std::size_t ranks) {
  if (!bad.says_how())
    return fmt::format("{} ended without MPI_Finalize, and mpiexec does not say how",
                       named ? fmt::format("rank {}", *named) : "a rank");
  if (!named) return fmt::format("a rank: {}", bad.how);
  const std::string own =
      bad.signal == 0 ? bad.how : fmt::format("{} (signal {})", ::strsignal(bad.signal), bad.signal);
  const bool was_cleaned_up = bad.signal == SIGKILL && own != bad.how;  // by Hydra, after another rank's signal
  if (!was_cleaned_up) return fmt::format("rank {}: {}", *named, own);
  if (ranks == 2) return fmt::format("rank {}: {}", 1 - *named, bad.how);
  return fmt::format("a rank other than {}: {}", *named, bad.how);
}

std::string last_complaint(std::string_view text) {
  text = text.substr(0, text.find("==== backtrace"));  // of UCX, behind what it complains about
  std::string_view found;
  while (!text.empty()) {
    const std::size_t end = text.find_last_not_of('\n');
    text = text.substr(0, end == std::string_view::npos ? 0 : end + 1);
    const std::size_t start = text.rfind('\n') == std::string_view::npos ? 0 : text.rfind('\n') + 1;
    const std::string_view line = text.substr(start);
    const bool is_hydras = line.starts_with("[mpiexec@") || line.starts_with("[proxy:");
    if (found.empty() || is_hydras) found = line;
    if (!is_hydras) break;
    text = text.substr(0, start);
  }
  return std::string{found};
}

Verification find_verification(std::string_view output) {
  Verification found = Verification::kNone;
  for (const std::string_view line : split(output, '\n')) {
    if (trimmed(line, " \r") == "VERIFICATION SUCCESSFUL") found = Verification::kPassed;
    if (trimmed(line, " \r") == "VERIFICATION FAILED") found = Verification::kFailed;
  }
  return found;
}

EndedByConnection find_ended_by_connection(std::string_view complaint, bool had_its_proxy) {
  if (complaint.find("cannot find proxy with ID") != std::string_view::npos) return EndedByConnection::kForeign;
  if (complaint.find("assert (!closed) failed") == std::string_view::npos) return EndedByConnection::kNo;
  if (complaint.find("proxy_init_cb") == std::string_view::npos) return EndedByConnection::kUnclear;
  return had_its_proxy ? EndedByConnection::kForeign : EndedByConnection::kNoProxy;
}

std::vector<pid_t> lacking_ucx_thread(std::string_view error_output) {
  constexpr std::string_view kFailure = "Assertion `ucs_async_thread_global_context.thread != NULL' failed";
  std::vector<pid_t> found;
  for (const std::string_view line : split(error_output, '\n')) {
    const std::size_t end = line.find(kFailure);
    if (end == std::string_view::npos) continue;
    std::string_view thread = line.substr(0, end);  // "[HOST:PID   :0:THREAD]      FILE:LINE  "
    thread = thread.substr(0, thread.rfind(']') + 1);
    pid_t pid = 0;
    std::from_chars(thread.data() + thread.rfind(':') + 1, thread.data() + thread.size(), pid);
    found.push_back(pid);
  }
  return found;
}

std::string read_tail(int file, std::size_t most) {
  struct stat status {};
  if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return {};
  const auto size = static_cast<std::size_t>(status.st_size);
  std::string text(std::min(size, most + 1), '\0');
  std::size_t got = 0;
  while (got < text.size()) {
    const ssize_t count =
        ::pread(file, text.data() + got, text.size() - got, static_cast<off_t>(size - text.size() + got));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    got += static_cast<std::size_t>(count);
  }
  text.resize(got);
  return std::string{end_of_text(text, most)};
}

std::string read_tail(const fs::path& file, std::size_t most) {
  const UniqueFd fd{::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC)};
  return fd.is_open() ? read_tail(fd.get(), most) : std::string{};
}

}  // namespace replay::launcher
