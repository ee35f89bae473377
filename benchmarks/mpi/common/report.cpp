// One write for the whole table, so that lines of several jobs on one terminal stay whole.
#include "benchmarks/mpi/common/report.hpp"

namespace replay::bench {

Report::Report(const World& world, std::string_view program) : world_(world) {
  row("program", program);
  row("processes", world.size);
}

int Report::finish(bool verified) {
  text_ += verified ? "VERIFICATION SUCCESSFUL\n" : "VERIFICATION FAILED\n";
  if (world_.is_root()) {
    std::fputs(text_.c_str(), stdout);
    std::fflush(stdout);
  }
  return verified ? kVerified : kNotVerified;
}

}  // namespace replay::bench
