// An executor whose orders are kept with the inputs of the run: the executor of another daemon comes to the same state by them
// and by what it has told (ExecutorListener::on_input), whatever policy has given them (adoption.hpp).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scheduler/live/executor.hpp"
#include "scheduler/live/run_inputs.hpp"

namespace replay::live {

class OrderKeeper final : public Executor {
 public:
  /// Both outlive this.
  OrderKeeper(Executor& executor, RunInputs& inputs) : executor_(executor), inputs_(inputs) {}

  /// Its orders are not kept.
  [[nodiscard]] Executor& inner() { return executor_; }

  void attach(event_base* loop, ExecutorListener* listener) override { executor_.attach(loop, listener); }
  void detach() override { executor_.detach(); }
  void launch(const LaunchOrder& order) override;
  void resize(JobId job, const std::vector<CoreId>& core_of_rank) override;
  void suspend(JobId job) override;
  void resume(JobId job) override;
  void end(JobId job, Outcome reason) override;
  void slow_down(JobId job, double slowdown) override;
  void hurry() override { executor_.hurry(); }
  void hold() override { executor_.hold(); }
  void release() override { executor_.release(); }
  void play(const std::string& input) override { executor_.play(input); }
  void go_on() override { executor_.go_on(); }
  void leave() override { executor_.leave(); }

 private:
  Executor& executor_;
  RunInputs& inputs_;
};

/// An order as it is kept: "launch 17 0,1", "resize 17 0,0", "suspend 17", "resume 17", "end 17 killed", "slow_down 17 1.5".
struct KeptOrder {
  enum class Kind : std::uint8_t { kLaunch, kResize, kSuspend, kResume, kEnd, kSlowDown };
  Kind kind = Kind::kLaunch;
  JobId job{};
  std::vector<CoreId> core_of_rank{};  ///< kLaunch, kResize
  Outcome outcome = Outcome::kKilled;  ///< kEnd
  double slowdown = 1;                 ///< kSlowDown

  [[nodiscard]] std::string to_text() const;
  /// Throws InputError.
  [[nodiscard]] static KeptOrder parse(const std::string& text);
};

[[nodiscard]] constexpr std::string_view to_text(KeptOrder::Kind kind) {
  switch (kind) {
    case KeptOrder::Kind::kLaunch: return "launch";
    case KeptOrder::Kind::kResize: return "resize";
    case KeptOrder::Kind::kSuspend: return "suspend";
    case KeptOrder::Kind::kResume: return "resume";
    case KeptOrder::Kind::kEnd: return "end";
    case KeptOrder::Kind::kSlowDown: return "slow_down";
  }
  return "?";
}

/// "0,0,3"; "-" for none. The reverse throws InputError.
[[nodiscard]] std::string word_of_cores(const std::vector<CoreId>& cores);
[[nodiscard]] std::vector<CoreId> cores_of_word(std::string_view word);

}  // namespace replay::live
