#include "launcher/bootstrap/agent_starter.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include "launcher/daemon/agent_link.hpp"
#include "launcher/daemon/link_key.hpp"
#include "launcher/os/descriptor_limit.hpp"
#include "scheduler/base/error.hpp"
#include "scheduler/base/process/quiet_thread.hpp"
#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/shell_words.hpp"

namespace replay::launcher {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kListening = "replay agent: listening on ";
constexpr auto kTimeToLeave = 1000ms;

bool is_left_alone_by_shells(std::string_view word) {
  return !word.empty() && std::ranges::all_of(word, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view{"_@%+=:,./-"}.find(c) != std::string_view::npos;
  });
}

/// Which cores of its host the agent takes, and which network device its jobs.
std::vector<std::string> words_for(const Host& host) {
  std::vector<std::string> words;
  if (host.at_most) words = {"--at-most", fmt::format("{}", *host.at_most)};
  if (host.slots) words = {"--slots", fmt::format("{}", *host.slots)};
  if (!host.cores.empty()) words = {"--machine", fmt::format("local:{}", fmt::join(numbers(host.cores), ","))};
  if (host.emulated)
    words = {"--machine", fmt::format("emulated:1x{}x{}", host.emulated->packages, host.emulated->cores)};
  if (!host.interface.empty()) words.insert(words.end(), {"--iface", host.interface});
  return words;
}

bool all_have_ended(const std::vector<std::unique_ptr<HostProgram>>& programs) {
  return std::ranges::all_of(programs, [](const auto& program) { return !program || program->has_ended(); });
}

}  // namespace

std::vector<std::string> words_to_start_agent(const Bootstrap& how, const Host& host) {
  auto [words, open_quote] = split_words(how.command);
  if (open_quote != 0 || words.empty())
    throw InputError(fmt::format("the command that starts agents, '{}': expected a program and its options, found {}",
                                 visible_text(how.command), words.empty() ? "nothing" : "a quote that is not closed"));
  std::vector<std::string> command{how.program, "agent", "--key", "-", "--listen", how.listen, "--stay"};
  std::ranges::move(words_for(host), std::back_inserter(command));
  command.insert(command.end(), how.options.begin(), how.options.end());
  if (how.held >= 0) command.insert(command.end(), {"--hold", fmt::format("{}", HostProgram::kHeld)});
  for (const std::string& word : command)
    if (!is_left_alone_by_shells(word))
      throw InputError(fmt::format(
          "the command that starts an agent on host {}: expected words of letters, digits and _@%+=:,./- since a shell "
          "there reads them again, found '{}'",
          host.host, visible_text(word)));
  words.push_back(host.host);
  std::ranges::move(command, std::back_inserter(words));
  return words;
}

AgentStarter::AgentStarter(const Bootstrap& how, const std::vector<Host>& hosts, const protocol::LinkKey& key)
    : how_(how),
      input_(text_of_link_key(key)),
      loop_(event_base_new()),
      programs_(hosts.size()),
      have_ended_(hosts.size()),
      wake_(new_eventfd()),
      wake_event_(loop_.get(), wake_.get(), EV_READ | EV_PERSIST, [this] { on_wake(); }) {
  for (const Host& host : hosts) words_.push_back(words_to_start_agent(how, host));
  raise_descriptor_limit();
  for (const Host& host : hosts) agents_.push_back({host.host, host.agent_port, {}});
  for (std::size_t agent = 0; agent < hosts.size(); ++agent)
    if (hosts[agent].agent_port == 0) start(agent);

  std::optional<LoopEvent> stop;  // wakes the loop
  if (stop_descriptor() >= 0) stop.emplace(loop_.get(), stop_descriptor(), EV_READ, [] {}), stop->arm();
  const auto none_is_waited_for = [this] {
    for (std::size_t agent = 0; agent < agents_.size(); ++agent)
      if (is_waited_for(agent)) return false;
    return true;
  };
  (void)run_until([&] { return stops_asked() > 0 || none_is_waited_for(); }, how.limit);
  const std::string why = stops_asked() > 0
                              ? "stopped before its agent had come"
                              : fmt::format("no agent within {:g} s", std::chrono::duration<double>(how.limit).count());
  for (std::size_t agent = 0; agent < agents_.size(); ++agent)
    if (is_waited_for(agent)) {
      const std::string words_of_it = programs_[agent]->last_words();
      fail(agent, words_of_it.empty() ? why : fmt::format("{}; its last words: {}", why, words_of_it));
    }
  stop.reset();
  end_those_that_failed();
  first_ = agents_;
  wake_event_.arm();
  reader_ = quiet_thread([this] { event_base_dispatch(loop_.get()); });
}

