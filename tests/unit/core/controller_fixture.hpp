// A controller with a body that answers when the test says so, and a policy whose answers the test has written.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <exception>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scheduler/core/controller.hpp"
#include "tests/support/schedule.hpp"

namespace replay::test {

inline std::string orders_text(Orders orders) {
  std::string all;
  for (const Order& order : orders) {
    if (!all.empty()) all += "; ";
    if (const auto* launch = std::get_if<order::Launch>(&order))
      all += fmt::format("start {} {}", static_cast<char>(launch->job), launch->allocation.cores);
    else if (const auto* resize = std::get_if<order::Resize>(&order))
      all += fmt::format("resize {} {}", static_cast<char>(resize->job), resize->allocation.cores);
    else if (const auto* end = std::get_if<order::End>(&order))
      all += fmt::format("kill {}", static_cast<char>(end->job));
    else if (const auto* suspend = std::get_if<order::Suspend>(&order))
      all += fmt::format("suspend {}", static_cast<char>(suspend->job));
    else if (const auto* resume = std::get_if<order::Resume>(&order))
      all += fmt::format("resume {}", static_cast<char>(resume->job));
  }
  return all;
}

/// Throws a policy's failure.
inline Orders handled(Controller& controller, Duration when, std::span<const Event> events) {
  const auto orders = controller.handle(at(when), events);
  if (controller.failure()) std::rethrow_exception(controller.failure());
  return orders;
}

/// A scripted policy: a list of its answers, pass by pass.
class Script final : public Policy {
 public:
  Script() = default;
  explicit Script(PassRule rule) : Policy({.pass_rule = rule}) {}
  std::vector<Decisions> answers;
  void decide(const ClusterView& view, Decisions& out) override {
    free_seen.push_back(view.free.total());
    if (pass_ < answers.size()) out = answers[pass_++];
  }
  Duration more_time(const ClusterView&, const RunningJob&) override {
    return asked_ < more_times.size() ? more_times[asked_++] : Duration::zero();
  }
  std::vector<CoreCount> free_seen;
  std::vector<Duration> more_times;

 private:
  std::size_t pass_ = 0;
  std::size_t asked_ = 0;
};

/// Every process computes all the time.
class FullLoad final : public SharedCoresModel {
 public:
  double slowdown_of(const Behaviour&, int mpl, double demand) const override { return mpl + demand; }
};

class TwoSteps : public testing::Test {
 protected:
  std::string happens(Duration when, std::vector<Event> events) {
    return orders_text(handled(*controller_, when, events));
  }
  void use(Policy& policy, ControllerOptions options = {}) {
    controller_.emplace(machine_, policy, model_, log_, options);
  }

  Machine machine_ = cores(4);
  FullLoad model_;
  MemoryLog log_;
  std::optional<Controller> controller_;
  TracedJob a_ = job('A').cores(4).runs(10min);
  TracedJob b_ = job('B').cores(2).runs(1min);
};

}  // namespace replay::test
