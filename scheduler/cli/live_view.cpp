#include "scheduler/cli/live_view.hpp"
#include "scheduler/log/text.hpp"
namespace replay::cli {
void LiveView::record(const log::Record& r) { std::fprintf(out_, "%s\n", log::to_line(r).c_str()); std::fflush(out_); }
}
