#include "scheduler/plugin/messages.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_set>

#include "scheduler/base/json/read_json.hpp"
#include "scheduler/base/text/clean_text.hpp"

namespace replay::plugin {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kShown = 200;  // bytes of a line in an error message
constexpr double kFarthest = 9e12;   // seconds that fit into an Instant

Json time_of(Instant instant) { return instant == kNever ? Json{} : Json(seconds(instant)); }

std::string_view name_of(TriggerKind kind) {
  switch (kind) {
    case TriggerKind::kSubmit: return "submit";
    case TriggerKind::kFinish: return "finish";
    case TriggerKind::kEstimateReached: return "estimate_reached";
    case TriggerKind::kWake: return "wake";
    case TriggerKind::kChange: return "change";
    case TriggerKind::kNodes: return "nodes";
  }
  return "change";
}

// By its parameters, for programs that compute with it.
Json curve_of(const SpeedupCurve& curve) {
  if (const auto* law = std::get_if<DowneySpeedup>(&curve.law()))
    return {{"law", "downey"}, {"a", law->a}, {"sigma", law->sigma}};
  if (const auto* law = std::get_if<ThreePointSpeedup>(&curve.law()))
    return {{"law", "three-point"}, {"n", law->optimum}, {"e", law->efficiency}};
  return {{"law", "linear"}};
}

void add_declaration(const Declaration& declared, Json& message) {
  if (declared.least) message["least"] = *declared.least;
  if (declared.most) message["most"] = *declared.most;
  if (!declared.sizes.empty()) message["sizes"] = declared.sizes;
  if (declared.speedup) {
    message["speedup"] = to_text(*declared.speedup);
    message["curve"] = curve_of(*declared.speedup);
  }
  if (declared.same_cpu_slowdown) message["same_cpu_slowdown"] = *declared.same_cpu_slowdown;
  if (declared.same_node_slowdown) message["same_node_slowdown"] = *declared.same_node_slowdown;
  // A text: many readers of JSON keep 53 bits of a number.
  if (declared.pair_key) message["pair_key"] = fmt::format("{}", *declared.pair_key);
}

Json submitted(const Job& job) {
  // JSON has no -infinity, which stands for "beyond the user's quota".
  const bool beyond_quota = !std::isfinite(job.political_priority);
  Json message{{"event", "submitted"},
               {"id", number(job.id)},
               {"submitted", seconds(job.submitted)},
               {"processes", job.processes},
               {"estimate", seconds(job.estimate)},
               {"flexibility", to_text(job.flexibility)},
               {"can_shrink", job.can_shrink()},
               {"cpu_use", job.declared.cpu_use},
               {"network_overhead", job.declared.network_overhead},
               {"user", job.user},
               {"group", job.group},
               {"queue", job.queue},
               {"user_priority", job.user_priority},
               {"political_priority", beyond_quota ? Json{} : Json(job.political_priority)}};
  if (job.declaration) add_declaration(*job.declaration, message);
  return message;
}

Json shares_of(const Allocation& allocation, const Machine& machine) {
  Json shares = Json::array();
  for_each_node(allocation, machine, [&](const NodeShare& share) {
    shares.push_back(
        {{"node", static_cast<int>(share.node)}, {"cores", share.cores.size()}, {"processes", share.processes}});
  });
  return shares;
}

Json running(const char* event, const RunningJob& job, const Machine& machine) {
  Json message{{"event", event},
               {"id", number(job.job->id)},
               {"started", seconds(job.started)},
               {"estimated_end", time_of(job.estimated_end)},
               {"processes", job.processes()},
               {"cores", job.allocation.cores},
               {"mpl", job.allocation.mpl},
               {"launched", job.is_launched()},
               {"malleable", job.is_malleable()},
               {"suspended", job.is_suspended()},
               {"cpu_use", job.cpu_use}};
  if (machine.nodes() > 1) message["on"] = shares_of(job.allocation, machine);
  return message;
}

Json free_on_nodes(const ClusterView& view) {
  Json nodes = Json::array();
  for (int node = 0; node < view.machine.nodes(); ++node) nodes.push_back(view.free.on_node(NodeId{node}));
  return nodes;
}

std::string shown(std::string_view line) { return fmt::format("'{}'", clean_line(line, kShown)); }

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// The object in the line. Throws Refused if there is none, or if it is an error that the program reports.
Json parse_object(std::string_view line, std::string_view expected) {
  Json json;
  try {
    json = parse_json<Json>(line);
  } catch (const JsonError& error) {
    throw Refused(fmt::format("expected {}, found {} ({})", expected, shown(line), error.what()));
  }
  if (!json.is_object()) throw Refused(fmt::format("expected {}, found {}", expected, shown(line)));
  if (json.contains("error"))
    throw Refused(fmt::format("it says: {}",
                              json["error"].is_string() ? json["error"].get<std::string>() : text_of(json["error"])));
  return json;
}

template <typename Number>
Number whole_number(const Json& action, const char* field) {
  const Json& value = action.at(field);
  const bool fits = value.is_number_integer() && value.get<std::int64_t>() >= std::numeric_limits<Number>::min() &&
                    value.get<std::int64_t>() <= std::numeric_limits<Number>::max();
  if (!fits) throw Refused(fmt::format("action {}: expected a whole number as '{}'", text_of(action), field));
  return value.get<Number>();
}

Instant instant(const Json& action, const char* field) {
  const Json& value = action.at(field);
  if (!value.is_number() || !(std::abs(value.get<double>()) < kFarthest))
    throw Refused(fmt::format("action {}: expected seconds as '{}'", text_of(action), field));
  return Instant{from_seconds(value.get<double>())};
}

std::string text(const Json& action, const char* field) {
  if (!action.at(field).is_string())
    throw Refused(fmt::format("action {}: expected a text as '{}'", text_of(action), field));
  return action.at(field).get<std::string>();
}

void expect_only(const Json& action, std::initializer_list<std::string_view> fields) {
  for (const auto& [key, value] : action.items())
    if (std::ranges::find(fields, key) == fields.end())
      throw Refused(fmt::format("action {}: unknown field '{}'", text_of(action), key));
}

void enter(const Json& action, AnswerBook& book) {
  const auto is = [&](const char* verb) { return action.is_object() && action.contains(verb); };
  if (is("start")) {
    expect_only(action, {"start", "processes", "cores", "mpl"});
    const auto given = [&](const char* field) {
      return is(field) ? std::optional{whole_number<std::int32_t>(action, field)} : std::nullopt;
    };
    book.start(whole_number<std::int64_t>(action, "start"),
               {.processes = given("processes"), .cores = given("cores"), .mpl = given("mpl")});
  } else if (is("resize")) {
    expect_only(action, {"resize", "mpl"});
    if (!is("mpl")) throw Refused(fmt::format("action {}: expected a field 'mpl'", text_of(action)));
    book.resize(whole_number<std::int64_t>(action, "resize"), whole_number<int>(action, "mpl"));
  } else if (is("suspend")) {
    expect_only(action, {"suspend"});
    book.suspend(whole_number<std::int64_t>(action, "suspend"));
  } else if (is("resume")) {
    expect_only(action, {"resume"});
    book.resume(whole_number<std::int64_t>(action, "resume"));
  } else if (is("kill")) {
    expect_only(action, {"kill"});
    book.kill(whole_number<std::int64_t>(action, "kill"));
  } else if (is("wake_at")) {
    expect_only(action, {"wake_at"});
    book.wake_at(instant(action, "wake_at"));
  } else if (is("note")) {
    expect_only(action, {"note"});
    book.note(text(action, "note"));
  } else {
    throw Refused(
        fmt::format("expected an action with one of start, resize, suspend, resume, kill, wake_at, note; "
                    "found {}",
                    shown(text_of(action))));
  }
}

// With a program of another version of the protocol.
std::string what_to_do(const Json& spoken) {
  if (spoken == 1)
    return R"(in version 2 "processes" of a start is the size and "cores" counts cores: adapt the program and answer )"
           R"("protocol":2 (docs/formats/policy-protocol.md, Versions))";
  if (spoken.is_number_integer() && spoken > kPolicyProtocol) return "take a newer replay, or a program for this one";
  return fmt::format(R"(answer "protocol":{})", kPolicyProtocol);
}

}  // namespace

