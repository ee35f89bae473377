#include "scheduler/report/live/live_page.hpp"

#include <time.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/report/page/page.hpp"

namespace replay::report {
namespace {

using std::chrono_literals::operator""ms;

constexpr int kTurns = 4;     // of the loop in a tick: a connection is taken, its request read and answered
constexpr auto kWork = 10ms;  // of a tick, after which further browsers wait for the next one
constexpr auto kLongestSilence = 1'000ms;  // then the time alone is sent
constexpr auto kPulse = 5ms;
constexpr int kShareOfFacts = 50;  // they take a fiftieth of the time at most

std::chrono::nanoseconds cpu_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

}  // namespace

LivePage::LivePage(std::uint16_t port, std::string_view title, LivePageLimits limits)
    : limits_(limits), loop_(precise_loop()), server_(loop_.get(), port, limits.server) {
  server_.show(live_page(title, PageServer::kEvents));
}

LivePage::~LivePage() { finish("the run ended early"); }

void LivePage::begin_run(std::filesystem::path log) { log_ = std::move(log); }

void LivePage::header(const log::Header& header) {
  if (is_closed_) return;
  run_ = std::make_unique<RunChanges>(log_);
  run_->sink().header(header);
  ++runs_;
  now_ = Instant{};
  is_over_ = false;
  facts_ = {};
  next_facts_ = {};
}

void LivePage::record(const log::Record& record) {
  if (is_closed_ || !fault_.empty()) return;
  try {
    run_->sink().record(record);
  } catch (const InputError& error) {
    fault_ = error.what();
  }
}

void LivePage::tick(Instant now) {
  if (is_closed_) return;
  if (!fault_.empty()) return finish("this page stopped: " + fault_);
  now_ = std::max(now_, now);
  turn();
  try {
    serve();
  } catch (const InputError& error) {
    fault_ = error.what();
  }
  turn();
}

void LivePage::turn() {
  for (int turns = 0; turns < kTurns; ++turns) event_base_loop(loop_.get(), EVLOOP_NONBLOCK);
}

// Those that were served longest ago first.
void LivePage::serve() {
  std::vector<PageServer::Stream> streams = server_.streams();
  std::erase_if(readers_, [&streams](const auto& one) { return !std::ranges::binary_search(streams, one.first); });
  if (!run_ || streams.empty()) return;
  renew_facts();
  std::ranges::stable_sort(streams, {}, [this](PageServer::Stream stream) { return readers_[stream].at; });
  batches_.clear();
  const Clock::time_point begin = Clock::now();
  for (const PageServer::Stream stream : streams) {
    serve(stream, readers_[stream]);
    if (Clock::now() - begin > kWork) break;
  }
}

void LivePage::serve(PageServer::Stream stream, Reader& reader) {
  const Clock::time_point clock = Clock::now();
  if (server_.waiting(stream) > limits_.waiting) return;
  if (reader.run != runs_) {
    server_.send(stream, "begin", run_->begin());
    reader = {.run = runs_};
  }
  const bool is_behind = reader.changes < run_->size();
  const auto since = clock - reader.at;
  if (!is_over_ && since < limits_.rest) return;
  if (is_behind || (!is_over_ && since >= kLongestSilence)) {
    const auto [batch, is_new] = batches_.try_emplace(reader.changes);
    if (is_new) batch->second = run_->since(reader.changes, limits_.changes, is_over_ ? run_->last() : now_);
    server_.send(stream, "records", batch->second.json);
    reader.changes = batch->second.until;
    reader.at = clock;
  }
  if (reader.facts != facts_.version && reader.changes == run_->size()) {
    server_.send(stream, "records", facts_.json);
    reader.facts = facts_.version;
  }
}

// Figures cost more with each job, so the longer they take, the less often they are made. Time in which other programs had
// the core does not count.
void LivePage::renew_facts() {
  const bool are_old = facts_.version == 0 || facts_.changes != run_->size() || facts_.are_last != is_over_;
  if (!are_old || (!is_over_ && Clock::now() < next_facts_)) return;
  const auto begin = cpu_time();
  auto [json, is_complete] = run_->facts();
  facts_ = {std::move(json), ++versions_, run_->size(), is_over_, is_complete};
  next_facts_ = Clock::now() + std::max<Clock::duration>(limits_.facts, kShareOfFacts * (cpu_time() - begin));
}

bool LivePage::have_everything() const {
  return std::ranges::all_of(server_.streams(), [this](PageServer::Stream stream) {
    const auto reader = readers_.find(stream);
    return reader != readers_.end() && reader->second.run == runs_ && reader->second.changes == run_->size() &&
           reader->second.facts == facts_.version && server_.waiting(stream) == 0;
  });
}

void LivePage::wait_until(const std::function<bool()>& is_done) {
  const Clock::time_point deadline = Clock::now() + limits_.last_words;
  LoopEvent pulse(loop_.get(), -1, 0, [] {});
  for (turn(); !is_done() && Clock::now() < deadline;) {
    pulse.arm_after(kPulse);
    event_base_loop(loop_.get(), EVLOOP_ONCE);
  }
}

void LivePage::end_run() {
  if (is_closed_ || !run_ || is_over_) return;
  run_->finish();
  is_over_ = true;
  wait_until([this] {
    serve();
    return have_everything();
  });
}

void LivePage::finish(std::string_view text) {
  if (is_closed_) return;
  is_closed_ = true;
  nlohmann::ordered_json end = {{"text", clean_line(text)}, {"complete", is_over_ && facts_.is_complete}};
  if (is_over_) end["end"] = seconds(run_->last());
  for (const PageServer::Stream stream : server_.streams())
    server_.send(stream, "end", end.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  server_.close();
  wait_until([this] { return server_.has_sent_all(); });
}

}  // namespace replay::report
