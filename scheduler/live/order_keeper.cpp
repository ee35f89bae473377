#include "scheduler/live/order_keeper.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/enum_words.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/base/text/split.hpp"

namespace replay::live {
std::string word_of_cores(const std::vector<CoreId>& cores) {
  return cores.empty() ? "-" : fmt::format("{}", fmt::join(cores, ","));
}

std::vector<CoreId> cores_of_word(std::string_view word) {
  std::vector<CoreId> cores;
  if (word == "-") return cores;
  for (const std::string_view one : split(word, ',')) {
    const auto core = parse_number<std::int32_t>(one);
    if (!core || *core < 0) throw InputError(fmt::format("cores: expected numbers such as 0,1, found '{}'", word));
    cores.push_back(CoreId{*core});
  }
  return cores;
}

std::string KeptOrder::to_text() const {
  const std::string text = fmt::format("{} {}", live::to_text(kind), number(job));
  switch (kind) {
    case Kind::kLaunch:
    case Kind::kResize: return fmt::format("{} {}", text, word_of_cores(core_of_rank));
    case Kind::kEnd: return fmt::format("{} {}", text, replay::to_text(outcome));
    case Kind::kSlowDown: return fmt::format("{} {}", text, slowdown);
    case Kind::kSuspend:
    case Kind::kResume: break;
  }
  return text;
}

KeptOrder KeptOrder::parse(const std::string& text) {
  const auto fail = [&text] {
    return InputError(fmt::format("order: expected one such as 'launch 17 0,1', found '{}'", text));
  };
  const std::vector<std::string_view> words = split(text, ' ');
  KeptOrder order;
  const auto kind = enum_of<Kind>(words[0]);
  const auto job = words.size() > 1 ? parse_number<std::int64_t>(words[1]) : std::nullopt;
  if (!kind || !job) throw fail();
  order.kind = *kind;
  order.job = JobId{*job};
  const bool has_none = order.kind == Kind::kSuspend || order.kind == Kind::kResume;
  if (words.size() != (has_none ? 2U : 3U)) throw fail();
  if (order.kind == Kind::kLaunch || order.kind == Kind::kResize) {
    order.core_of_rank = cores_of_word(words[2]);
  } else if (order.kind == Kind::kEnd) {
    const auto outcome = enum_of<Outcome>(words[2]);
    if (!outcome) throw fail();
    order.outcome = *outcome;
  } else if (order.kind == Kind::kSlowDown) {
    const auto slowdown = parse_finite(words[2]);
    if (!slowdown) throw fail();
    order.slowdown = *slowdown;
  }
  return order;
}

void OrderKeeper::launch(const LaunchOrder& order) {
  inputs_.expect_order(KeptOrder{KeptOrder::Kind::kLaunch, order.job, order.core_of_rank}.to_text());
  executor_.launch(order);
}
void OrderKeeper::resize(JobId job, const std::vector<CoreId>& core_of_rank) {
  inputs_.expect_order(KeptOrder{KeptOrder::Kind::kResize, job, core_of_rank}.to_text());
  executor_.resize(job, core_of_rank);
}
void OrderKeeper::suspend(JobId job) {
  inputs_.expect_order(KeptOrder{KeptOrder::Kind::kSuspend, job}.to_text());
  executor_.suspend(job);
}
void OrderKeeper::resume(JobId job) {
  inputs_.expect_order(KeptOrder{KeptOrder::Kind::kResume, job}.to_text());
  executor_.resume(job);
}
void OrderKeeper::end(JobId job, Outcome reason) {
  inputs_.expect_order(KeptOrder{.kind = KeptOrder::Kind::kEnd, .job = job, .outcome = reason}.to_text());
  executor_.end(job, reason);
}
void OrderKeeper::slow_down(JobId job, double slowdown) {
  inputs_.expect_order(KeptOrder{.kind = KeptOrder::Kind::kSlowDown, .job = job, .slowdown = slowdown}.to_text());
  executor_.slow_down(job, slowdown);
}

}  // namespace replay::live
