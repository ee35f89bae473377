#include "scheduler/plugin/exec_policy.hpp"

#include <fmt/core.h>

#include <optional>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/shell_words.hpp"
#include "scheduler/plugin/answer_book.hpp"
#include "scheduler/plugin/child_process.hpp"
#include "scheduler/plugin/fault.hpp"
#include "scheduler/plugin/messages.hpp"

namespace replay::plugin {
namespace {

class ExecPolicy final : public Policy {
 public:
  explicit ExecPolicy(ExecOptions options) : options_(std::move(options)) {}

  void decide(const ClusterView& view, Decisions& out) override {
    try {
      if (!child_) begin(view);
      AnswerBook book{view, out};
      std::string answer = child_->ask(told_.pass_line(view), options_.limit);
      if (keeper_ != nullptr) answer = what_stands(std::move(answer));
      read_answer(answer, book);
    } catch (const ChildFault& fault) {
      child_.reset();
      throw PolicyFault(options_.name, view.now, fault.what());
    } catch (const Refused& refused) {
      const std::string words = child_ ? child_->last_words() : "";
      child_.reset();
      throw PolicyFault(options_.name, view.now, refused.what() + words);
    }
  }

  void keep_answers(AnswerKeeper& keeper) override { keeper_ = &keeper; }

 private:
  // Starts the program at the first pass, as the machine is not known before. In a real run the agent has been started
  // by then and so inherits nothing of the program.
  void begin(const ClusterView& view) {
    child_.emplace(options_.words);
    check_hello(child_->ask(hello_line(view.machine, options_.name), options_.limit));
  }

  // Of a run that is played back: what it had answered.
  std::string what_stands(std::string given) {
    std::string kept = keeper_->kept(given);
    if (kept == given) return kept;
    std::optional<std::string> actions = actions_of(kept);
    if (!actions || actions == actions_of(given)) return kept;
    keeper_->note_other_decisions(kept, given);
    told_.tell_what_stands(std::move(*actions));
    return kept;
  }

  ExecOptions options_;
  std::optional<ChildProcess> child_;
  ToldSoFar told_;
  AnswerKeeper* keeper_ = nullptr;  // null: the answers need not be kept
};

}  // namespace

std::unique_ptr<Policy> make_exec_policy(ExecOptions options) {
  return std::make_unique<ExecPolicy>(std::move(options));
}

std::vector<std::string> split_command(const std::string& command) {
  ShellWords split = split_words(command);
  if (split.open_quote != 0)
    throw UsageError(fmt::format("policy 'exec:{}': a {} is not closed", command, split.open_quote));
  return std::move(split.words);
}

}  // namespace replay::plugin