AgentStarter::~AgentStarter() {
  {
    const std::lock_guard lock{mutex_};
    is_over_ = true;
  }
  ::eventfd_write(wake_.get(), 1);
  reader_.join();
  for (const auto& program : programs_)
    if (program && is_left_) program->leave();
  if (is_left_) return;
  for (const auto& program : programs_)
    if (program) program->close_input();
  const auto ended = [this] { return all_have_ended(programs_); };
  if (run_until(ended, how_.time_to_end)) return;
  for (const auto& program : programs_)
    if (program) program->send(SIGTERM);
  (void)run_until(ended, kTimeToLeave);
}

void AgentStarter::start(std::size_t agent) {
  try {
    auto program = std::make_unique<HostProgram>(
        loop_.get(), words_[agent], input_, how_.outlive_us,
        HostProgram::Callbacks{[this, agent](std::string_view line) { on_line(agent, line); },
                               [this, agent] { on_end(agent); }},
        how_.held);
    const std::lock_guard lock{mutex_};
    programs_[agent] = std::move(program);
    have_ended_[agent] = false;
  } catch (const std::system_error& error) {
    fail(agent, error.what());
  }
}

std::uint16_t AgentStarter::port_of_running(std::size_t agent, int cancel) {
  constexpr int kBetweenLooks = 50;  // ms
  const auto until = std::chrono::steady_clock::now() + how_.limit;
  pollfd cancelled{cancel, POLLIN, 0};
  std::unique_lock lock{mutex_};
  StartedAgent& now = agents_[agent];
  const bool is_coming = now.port == 0 && now.why.empty();
  if (!is_coming && (!programs_[agent] || have_ended_[agent])) {
    now.port = 0;
    now.why.clear();
    asked_.push_back(agent);
    ::eventfd_write(wake_.get(), 1);
  }
  while (now.port == 0 && now.why.empty()) {
    lock.unlock();
    const bool is_cancelled = ::poll(&cancelled, 1, kBetweenLooks) > 0;
    lock.lock();
    if (is_cancelled || std::chrono::steady_clock::now() >= until)
      throw InputError(fmt::format("host {}: no agent yet", now.host));
  }
  if (now.port == 0) throw InputError(now.why);
  return now.port;
}

void AgentStarter::on_wake() {
  eventfd_t count = 0;
  ::eventfd_read(wake_.get(), &count);
  std::vector<std::size_t> asked;
  {
    const std::lock_guard lock{mutex_};
    if (is_over_) return void(event_base_loopbreak(loop_.get()));
    asked.swap(asked_);
  }
  for (const std::size_t agent : asked) start(agent);
}

bool AgentStarter::is_waited_for(std::size_t agent) const {
  const std::lock_guard lock{mutex_};
  return agents_[agent].port == 0 && agents_[agent].why.empty();
}

/// What a login says before is passed over.
void AgentStarter::on_line(std::size_t agent, std::string_view line) {
  if (!is_waited_for(agent) || !line.starts_with(kListening)) return;
  try {
    const std::uint16_t port = LinkAddress::parse(line.substr(kListening.size())).port;
    const std::lock_guard lock{mutex_};
    agents_[agent].port = port;
  } catch (const InputError&) {  // not our line
  }
}

void AgentStarter::on_end(std::size_t agent) {
  {
    const std::lock_guard lock{mutex_};
    have_ended_[agent] = true;
  }
  if (!is_waited_for(agent)) return;
  const HostProgram& program = *programs_[agent];
  const std::string words = program.last_words();
  fail(agent,
       fmt::format("{} ({})", words.empty() ? "ended before its agent had come" : words, program.manner_of_end()));
}

void AgentStarter::fail(std::size_t agent, const std::string& why) {
  const std::lock_guard lock{mutex_};
  agents_[agent].port = 0;
  agents_[agent].why = fmt::format("host {}: {}", agents_[agent].host, why);
}

/// Their agents, if they are about to come, end with them.
void AgentStarter::end_those_that_failed() {
  std::vector<std::unique_ptr<HostProgram>> failed;
  for (std::size_t agent = 0; agent < agents_.size(); ++agent)
    if (agents_[agent].port == 0 && programs_[agent]) failed.push_back(std::move(programs_[agent]));
  for (const auto& program : failed) {
    program->close_input();
    program->send(SIGTERM);
  }
  (void)run_until([&failed] { return all_have_ended(failed); }, kTimeToLeave);
}

/// False: not within the limit.
bool AgentStarter::run_until(const std::function<bool()>& holds, std::chrono::milliseconds limit) {
  bool is_late = false;
  LoopEvent late{loop_.get(), -1, 0, [&is_late] { is_late = true; }};
  late.arm_after(limit);
  while (!holds() && !is_late) event_base_loop(loop_.get(), EVLOOP_ONCE);
  return !is_late;
}

std::string AgentStarter::last_words(std::size_t agent) const {
  const std::lock_guard lock{mutex_};
  return programs_[agent] ? programs_[agent]->last_words() : std::string{};
}

}  // namespace replay::launcher
