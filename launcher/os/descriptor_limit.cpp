#include "launcher/os/descriptor_limit.hpp"

#include <sys/resource.h>

namespace replay::launcher {
namespace {

rlimit usual{};  // rlim_max 0: not raised

}  // namespace

void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) return;
  usual = limit;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

void restore_descriptor_limit() {
  if (usual.rlim_max > 0) ::setrlimit(RLIMIT_NOFILE, &usual);
}

}  // namespace replay::launcher
