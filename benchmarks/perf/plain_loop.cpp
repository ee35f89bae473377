// The yardstick of simulator_bench: first come, first served and EASY backfilling as a loop over jobs that a programmer
// writes in an afternoon. It shares no code with replay. Starts are those of replay's `fcfs` and `easy:pass=instant`.
//   plain_loop TRACE.swf fcfs|easy [JOBS.csv]
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <fstream>
#include <functional>
#include <limits>
#include <queue>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using Seconds = std::int64_t;
constexpr Seconds kNever = std::numeric_limits<Seconds>::max();

struct Job {
  std::int64_t id, size;
  Seconds submit, runtime, estimate, start;
};

struct Trace {
  std::int64_t processors = 0;
  std::vector<Job> jobs;
};

// Whole numbers only, as in the logs of the archive and those of Lublin's model.
std::array<std::int64_t, 18> fields_of(const std::string& line) {
  std::array<std::int64_t, 18> fields{};
  const char* at = line.data();
  const char* const end = at + line.size();
  for (std::int64_t& field : fields) {
    while (at != end && (*at == ' ' || *at == '\t')) ++at;
    at = std::from_chars(at, end, field).ptr;
    while (at != end && *at != ' ' && *at != '\t') ++at;
  }
  return fields;
}

// Size: field 5, else 8; jobs without size or run time are left out, and so are parts of jobs (status 2, 3, 4); the
// estimate is field 9, else the run time, and cuts the run time.
Trace read(const char* path) {
  Trace trace;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == ';') {
      constexpr std::string_view kSize = "; MaxProcs:";
      if (line.starts_with(kSize)) trace.processors = std::stoll(line.substr(kSize.size()));
      continue;
    }
    const auto field = fields_of(line);
    const std::int64_t size = field[4] > 0 ? field[4] : field[7];
    const Seconds runtime = field[3], request = field[8], status = field[10];
    if (size <= 0 || size > trace.processors || runtime < 0 || (status >= 2 && status <= 4)) continue;
    if (status == 5 && runtime == 0 && field[4] <= 0) continue;  // cancelled while it waited
    const Seconds estimate = request > 0 ? request : std::max<Seconds>(runtime, 1);
    trace.jobs.push_back({field[0], size, field[1], std::min(runtime, estimate), estimate, -1});
  }
  std::ranges::stable_sort(trace.jobs, {}, &Job::submit);
  return trace;
}

class Scheduler {
 public:
  Scheduler(Trace& trace, bool backfills) : jobs_(trace.jobs), free_(trace.processors), backfills_(backfills) {}

  void run() {
    for (std::size_t next = 0; next < jobs_.size() || !ends_.empty();) {
      now_ = std::min(next < jobs_.size() ? jobs_[next].submit : kNever, ends_.empty() ? kNever : ends_.top().first);
      for (; !ends_.empty() && ends_.top().first == now_; ends_.pop()) release(*ends_.top().second);
      for (; next < jobs_.size() && jobs_[next].submit == now_; ++next) waiting_.push_back(&jobs_[next]);
      for (; !waiting_.empty() && waiting_.front()->size <= free_; waiting_.pop_front()) start(*waiting_.front());
      if (backfills_ && waiting_.size() > 1 && free_ > 0) backfill();
    }
  }

 private:
  using End = std::pair<Seconds, Job*>;

  void start(Job& job) {
    job.start = now_;
    free_ -= job.size;
    ends_.emplace(now_ + job.runtime, &job);
    if (!backfills_) return;
    const End end{now_ + job.estimate, &job};
    running_.insert(std::ranges::lower_bound(running_, end), end);
  }

  void release(Job& job) {
    free_ += job.size;
    if (backfills_) running_.erase(std::ranges::lower_bound(running_, End{job.start + job.estimate, &job}));
  }

  // A later job starts if it ends by the time at which the head can start, or uses what the head then leaves.
  void backfill() {
    std::int64_t then_free = free_;
    Seconds shadow = now_;
    for (const auto& [end, job] : running_) {
      if (then_free >= waiting_.front()->size && end != shadow) break;
      then_free += job->size;
      shadow = end;
    }
    std::int64_t extra = then_free - waiting_.front()->size;
    for (auto at = std::next(waiting_.begin()); at != waiting_.end() && free_ > 0;) {
      Job& job = **at;
      const bool ends_in_time = now_ + job.estimate <= shadow;
      ++at;
      if (job.size > free_ || (!ends_in_time && job.size > extra)) continue;
      if (!ends_in_time) extra -= job.size;
      start(job);
      at = waiting_.erase(std::prev(at));
    }
  }

  std::vector<Job>& jobs_;
  std::int64_t free_;
  bool backfills_;
  Seconds now_ = 0;
  std::deque<Job*> waiting_;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::vector<End> running_;  // by estimated end
};

}  // namespace

int main(int argc, char** argv) {
  const std::string_view policy = argc > 2 ? argv[2] : "";
  if (policy != "fcfs" && policy != "easy") return std::fputs("plain_loop TRACE.swf fcfs|easy [JOBS.csv]\n", stderr), 2;
  Trace trace = read(argv[1]);
  Scheduler(trace, policy == "easy").run();
  double waited = 0;
  for (const Job& job : trace.jobs) waited += static_cast<double>(job.start - job.submit);
  std::printf("%zu jobs, mean wait %.3f s\n", trace.jobs.size(), waited / static_cast<double>(trace.jobs.size()));
  if (argc < 4) return 0;
  std::FILE* const out = std::fopen(argv[3], "w");
  if (out == nullptr) return std::perror(argv[3]), 1;
  std::fputs("job,submit,start,end\n", out);
  for (const Job& job : trace.jobs)
    std::fprintf(out, "%lld,%lld,%lld,%lld\n", static_cast<long long>(job.id), static_cast<long long>(job.submit),
                 static_cast<long long>(job.start), static_cast<long long>(job.start + job.runtime));
  return std::fclose(out) == 0 ? 0 : 1;
}
