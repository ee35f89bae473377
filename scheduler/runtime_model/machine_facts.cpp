#include "scheduler/runtime_model/machine_facts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/utsname.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string_view>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/paths.hpp"
#include "scheduler/base/text/split.hpp"
#include "scheduler/base/text/trimmed.hpp"

namespace replay {
namespace fs = std::filesystem;
namespace {

/// The text behind the colon of the first line that begins with `name`.
std::string value_in(std::string_view text, std::string_view name) {
  for (std::string_view line : split(text, '\n')) {
    line = trimmed(line, " \t\r");
    if (!line.starts_with(name)) continue;
    const std::string_view value = trimmed(line.substr(std::min(line.find(':'), line.size() - 1) + 1));
    if (!value.empty()) return std::string{value};
  }
  return {};
}

std::string text_of(const char* file) {
  std::ifstream in{file};
  return {std::istreambuf_iterator<char>{in}, {}};
}

struct ClosePipe {
  void operator()(std::FILE* pipe) const { ::pclose(pipe); }
};

}  // namespace

// Hydra's "Version:" is MPICH's.
std::string mpi_here() {
  const auto mpiexec = find_program("mpiexec");
  if (!mpiexec || mpiexec->string().find('\'') != std::string::npos) return {};
  const std::unique_ptr<std::FILE, ClosePipe> pipe{
      ::popen(fmt::format("'{}' --version 2>/dev/null", mpiexec->string()).c_str(), "r")};
  if (!pipe) return {};
  std::string text;
  std::array<char, 4096> buffer{};
  while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe.get()))
    text.append(buffer.data(), got);
  const std::string version = value_in(text, "Version");
  return version.empty() ? version : "MPICH " + version;
}

ProfileMachine machine_here(CoreCount cores) {
  ProfileMachine here;
  here.cores = cores;
  utsname host{};
  if (::uname(&host) == 0) {
    here.name = host.nodename;
    here.kernel = fmt::format("{} {}", host.sysname, host.release);
  }
  const std::string cpu = text_of("/proc/cpuinfo");
  here.cpu = value_in(cpu, "model name");
  if (here.cpu.empty()) here.cpu = value_in(cpu, "cpu\t");  // POWER
  here.mpi = mpi_here();
  return here;
}

std::vector<std::string> differences(const ProfileMachine& there, const ProfileMachine& here) {
  std::vector<std::string> found;
  const auto compare = [&found](const char* what, const std::string& a, const std::string& b) {
    if (!a.empty() && !b.empty() && a != b) found.push_back(fmt::format("{}: {} there, {} here", what, a, b));
  };
  compare("nodes", there.nodes, here.nodes);
  compare("hosts", fmt::format("{}", fmt::join(there.hosts, ",")), fmt::format("{}", fmt::join(here.hosts, ",")));
  compare("CPU", there.cpu, here.cpu);
  compare("cores", fmt::format("{}", there.cores), fmt::format("{}", here.cores));
  compare("kernel", there.kernel, here.kernel);
  compare("MPI", there.mpi, here.mpi);
  return found;
}

fs::path default_profile_path(const char* name) {
  const char* data = std::getenv("XDG_DATA_HOME");
  if (data != nullptr && fs::path{data}.is_absolute()) return fs::path{data} / "replay" / name;
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0')
    throw InputError("neither XDG_DATA_HOME nor HOME is set: name the profile's file");
  return fs::path{home} / ".local" / "share" / "replay" / name;
}

}  // namespace replay
