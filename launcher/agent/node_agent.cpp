#include "launcher/agent/node_agent.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <set>
#include <system_error>
#include <variant>

#include "launcher/agent/agent_directory.hpp"
#include "launcher/agent/cores/back_end_test.hpp"
#include "launcher/agent/node_check.hpp"
#include "launcher/mpich/mpiexec.hpp"
#include "scheduler/base/error.hpp"
#include "scheduler/base/text/say_on_stderr.hpp"

namespace replay::launcher {
namespace {

using std::chrono_literals::operator""ms;

constexpr std::chrono::microseconds kShortestQuantum{100};  // wire.h
constexpr std::size_t kMostEarlyLines = 256;
constexpr auto kLaunchComesWithin = 120000ms;  // of a job whose line is here: its daemon may be cut off
constexpr auto kFirstLookAfter = 200ms;        // at what else computes: soon, and 20 clock ticks
constexpr auto kTestHoldsFor = 10000ms;        // of sched_yield
constexpr auto kGiveUpAfter = 1500ms;          // of a shutdown: SIGTERM, 0.5 s, SIGKILL, and a margin

/// ld.so splits LD_PRELOAD at blanks and colons, so a vmlib that has one in its path is reached through a link.
std::filesystem::path preloadable(const std::filesystem::path& vmlib, const std::filesystem::path& directory) {
  if (vmlib.empty()) return vmlib;
  const std::filesystem::path absolute = std::filesystem::absolute(vmlib);
  if (absolute.string().find_first_of(" :\t\n") == std::string::npos) return absolute;
  const std::filesystem::path link = directory / kAgentVmlibLink;
  std::error_code error;
  std::filesystem::create_symlink(absolute, link, error);
  return link;
}

/// The cores of the core segment: the emulated ones, or one more than the highest OS index.
std::uint32_t count_cores(const AgentOptions& options) {
  const long wanted = options.emulated_cores > 0
                          ? options.emulated_cores
                          : std::max<long>(::sysconf(_SC_NPROCESSORS_CONF), number(affinity_mask().back()) + 1);
  return static_cast<std::uint32_t>(std::clamp<long>(wanted, 1, REPLAY_VM_MAX_CORES));
}

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

bool is_back_end_ours_to_choose(const AgentOptions& options) {
  return options.emulated_cores == 0 && options.back_end == BackEnd::kAuto;
}

replay_vm_back_end test_yielding() {
  try {
    return find_back_end(affinity_mask().front());
  } catch (const std::system_error& error) {  // no process can be started then either, and each job's start says so
    say_on_stderr(
        fmt::format("replay-agent: sched_yield cannot be tested: {}; ranks hand cores over by tokens", error.what()));
    return REPLAY_VM_TOKEN;
  }
}

BackEnds choose_back_ends(const AgentOptions& options) {
  if (options.emulated_cores > 0 || options.back_end == BackEnd::kToken) return {REPLAY_VM_TOKEN, REPLAY_VM_TOKEN};
  if (options.back_end == BackEnd::kYield) return {REPLAY_VM_YIELD, REPLAY_VM_YIELD};
  return {test_yielding(), REPLAY_VM_TOKEN};
}

}  // namespace

NodeAgent::NodeAgent(const AgentOptions& options, const AgentDirectory& home, AgentConnection connection)
    : options_(options),
      directory_(home.path),
      loop_(precise_loop()),
      topology_(load_topology()),
      cores_(count_cores(options_), choose_back_ends(options_)),
      yielding_tested_(std::chrono::steady_clock::now()),
      guard_(directory_),
      group_(ControlGroup::make(directory_.filename().string())),
      line_(loop_.get(), options_.silence_limit, connection.lease,
            {[this](const protocol::AgentOrder& order) { handle(order); }, [this] { return hello(); },
             [this](const std::string& reason) { reason.empty() ? shut_down() : part(reason); }}),
      first_(std::move(connection.first)),
      further_(std::move(connection.further)),
      further_event_(loop_.get(), further_.get(), EV_READ | EV_PERSIST, [this] { take_further_connection(); }),
      child_event_(loop_.get(), SIGCHLD, EV_SIGNAL | EV_PERSIST, [this] { reap(); }),
      terminate_event_(loop_.get(), SIGTERM, EV_SIGNAL | EV_PERSIST, [this] { part("it was told to end (SIGTERM)"); }),
      second_event_(loop_.get(), -1, EV_PERSIST,
                    [this] {
                      look_at_cores();
                      for (const auto& [id, job] : jobs_) job->measure();
                      std::erase_if(early_lines_, [](const auto& line) {
                        return std::chrono::steady_clock::now() - line.second.came > kLaunchComesWithin;
                      });
                      line_.send_heartbeat();
                    }),
      first_look_(loop_.get(), -1, 0, [this] { look_at_cores(); }),
      purge_event_(loop_.get(), -1, 0,
                   [this] {
                     retired_.clear();
                     if (is_shutting_down_ && jobs_.empty()) event_base_loopbreak(loop_.get());
                   }),
      give_up_event_(loop_.get(), -1, 0, [this] { event_base_loopbreak(loop_.get()); }) {
  if (is_back_end_ours_to_choose(options_)) {
    const auto tick_ns = 1'000'000'000 / static_cast<std::uint64_t>(std::max(::sysconf(_SC_CLK_TCK), 1L));
    busy_cores_.emplace(tick_ns, sample_cores({}));
  }
  site_.loop = loop_.get();
  site_.topology = &topology_;
  site_.cores = &cores_;
  site_.end_cost = &end_cost_;
  site_.starts = &starts_;
  site_.guard = &guard_;
  if (const auto turn = options_.turn_of_jobs(); turn.count() > 0) {
    turns_.emplace(loop_.get(), cores_, guard_, turn);
    site_.turns = &*turns_;
  }
  site_.group = group_ ? &*group_ : nullptr;
  if (options_.network == JobNetwork::kOwn && !why_no_own_network()) site_.network = JobNetwork::kOwn;
  site_.is_emulated = options_.emulated_cores > 0;
  site_.quantum = std::max<std::chrono::microseconds>(options_.quantum, kShortestQuantum);
  site_.registration_limit = options_.registration_limit;
  site_.registration_limit_per_rank = options_.registration_limit_per_rank;
  site_.mpiexec = options_.mpiexec;
  site_.vmlib = preloadable(options_.vmlib, directory_);
  site_.socket = directory_ / kAgentSocket;
  site_.shared = home.shared;
  site_.replay_proxy = options_.replay_proxy;
  site_.dial = options_.dial;
  site_.interface = options_.interface;
  site_.proxy_socket = directory_ / kAgentProxySocket;
  proxy_desk_ = std::make_unique<ProxyDesk>(loop_.get(), site_.proxy_socket);
  site_.proxy_desk = proxy_desk_.get();
  site_.report = [this](const protocol::AgentReport& report) { line_.send(report); };
  site_.retire = [this](JobId job) { retire(job); };
  site_.orphans_of = [this](const std::string& key) { return orphans_of(key); };
  registrar_ = std::make_unique<Registrar>(
      loop_.get(), site_.socket,
      [this](const replay_vm_hello& hello) {
        AgentJob* job = job_with(hello.key);
        return job != nullptr ? job->admit(hello) : Admission{kRefusedKey, {}};
      },
      [this](const replay_vm_hello& hello, UniqueFd rank) {
        if (AgentJob* job = job_with(hello.key)) job->add_rank(hello, std::move(rank));
      });
}

NodeAgent::~NodeAgent() = default;

void NodeAgent::run() {
  child_event_.arm();
  terminate_event_.arm();
  second_event_.arm_after(1000ms);
  first_look_.arm_after(kFirstLookAfter);
  if (further_.is_open()) further_event_.arm();
  line_.connect(std::move(first_));
  event_base_dispatch(loop_.get());
  kill_all_descendants();
  jobs_.clear();  // with their segments
  retired_.clear();
}

protocol::Hello NodeAgent::hello() const {
  protocol::Hello hello;
  hello.pid = ::getpid();
  hello.emulated = options_.emulated_cores > 0;
  hello.packages = options_.packages;
  hello.host = host_name();
  if (hello.emulated)
    hello.cores = numbers(emulated_pus(options_.emulated_cores));
  else
    hello.cores = numbers(options_.cores.empty() ? affinity_mask() : options_.cores);
  return hello;
}

/// Ends the connection for this reason, and all jobs. The daemon is told, if it still can be.
void NodeAgent::part(const std::string& reason) {
  if (is_shutting_down_) return;
  say_on_stderr(fmt::format("replay-agent: {}: ending all jobs", reason));
  line_.part(reason);
  shut_down();
}

void NodeAgent::handle(const protocol::AgentOrder& order) {
  if (is_shutting_down_) return;
  std::visit([this](const auto& o) { on(o); }, order);
}

void NodeAgent::on(const protocol::LaunchJob& order) {
  if (jobs_.contains(order.job))
    return line_.send(protocol::OrderFailed{order.job, "launch", "a job with this number runs"});
  test_yielding_again();
  const auto& job = jobs_[order.job] = std::make_unique<AgentJob>(site_, order);
  starts_.add(order.core_of_rank.size());
  job->launch();
  const auto launched = jobs_.find(order.job);
  if (launched == jobs_.end()) return;
  if (auto line = early_lines_.extract(launched->second->key()))
    launched->second->take_line(std::move(line.mapped().stream));
}

void NodeAgent::on(const protocol::EndJob& order) {
  if (const auto job = jobs_.find(order.job); job != jobs_.end())
    job->second->end(order.outcome, job->second->is_to_end() ? Patience::kNone : Patience::kNormal);
  else
    line_.send(protocol::OrderFailed{order.job, "end", "no such job"});
}

void NodeAgent::on(const protocol::Goodbye&) { shut_down(); }

void NodeAgent::on(const protocol::SlowDown& order) {
  if (const auto job = jobs_.find(order.job); job != jobs_.end()) job->second->slow_down(order.slowdown);
}

void NodeAgent::on(const protocol::CheckNode& order) { line_.send(check_node_here(order, options_)); }

void NodeAgent::on(const protocol::AskStatistics& order) {
  if (const auto job = jobs_.find(order.job); job != jobs_.end())
    line_.send(job->second->statistics());
  else
    line_.send(protocol::OrderFailed{order.job, "statistics", "no such job"});
}

template <typename Order>
void NodeAgent::on(const Order& order) {
  if (const auto job = jobs_.find(order.job); job != jobs_.end()) return job->second->carry_out(order);
  const char* action = std::is_same_v<Order, protocol::MoveRanks>    ? "resize"
                       : std::is_same_v<Order, protocol::SuspendJob> ? "suspend"
                                                                     : "resume";
  line_.send(protocol::OrderFailed{order.job, action, "no such job"});
}

void NodeAgent::take_further_connection() {
  auto connection = receive_connection(further_.get());
  if (!connection) return further_event_.disarm();  // the door is gone
  if (connection->session.purpose != protocol::LinkPurpose::kJobLine)
    return line_.connect(std::move(connection->stream));
  JobKey key{};
  std::ranges::copy(connection->session.id, key.begin());
  if (AgentJob* const job = job_with(key.data()))
    job->take_line(std::move(connection->stream));
  else if (early_lines_.size() < kMostEarlyLines)
    early_lines_.insert_or_assign(key, EarlyLine{std::chrono::steady_clock::now(), std::move(connection->stream)});
}

/// Where others have come to compute, or have left, the ranks are told.
void NodeAgent::look_at_cores() {
  if (busy_cores_) cores_.set_busy(busy_cores_->judge(sample_cores(cores_.processes_by_core())));
}

/// A test that fell into a busy moment is not for ever. Only while no job runs, which it would disturb.
void NodeAgent::test_yielding_again() {
  const auto now = std::chrono::steady_clock::now();
  if (!busy_cores_ || !jobs_.empty() || cores_.within_a_job() != REPLAY_VM_TOKEN ||
      now - yielding_tested_ < kTestHoldsFor)
    return;
  yielding_tested_ = now;
  cores_.set_within_a_job(test_yielding());
}

AgentJob* NodeAgent::job_with(const std::uint8_t* key) const {
  for (const auto& [id, job] : jobs_)
    if (std::memcmp(job->key().data(), key, job->key().size()) == 0) return job.get();
  return nullptr;
}

/// Reaps our mpiexecs and the orphans that the kernel has given us.
void NodeAgent::reap() {
  siginfo_t exited{};
  while (::waitid(P_ALL, 0, &exited, WEXITED | WNOHANG | WNOWAIT) == 0 && exited.si_pid > 0) {
    const pid_t pid = exited.si_pid;
    const auto stat = read_stat(pid);  // the kernel drops it with the next line
    int status = 0;
    ::waitpid(pid, &status, 0);
    guard_.on_exit(pid);
    for (const auto& [id, job] : jobs_) {
      if (job->mpiexec_pid() != pid && job->proxy_pid() != pid) continue;
      if (job->proxy_pid() == pid)
        job->on_proxy_exit(status);
      else
        job->on_mpiexec_exit(status, !stat || stat->faults_of_children > 0 || has_left_a_proxy(stat->name));
      break;  // it may have left jobs_
    }
  }
}

/// Of an mpiexec of this name: what it has forked, and not waited for, is our child now, and a zombie at least.
bool NodeAgent::has_left_a_proxy(const std::string& mpiexec) const {
  return std::ranges::any_of(children_of(::getpid()), [&](pid_t child) {
    const auto stat = read_stat(child);
    const bool is_other_jobs = std::ranges::any_of(jobs_, [child](const auto& one) {
      return one.second->mpiexec_pid() == child || one.second->proxy_pid() == child;
    });
    return stat && !is_other_jobs && (stat->name == mpiexec || is_of_hydra(*stat));
  });
}

void NodeAgent::retire(JobId job) {
  auto node = jobs_.extract(job);
  retired_.push_back(std::move(node.mapped()));
  purge_event_.arm_after(0ms);
}

std::vector<pid_t> NodeAgent::orphans() const {
  std::set<pid_t> launchers;
  for (const auto& [id, job] : jobs_) launchers.insert({job->mpiexec_pid(), job->proxy_pid()});
  std::vector<pid_t> found;
  for (const pid_t child : children_of(::getpid())) {
    if (launchers.contains(child) || child == guard_.pid()) continue;
    const auto stat = read_stat(child);
    if (!stat || stat->state == 'Z') continue;  // reaped at the next SIGCHLD
    found.push_back(child);
    for (const pid_t below : descendants_of(child)) found.push_back(below);
  }
  return found;
}

/// With at most one job, every orphan belongs to it; with several, an orphan must have the job's key in its
/// environment.
std::vector<pid_t> NodeAgent::orphans_of(const std::string& key) const {
  std::vector<pid_t> found = orphans();
  if (jobs_.size() <= 1) return found;
  std::erase_if(found, [&key](pid_t pid) { return !environment_has(pid, std::string{REPLAY_VM_ENV_KEY} + "=" + key); });
  return found;
}

void NodeAgent::shut_down() {
  if (is_shutting_down_) return;
  is_shutting_down_ = true;
  line_.stop();
  second_event_.disarm();
  first_look_.disarm();
  for (const auto& [id, job] : jobs_) job->end(Outcome::kKilled, Patience::kHurried);
  give_up_event_.arm_after(kGiveUpAfter);
  purge_event_.arm_after(0ms);
}

void NodeAgent::kill_all_descendants() {
  for (int tries = 0; tries < 100; ++tries) {
    const std::vector<pid_t> left = descendants_of(::getpid());
    if (left.empty()) return;
    for (const pid_t pid : left)
      if (const auto process = Process::open(pid)) process->signal(SIGKILL);
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    ::usleep(2000);
  }
}

}  // namespace replay::launcher