std::string hello_line(const Machine& machine, std::string_view policy) {
  Json shape{{"cores", machine.size()}, {"nodes", machine.nodes()}};
  if (machine.has_equal_nodes()) {
    shape["cores_per_node"] = machine.cores_per_node();
  } else {
    shape["cores_of_nodes"] = Json::array();
    for (int node = 0; node < machine.nodes(); ++node)
      shape["cores_of_nodes"].push_back(machine.cores_of(NodeId{node}).size());
  }
  shape["named_cores"] = machine.names_cores();
  const Json hello{{"type", "hello"}, {"protocol", kPolicyProtocol}, {"policy", policy}, {"machine", std::move(shape)}};
  return text_of(hello);
}

void check_hello(std::string_view line) {
  constexpr std::string_view kExpected = R"({"type":"hello","protocol":2})";
  const Json hello = parse_object(line, fmt::format("the answer {} to our hello", kExpected));
  if (!hello.contains("type") || hello["type"] != "hello" || !hello.contains("protocol"))
    throw Refused(fmt::format("expected the answer {} to our hello, found {}", kExpected, shown(line)));
  const Json& spoken = hello["protocol"];
  if (spoken != kPolicyProtocol)
    throw Refused(fmt::format("it speaks version {} of the protocol, this replay speaks version {}: {}",
                              text_of(spoken), kPolicyProtocol, what_to_do(spoken)));
}

