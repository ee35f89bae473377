// The live page of runs: a log sink that keeps the state of the run (run_changes.hpp) and sends browsers what has changed
// (page_server.hpp). The rule it keeps: the run never waits for it. Its sockets are looked at in tick() only, which the run
// calls some ten times a second, and a tick does a bounded piece of work: a browser that comes late gets what was before in
// pieces, one that is slow gets less often more. A failure here ends the page, and not the run.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "scheduler/base/loop/loop_event.hpp"
#include "scheduler/log/record.hpp"
#include "scheduler/report/live/page_server.hpp"
#include "scheduler/report/live/run_changes.hpp"

namespace replay::report {

/// Changed by tests only.
struct LivePageLimits {
  ServerLimits server;
  std::size_t changes = 4'000;         ///< in one event
  std::size_t waiting = 1'000'000;     ///< bytes: a client for which more wait gets no further event meanwhile
  std::chrono::milliseconds rest{90};  ///< between two events
  std::chrono::milliseconds facts{
      1'000};  ///< between two computations of the figures, or 50 times what the last one took
  std::chrono::milliseconds last_words{500};  ///< for clients to take what is left, at the end
};

class LivePage final : public log::Sink {
 public:
  /// Listens from now on. `port` 0: any that is free. `title`: of the page. Throws InputError if the port cannot be had.
  LivePage(std::uint16_t port, std::string_view title, LivePageLimits limits = {});
  LivePage(const LivePage&) = delete;
  LivePage& operator=(const LivePage&) = delete;
  /// As finish(), for a run that ended by an exception.
  ~LivePage() override;

  [[nodiscard]] std::string url() const { return server_.url(); }

  /// The next header begins a run whose event log is there. Browsers that are open go on with it.
  void begin_run(std::filesystem::path log);
  void header(const log::Header& header) override;
  void record(const log::Record& record) override;
  /// Takes connections and sends what is new. `now`: of the trace. Never blocks, takes milliseconds.
  void tick(Instant now);
  /// The run has ended and its files are written. Waits until the browsers have its last state, LivePageLimits::last_words
  /// at most; without browsers not at all.
  void end_run();
  /// No further run comes: says so, as `text` for the user, and closes. Waits as end_run() does. The second time it does nothing.
  void finish(std::string_view text);

 private:
  using Clock = std::chrono::steady_clock;
  // What a browser has got.
  struct Reader {
    std::size_t run = 0;      // number of the run, from 1; 0: none yet
    std::size_t changes = 0;  // of it
    std::size_t facts = 0;    // their version
    Clock::time_point at{};   // of the last event with changes
  };
  struct Facts {
    std::string json;
    std::size_t version = 0;  // 0: none
    std::size_t changes = 0;  // those that they tell of
    bool are_last = false;
    bool is_complete = false;
  };

  void turn();
  void serve();
  void serve(PageServer::Stream stream, Reader& reader);
  void renew_facts();
  [[nodiscard]] bool have_everything() const;
  /// LivePageLimits::last_words at most.
  void wait_until(const std::function<bool()>& is_done);

  LivePageLimits limits_;
  EventBase loop_;
  PageServer server_;
  std::filesystem::path log_;
  std::unique_ptr<RunChanges> run_;  // null before the first header
  std::size_t runs_ = 0;
  Instant now_{};
  std::string fault_;  // why the page shows nothing more
  std::map<PageServer::Stream, Reader> readers_;
  std::map<std::size_t, RunChanges::Batch>
      batches_;  // of one call of serve(), by their begin: for all browsers that are so far
  Facts facts_;
  std::size_t versions_ = 0;
  Clock::time_point next_facts_{};
  bool is_over_ = false, is_closed_ = false;
};

}  // namespace replay::report
