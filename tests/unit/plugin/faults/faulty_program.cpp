// A policy program with a fault, chosen by its first argument. It writes its pid, and that of its child if it has one,
// into the file named by the second argument.

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

namespace {

std::string fault;
bool is_second_run = false;  // a real run is preceded by a simulated one

void say(const std::string& line) { std::cout << line << std::endl; }

void hang() {
  for (;;) ::pause();
}

void answer_pass(int pass) {
  if (fault == "exits") {
    std::cerr << "line 1\nline 2\nline 3\nline 4\nline 5\ncannot go on" << std::endl;
    std::exit(3);
  }
  if (fault == "crashes") {
    std::signal(SIGSEGV, SIG_DFL);  // also where a sanitizer has a handler of its own
    std::raise(SIGSEGV);
  }
  if (fault == "hangs" || fault == "hangs-with-child" || fault == "hangs-with-session" || fault == "hangs-with-hidden")
    hang();
  if (fault == "half-a-line") {
    std::cout << R"({"actions":)" << std::flush;
    hang();
  }
  if (fault == "closes-stdout") {
    ::close(STDOUT_FILENO);
    hang();
  }
  if (fault == "hangs-in-second-run") {
    if (pass == 1) return say(R"({"actions":[{"start":1}]})");
    if (is_second_run) hang();
    if (pass == 3) return say(R"({"actions":[{"start":2}]})");
  }
  if (fault.starts_with("leaves-") && pass == 1) return say(R"({"actions":[{"start":1}]})");
  if (fault == "garbage") return say("debug: free is 4");
  if (fault == "no-actions") return say(R"({"start":1})");
  if (fault == "unknown-action") return say(R"({"actions":[{"stop":1}]})");
  if (fault == "unknown-field") return say(R"({"actions":[{"start":1,"nodes":2}]})");
  if (fault == "unknown-job") return say(R"({"actions":[{"start":4711}]})");
  if (fault == "wrong-type") return say(R"({"actions":[{"start":"one"}]})");
  if (fault == "too-much") return say(R"({"actions":[{"start":1},{"start":2}]})");
  if (fault == "resizes-waiting") return say(R"({"actions":[{"resize":1,"mpl":2}]})");
  if (fault == "wakes-in-the-past") return say(R"({"actions":[{"wake_at":0}]})");
  if (fault == "answers-twice") return say("{\"actions\":[{\"start\":1}]}\n{\"actions\":[]}");
  if (fault == "brackets") return say(R"({"actions":[)" + std::string(200'000, '[') + std::string(200'000, ']') + "]}");
  if (fault == "deep-type")
    return say(R"({"type":)" + std::string(100'000, '[') + std::string(100'000, ']') + R"(,"actions":[]})");
  if (fault == "complains") return say(R"({"error":"table full"})");
  say(R"({"actions":[]})");
}

/// Starts a child in a session of its own, with other descriptors; `is_hidden`: without parent and environment, too.
/// Writes its pid.
void write_pid_of_a_session(std::ostream& pids, bool is_hidden) {
  int ends[2];
  if (::pipe(ends) != 0) return;
  if (::fork() == 0) {
    ::setsid();
    if (!is_hidden || ::fork() == 0) {
      const pid_t own = ::getpid();
      (void)!::write(ends[1], &own, sizeof own);
      for (int fd = 0; fd < 64; ++fd) ::close(fd);
      char* const nothing[] = {nullptr};
      if (is_hidden) ::execle("/bin/sleep", "sleep", "1000", static_cast<char*>(nullptr), nothing);
      hang();
    }
    ::_exit(0);
  }
  pid_t child = 0;
  (void)!::read(ends[0], &child, sizeof child);
  pids << child << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  fault = argc > 1 ? argv[1] : "";
  if (argc > 2) is_second_run = std::filesystem::exists(argv[2]) && std::filesystem::file_size(argv[2]) > 0;
  std::ofstream pids{argc > 2 ? argv[2] : "/dev/null", std::ios::app};
  pids << ::getpid() << std::endl;
  if (fault == "hangs-with-child") {
    const pid_t child = ::fork();
    if (child == 0) hang();
    pids << child << std::endl;
  }
  if (fault == "hangs-with-session" || fault == "leaves-session") write_pid_of_a_session(pids, false);
  if (fault == "hangs-with-hidden" || fault == "leaves-hidden") write_pid_of_a_session(pids, true);
  if (fault == "ends-at-once") return 0;
  int passes = 0;
  for (std::string line; std::getline(std::cin, line);) {
    if (line.find(R"("type":"hello")") != std::string::npos) {
      if (fault == "no-hello")
        say(R"({"actions":[]})");
      else if (fault == "old-protocol")
        say(R"({"type":"hello","protocol":1})");
      else if (fault == "newer-protocol")
        say(R"({"type":"hello","protocol":3})");
      else
        say(R"({"type":"hello","protocol":2})");
    } else {
      answer_pass(++passes);
    }
  }
  if (fault == "stays") hang();
}
