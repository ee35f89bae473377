#include "tests/support/shell.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "scheduler/base/file/temporary_folder.hpp"

namespace replay::test {
namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream in{file, std::ios::binary};
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void write_text(const fs::path& file, const std::string& text) {
  std::ofstream out{file, std::ios::binary};
  out << text;
  if (!out.flush()) throw std::runtime_error("cannot write " + file.string());
}

ShellResult shell(const std::string& command, const fs::path& folder) {
  const TemporaryFolder files;
  const std::string where = folder.empty() ? std::string{"."} : folder.string();
  const std::string line = "cd '" + where + "' && { " + command + "\n} </dev/null >'" + (files / "out").string() +
                           "' 2>'" + (files / "err").string() + "'";
  const int status = std::system(line.c_str());
  ShellResult result;
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.out = text_of(files / "out");
  result.err = text_of(files / "err");
  return result;
}

}  // namespace replay::test