void read_answer(std::string_view line, AnswerBook& book) {
  constexpr std::string_view kExpected = R"(an answer {"actions":[...]})";
  const Json answer = parse_object(line, kExpected);
  if (!answer.contains("actions") || !answer["actions"].is_array())
    throw Refused(fmt::format("expected {}, found {}", kExpected, shown(line)));
  for (const auto& [key, value] : answer.items())
    if (key != "actions" && key != "type")
      throw Refused(fmt::format("expected {}, found the unknown field '{}' in it", kExpected, key));
  for (const Json& action : answer["actions"]) enter(action, book);
}

std::optional<std::string> actions_of(std::string_view line) {
  try {
    Json answer = parse_object(line, "an answer");
    if (!answer.contains("actions") || !answer["actions"].is_array()) return std::nullopt;
    Json actions = Json::array();
    for (Json& action : answer["actions"])
      if (!action.is_object() || !action.contains("note")) actions.push_back(std::move(action));
    return text_of(actions);
  } catch (const Refused&) {
    return std::nullopt;
  }
}

ToldSoFar::Running ToldSoFar::state_of(const RunningJob& job) {
  return {job.start_order,   job.job->id,        job.estimated_end,  job.allocation,
          job.is_launched(), job.is_malleable(), job.is_suspended(), job.cpu_use};
}

std::string ToldSoFar::pass_line(const ClusterView& view) {
  Json ended = Json::array(), started = Json::array(), changed = Json::array(), arrived = Json::array();

  // Both lists are in order, so that one walk along the old and the new one finds what is only in one of them.
  running_now_.clear();
  std::unordered_set<JobId> just_started;
  std::vector<JobId> gone;
  auto told = running_.begin();
  for (const RunningJob* job : view.running.by_start()) {
    if (job->is_gone_in_plan()) continue;
    for (; told != running_.end() && told->start_order < job->start_order; ++told) gone.push_back(told->id);
    const Running& now = running_now_.emplace_back(state_of(*job));
    if (told == running_.end() || told->start_order != job->start_order) {
      just_started.insert(job->job->id);
      Json& event = started.emplace_back(running("started", *job, view.machine));
      const Waiting waited{job->job->submitted, job->job->id};
      if (!std::ranges::binary_search(waiting_, waited)) event["adopted"] = true;
    } else if (*told++ != now) {
      changed.push_back(running("changed", *job, view.machine));
    }
  }
  for (; told != running_.end(); ++told) gone.push_back(told->id);

  waiting_now_.clear();
  auto waited = waiting_.begin();
  const auto left_queue = [&](const Waiting& job) {
    if (!just_started.contains(job.id)) gone.push_back(job.id);
  };
  for (const Job* job : view.waiting) {
    const Waiting& now = waiting_now_.emplace_back(Waiting{job->submitted, job->id});
    for (; waited != waiting_.end() && *waited < now; ++waited) left_queue(*waited);
    if (waited != waiting_.end() && *waited == now)
      ++waited;
    else
      arrived.push_back(submitted(*job));
  }
  for (; waited != waiting_.end(); ++waited) left_queue(*waited);
  running_.swap(running_now_);
  waiting_.swap(waiting_now_);

  for (const JobId id : gone) ended.push_back({{"event", "ended"}, {"id", number(id)}});
  Json events = std::move(ended);
  for (Json* part : {&started, &changed, &arrived})
    for (Json& event : *part) events.push_back(std::move(event));
  Json triggers = Json::array();
  for (const Trigger& trigger : view.triggers) {
    Json& why = triggers.emplace_back(Json{{"kind", name_of(trigger.kind)}});
    if (trigger.job != nullptr) why["id"] = number(trigger.job->id);
  }
  Json pass{{"type", "pass"}, {"now", seconds(view.now)}, {"free", view.free.total()}};
  if (view.machine_until != kNever) pass["machine_until"] = seconds(view.machine_until);
  if (view.machine.nodes() > 1) pass["free_on_nodes"] = free_on_nodes(view);
  for (const ClosedNode& closed : view.free.closed()) {
    Json& node = pass["closed"].emplace_back(Json{{"node", number(closed.node)}});
    if (closed.until != kNever) node["until"] = seconds(closed.until);
  }
  if (!stands_.empty()) pass["stands"] = parse_json<Json>(std::exchange(stands_, {}));
  pass["triggers"] = std::move(triggers);
  pass["events"] = std::move(events);
  return text_of(pass);
}

}  // namespace replay::plugin
