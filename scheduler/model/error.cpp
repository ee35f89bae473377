#include "scheduler/model/error.hpp"

#include <cstdio>
#include <cstdlib>

namespace replay {

void invariant_broken(const char* file, int line, const char* condition, const std::string& message) {
  std::fprintf(stderr, "%s:%d: invariant `%s` broken: %s\n", file, line, condition, message.c_str());
  std::abort();
}

}  // namespace replay
