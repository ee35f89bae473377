#include "tests/support/mpi_job.hpp"

#include <sched.h>
#include <sys/wait.h>

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <sstream>

namespace replay::test {

bool has_mpich() { return run("mpiexec --version").output.find("HYDRA") != std::string::npos; }

std::vector<int> cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  ::sched_getaffinity(0, sizeof allowed, &allowed);
  std::vector<int> found;
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &allowed)) found.push_back(static_cast<int>(core));
  return found;
}

std::string program(const std::string& name) {
  return (std::filesystem::path{REPLAY_TEST_PROGRAM_DIR} / name).string();
}

Outcome run(const std::string& command) {
  Outcome outcome;
  FILE* pipe = ::popen(("exec 2>&1; " + command).c_str(), "re");
  if (pipe == nullptr) return outcome;
  char text[4096];
  for (std::size_t size = 0; (size = std::fread(text, 1, sizeof text, pipe)) > 0;) outcome.output.append(text, size);
  const int status = ::pclose(pipe);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

Environment under_replay(const VmHost& host) {
  Environment environment{{"LD_PRELOAD", REPLAY_VM_LIBRARY}};
  for (const auto& [name, value] : host.environment()) environment[name] = value;
  return environment;
}

Outcome mpi(int ranks, const std::vector<int>& places, const Environment& environment, const std::string& command) {
  std::ostringstream line;
  line << "timeout -k 2 60 mpiexec -n " << ranks << " -bind-to user:";
  for (int i = 0; i < ranks; ++i) line << (i == 0 ? "" : ",") << places[static_cast<std::size_t>(i) % places.size()];
  for (const auto& [name, value] : environment) line << " -genv " << name << " '" << value << "'";
  line << " " << command;
  return run(line.str());
}

double figure(const std::string& output, const std::string& name) {
  std::istringstream words{output};
  for (std::string word; words >> word;) {
    double value = -1;
    if (word == name && words >> value) return value;
  }
  return -1;
}

}  // namespace replay::test
