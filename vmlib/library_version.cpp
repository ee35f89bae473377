#include "vmlib/library_version.hpp"

namespace replay::vm {
namespace {

constexpr std::string_view kVersion = "MPICH Version:";

int take_number(std::string_view& text) {
  int value = 0;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9' && value < 10'000) {
    value = value * 10 + (text.front() - '0');
    text.remove_prefix(1);
  }
  return value;
}

}  // namespace

bool is_mpich(std::string_view library_version) { return library_version.find("Open MPI") == std::string_view::npos; }

bool hangs_in_finalize(std::string_view library_version) {
  const auto at = library_version.find(kVersion);
  if (at == std::string_view::npos || library_version.find("ch4:ucx") == std::string_view::npos) return false;
  std::string_view rest = library_version;
  rest.remove_prefix(at + kVersion.size());
  while (!rest.empty() && (rest.front() == ' ' || rest.front() == '\t')) rest.remove_prefix(1);
  const int major = take_number(rest);
  if (major == 0 || rest.empty() || rest.front() != '.') return false;
  rest.remove_prefix(1);
  const int minor = take_number(rest);
  return major < 4 || (major == 4 && minor < 2);
}

}  // namespace replay::vm
