// Cases worked out by hand that lie in files: the expected table beside its trace.
#pragma once

#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace replay::test {

/// None if there is no such file.
inline std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file{path};
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

/// A file's name as a test may be called.
inline std::string without_dashes(std::string_view file) {
  std::string name{file};
  std::erase(name, '-');
  return name;
}

}  // namespace replay::test
