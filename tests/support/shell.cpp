#include "tests/support/shell.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

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

TemporaryFolder::TemporaryFolder() {
  std::string name = (fs::temp_directory_path() / "replay-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder " + name);
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace replay::test
