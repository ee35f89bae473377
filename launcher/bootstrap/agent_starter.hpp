// Starts an agent on each host of a run, all at once, by what the user has: a program that is called as `CMD HOST COMMAND...`
// and runs COMMAND there, such as ssh. The key goes through its standard input, so that no command line or environment
// shows it; the port comes back as the line that `replay agent` prints. As soon as the input is closed, the agent ends.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "launcher/bootstrap/host_program.hpp"
#include "launcher/bootstrap/hosts_file.hpp"
#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/base/loop/loop_event.hpp"
#include "scheduler/protocol/handshake.hpp"

namespace replay::launcher {

/// How agents are started.
struct Bootstrap {
  std::string command = "ssh -o BatchMode=yes";  ///< CMD, split into words as a shell does
  std::string program = "replay";                ///< as it is called on the hosts
  std::vector<std::string> options{};            ///< further words of `replay agent`, for all hosts
  std::string listen = "0.0.0.0:0";              ///< where they listen
  bool outlive_us = false;  ///< agents that have jobs go on without this process, as long as their leases say
  int held =
      -1;  ///< descriptor that each agent of this computer keeps open as long as a process of it lives; negative: none
  std::chrono::milliseconds limit{30'000};       ///< for all of them together
  std::chrono::milliseconds time_to_end{5'000};  ///< for agents, at the end: with jobs it takes some seconds
};

/// CMD HOST COMMAND... for this host. Throws InputError: a quote of CMD is open, CMD is empty, or a word of COMMAND is one that
/// a shell would change, as ssh has a shell read it again.
[[nodiscard]] std::vector<std::string> words_to_start_agent(const Bootstrap& how, const Host& host);

struct StartedAgent {
  std::string host;
  std::uint16_t port = 0;  ///< where it listens; 0: it has not come
  std::string why;         ///< then one line, "host node1: ssh: Could not resolve hostname node1 (exit status 255)"
};

class AgentStarter {
 public:
  /// Returns when each agent has come or failed, after how.limit, or at a stop signal (stop_signals.hpp), at the latest.
  /// Of a host with an agent_port nothing is started. Throws as words_to_start_agent(), before anything is started.
  /// REQUIRES: the calling thread lives as long as this.
  AgentStarter(const Bootstrap& how, const std::vector<Host>& hosts, const protocol::LinkKey& key);
  AgentStarter(const AgentStarter&) = delete;
  AgentStarter& operator=(const AgentStarter&) = delete;
  /// Ends the agents: usually some milliseconds, at most how.time_to_end and a second.
  ~AgentStarter();

  /// Where the agent of a host listens; if CMD has ended there, it is started again before. Blocks, for how.limit at most, no
  /// longer once `cancel` can be read. Any thread. Throws InputError: why it has not come.
  [[nodiscard]] std::uint16_t port_of_running(std::size_t agent, int cancel);

  /// The agents go on without this. REQUIRES: they outlive it.
  void leave() { is_left_ = true; }

  /// In the order of `hosts`, as they came at first.
  [[nodiscard]] const std::vector<StartedAgent>& agents() const { return first_; }
  /// The last line that CMD, or the agent through it, has written to standard error, for a host whose agent has come
  /// and is lost. Empty: none. Any thread.
  [[nodiscard]] std::string last_words(std::size_t agent) const;

 private:
  void start(std::size_t agent);
  void on_wake();
  void on_line(std::size_t agent, std::string_view line);
  void on_end(std::size_t agent);
  void fail(std::size_t agent, const std::string& why);
  [[nodiscard]] bool is_waited_for(std::size_t agent) const;
  void end_those_that_failed();
  bool run_until(const std::function<bool()>& holds, std::chrono::milliseconds limit);

  Bootstrap how_;
  std::string input_;  // of CMD: the key
  std::vector<std::vector<std::string>> words_;
  EventBase loop_;
  mutable std::mutex mutex_;                            // of the next five, once there is a reader_
  std::vector<StartedAgent> agents_;                    // as they are now
  std::vector<std::unique_ptr<HostProgram>> programs_;  // of agents_; null: none runs
  std::vector<bool> have_ended_;                        // those of programs_ of which on_end() was told
  std::vector<std::size_t> asked_;                      // to be started again
  bool is_over_ = false;
  bool is_left_ = false;
  std::vector<StartedAgent> first_;
  UniqueFd wake_;
  LoopEvent wake_event_;  // for reader_
  std::thread reader_;    // runs the loop from the constructor's end on: an agent must not wait for us to read
};

}  // namespace replay::launcher
