// Write your own policy for `replay`: include this file, which needs nothing but the standard library, derive from
// replay_policy::Policy, name the class in REPLAY_POLICY(...), and build a shared object:
//
//   c++ -std=c++17 -shared -fPIC -o mine.so mine.cpp
//   replay simulate --trace t.swf --policy ./mine.so:factor=2
//
// Between replay and the shared object there are only C functions and plain structs (the first part), so the compilers,
// standard libraries and versions of both may differ. Structs grow at their end only, and both sides say their sizes.
// REPLAY_POLICY_ABI changes when that is not enough. All times are microseconds; instants count from the zero of the
// trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#define REPLAY_POLICY_ABI 2u
/// An instant that never comes: the estimated end of a suspended job.
#define REPLAY_POLICY_NEVER INT64_MAX

// ---- what crosses the border ---------------------------------------------------------------------------------------

extern "C" {

enum replay_flexibility { REPLAY_RIGID = 0, REPLAY_MOLDABLE = 1, REPLAY_MALLEABLE = 2 };

enum replay_speedup {
  REPLAY_NO_SPEEDUP = 0,  ///< not stated
  REPLAY_LINEAR = 1,
  REPLAY_DOWNEY = 2,      ///< Downey 1997: A, sigma
  REPLAY_THREE_POINT = 3  ///< SCOJO-P: N, then the efficiencies at N/2, N, 2N
};

/// What a job declares of its sizes and its neighbours. replay_answer has the functions that compute with it.
struct replay_declaration {
  int32_t least, most;           ///< sizes that a moldable or malleable job runs at, >= 1; 0: not stated
  const int32_t* sizes;          ///< the only ones, ascending
  uint64_t size_count;           ///< 0: all from least to most
  int32_t speedup;               ///< replay_speedup; later versions may know more
  int32_t has_pair_key;          ///< 1: pair_key is stated
  double speedup_parameters[4];  ///< of that law, in this order; the rest 0
  double same_cpu_slowdown;      ///< several of its processes per CPU, > 0; 0: not stated
  double same_node_slowdown;     ///< several of its processes per node, > 0; 0: not stated
  uint64_t pair_key;             ///< the slowdown of two jobs that share CPUs follows from both keys
};

/// What a job declares.
struct replay_job {
  int64_t id;
  int64_t submitted_us;
  int64_t estimate_us;         ///< of its run time at `processes` cores; > 0
  int32_t processes;           ///< submitted, >= 1; also its cores when it is started with them and not shrunk
  int32_t flexibility;         ///< replay_flexibility
  int32_t user, group, queue;  ///< SWF fields 12, 13, 15; -1: unknown
  int32_t can_shrink;          ///< 1: may be started or resized to more than one process per core
  double user_priority;        ///< 0..1
  double political_priority;   ///< 0..1, or -infinity beyond a quota
  double cpu_use;              ///< declared share of time it computes, 0..1
  double network_overhead;     ///< declared, 0..1
  const struct replay_declaration* declaration;  ///< null: nothing of sizes and neighbours
};

/// A job that has been started, as planned: in a real run other jobs may still hold its cores.
struct replay_running {
  const struct replay_job* job;
  int64_t started_us;        ///< when that was decided
  int64_t estimated_end_us;  ///< by its estimate and its speed; may be past; REPLAY_POLICY_NEVER while suspended
  int32_t cores;             ///< of a suspended job: those it gets back
  int32_t mpl;               ///< processes per core, at most; 1: not shrunk
  int32_t launched;          ///< 0: other jobs still hold its cores
  int32_t malleable;         ///< 1: may be resized
  int32_t suspended;         ///< 1: holds no cores
  int32_t processes;         ///< it was started with
  double cpu_use;            ///< declared, or measured so far in a real run
};

enum replay_trigger_kind {
  REPLAY_SUBMIT = 0,
  REPLAY_FINISH = 1,
  REPLAY_ESTIMATE_REACHED = 2,
  REPLAY_WAKE = 3,
  REPLAY_CHANGE = 4,
  REPLAY_NODES = 5  ///< nodes were closed or opened
};

/// Why there is a pass. Never grows.
struct replay_trigger {
  int64_t job;   ///< 0 for REPLAY_WAKE and REPLAY_NODES
  int32_t kind;  ///< replay_trigger_kind; later versions may know more
  int32_t reserved;
};

/// A node on which nothing can be started. Never grows.
struct replay_closed_node {
  int32_t node;  ///< from 0
  int32_t reserved;
  int64_t until_us;  ///< when it is to be up again; REPLAY_POLICY_NEVER: not known
};

/// The sizes of the structs in bytes, as one side has them. Those that stand in lists (trigger, parameter) never grow.
struct replay_layout {
  uint32_t job, declaration, running, trigger, view, answer, parameter, reserved;
};

/// Valid, with all that it points to, until decide() returns.
struct replay_view {
  uint64_t size;  ///< of this struct, as replay has it
  int64_t now_us;
  int32_t cores;  ///< of the machine
  int32_t nodes;  ///< 1 where cores have no names
  int32_t free;   ///< cores at the beginning of the pass
  int32_t reserved;
  const int32_t* free_on_node;              ///< `nodes` counts
  const struct replay_job* const* waiting;  ///< by (submitted, id)
  uint64_t waiting_count;
  const struct replay_running* const* running;  ///< in the order of their starts
  uint64_t running_count;
  const struct replay_trigger* triggers;
  uint64_t trigger_count;
  const struct replay_layout* layout;       ///< as replay has it: a field beyond these sizes is not there
  int64_t machine_until_us;                 ///< what runs then is killed; REPLAY_POLICY_NEVER: not known
  const struct replay_closed_node* closed;  ///< by node
  uint64_t closed_count;
};

/// What a policy answers with. Each answer counts at once: free() is after all answers so far. An impossible one ends
/// the run with a message when decide() has returned.
struct replay_answer {
  uint64_t size;  ///< of this struct, as replay has it
  void* host;
  /// `processes`: 0: the submitted ones; else one of the sizes that the job offers.
  void (*start)(void* host, int64_t job, int32_t processes, int32_t mpl);
  void (*resize)(void* host, int64_t job, int32_t mpl);
  void (*suspend)(void* host, int64_t job);
  void (*resume)(void* host, int64_t job);
  void (*kill)(void* host, int64_t job);
  void (*wake_at)(void* host, int64_t instant_us);
  void (*note)(void* host, const char* text);
  int32_t (*free)(void* host);
  int32_t (*cores_if_started)(void* host, int64_t job, int32_t processes, int32_t mpl);
  int32_t (*cores_if_resized)(void* host, int64_t job, int32_t mpl);
  /// Of a waiting job: its estimate with that many processes, by its curve; below 0: it cannot be started with them.
  int64_t (*estimate_at)(void* host, int64_t job, int32_t processes);
  /// Of a waiting job: the largest (fastest) of the sizes of at most `most` that it offers; 0: it offers none.
  int32_t (*largest_size)(void* host, int64_t job, int32_t most);
  int32_t (*fastest_size)(void* host, int64_t job, int32_t most);
};

struct replay_parameter {
  const char* key;
  const char* value;
};

/// The functions of a shared object. `error` takes a text of up to `error_size` bytes, with its zero.
struct replay_policy_table {
  uint64_t size;  ///< of this struct, as the shared object has it
  uint32_t abi;   ///< REPLAY_POLICY_ABI
  uint32_t reserved;
  struct replay_layout layout;  ///< as the shared object has it: compared with replay's when it is loaded
  /// Null and a text in `error`: the parameters are wrong.
  void* (*create)(const struct replay_parameter* parameters, uint64_t count, char* error, uint64_t error_size);
  void (*destroy)(void* policy);
  /// Not 0 and a text in `error`: the run ends.
  int32_t (*decide)(void* policy, const struct replay_view* view, const struct replay_answer* answer, char* error,
                    uint64_t error_size);
  /// "key=value:key=value" with all parameters, defaults too. Valid until destroy().
  const char* (*parameters)(void* policy);
  /// These two may be null, and may answer below 0: not known.
  int32_t (*free_until)(void* policy, const struct replay_view* view, int64_t until_us);
  int32_t (*may_start_now)(void* policy, const struct replay_view* view, const struct replay_job* job);
};

/// The one symbol that replay looks for: "replay_policy_entry".
typedef const struct replay_policy_table* (*replay_policy_entry_function)(void);

}  // extern "C"

// ---- C++ on top of it, compiled into the shared object ------------------------------------------------------------

namespace replay_policy {

using Declaration = replay_declaration;
using Job = replay_job;
using Running = replay_running;
using Trigger = replay_trigger;
using ClosedNode = replay_closed_node;

/// Elements that stay where they are until decide() returns.
template <typename Element>
class Range {
 public:
  Range(const Element* first, uint64_t count) : first_(first), count_(static_cast<std::size_t>(count)) {}
  const Element* begin() const { return first_; }
  const Element* end() const { return first_ + count_; }
  std::size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  const Element& operator[](std::size_t i) const { return first_[i]; }

 private:
  const Element* first_;
  std::size_t count_;
};

class View {
 public:
  explicit View(const replay_view& view) : view_(&view) {}
  int64_t now_us() const { return view_->now_us; }
  int32_t cores() const { return view_->cores; }
  int32_t nodes() const { return view_->nodes; }
  int32_t free() const { return view_->free; }
  int32_t free_on_node(int32_t node) const { return view_->free_on_node[node]; }
  Range<const Job*> waiting() const { return {view_->waiting, view_->waiting_count}; }
  Range<const Running*> running() const { return {view_->running, view_->running_count}; }
  Range<Trigger> triggers() const { return {view_->triggers, view_->trigger_count}; }
  const replay_layout& layout() const { return *view_->layout; }
  /// When a batch system takes the machine away: what runs then is killed. REPLAY_POLICY_NEVER: not known.
  int64_t machine_until_us() const {
    return view_->size <= offsetof(replay_view, machine_until_us) ? REPLAY_POLICY_NEVER : view_->machine_until_us;
  }
  /// Their cores are not free; a job that runs there keeps its cores as they are.
  Range<ClosedNode> closed() const {
    if (view_->size <= offsetof(replay_view, closed)) return {nullptr, 0};
    return {view_->closed, view_->closed_count};
  }

 private:
  const replay_view* view_;
};

class Answer {
 public:
  explicit Answer(const replay_answer& answer) : answer_(&answer) {}
  /// Starts a waiting job, at `mpl` processes per core (above 1: only where can_shrink).
  void start(const Job& job, int32_t mpl = 1) { answer_->start(answer_->host, job.id, 0, mpl); }
  /// Starts it with one of the sizes that it offers.
  void start_with(const Job& job, int32_t processes, int32_t mpl = 1) {
    answer_->start(answer_->host, job.id, processes, mpl);
  }
  void resize(const Running& job, int32_t mpl) { answer_->resize(answer_->host, job.job->id, mpl); }
  void suspend(const Running& job) { answer_->suspend(answer_->host, job.job->id); }
  void resume(const Running& job) { answer_->resume(answer_->host, job.job->id); }
  void kill(const Running& job) { answer_->kill(answer_->host, job.job->id); }
  /// Asks for a pass at that instant, after now.
  void wake_at(int64_t instant_us) { answer_->wake_at(answer_->host, instant_us); }
  /// Into the event log.
  void note(const std::string& text) { answer_->note(answer_->host, text.c_str()); }

  /// Cores that are free after the answers so far.
  int32_t free() const { return answer_->free(answer_->host); }
  /// The cores that the job would have; below 0: there is no room for it now.
  int32_t cores_if_started(const Job& job, int32_t mpl = 1) const { return cores_if_started_with(job, 0, mpl); }
  int32_t cores_if_started_with(const Job& job, int32_t processes, int32_t mpl = 1) const {
    return answer_->cores_if_started(answer_->host, job.id, processes, mpl);
  }
  int32_t cores_if_resized(const Running& job, int32_t mpl) const {
    return answer_->cores_if_resized(answer_->host, job.job->id, mpl);
  }
  /// Of a waiting job, by its declared curve; below 0: it cannot be started with that many processes.
  int64_t estimate_us(const Job& job, int32_t processes) const {
    return answer_->estimate_at(answer_->host, job.id, processes);
  }
  /// The largest size of at most `most` that a waiting job offers, and the one with the least estimate; 0: there is none.
  int32_t largest_size(const Job& job, int32_t most) const {
    return answer_->largest_size(answer_->host, job.id, most);
  }
  int32_t fastest_size(const Job& job, int32_t most) const {
    return answer_->fastest_size(answer_->host, job.id, most);
  }

 private:
  const replay_answer* answer_;
};

/// The parameters behind the policy's name. Reading declares: a parameter that is given and never read is refused.
class Parameters {
 public:
  Parameters(const replay_parameter* first, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) given_.emplace_back(first[i].key, first[i].value);
  }
  std::string text(const std::string& key, const std::string& default_value) {
    std::string value = default_value;
    for (auto given = given_.begin(); given != given_.end(); ++given)
      if (given->first == key) {
        value = given->second;
        given_.erase(given);
        break;
      }
    all_ += (all_.empty() ? "" : ":") + key + "=" + value;
    return value;
  }
  double number(const std::string& key, double default_value) {
    char shown[32];
    std::snprintf(shown, sizeof shown, "%.12g", default_value);
    const std::string value = text(key, shown);
    char* end = nullptr;
    const double number = std::strtod(value.c_str(), &end);
    if (value.empty() || *end != '\0')
      throw std::invalid_argument("parameter '" + key + "': expected a number, found '" + value + "'");
    return number;
  }
  bool flag(const std::string& key, bool default_value) {
    const std::string value = text(key, default_value ? "true" : "false");
    if (value != "true" && value != "false")
      throw std::invalid_argument("parameter '" + key + "': expected true or false, found '" + value + "'");
    return value == "true";
  }
  void expect_nothing_else() const {
    if (!given_.empty()) throw std::invalid_argument("has no parameter '" + given_.front().first + "'");
  }
  const std::string& all() const { return all_; }

 private:
  std::vector<std::pair<std::string, std::string>> given_;
  std::string all_;
};

/// Derive from this. The class is made from Parameters&, once for each run.
class Policy {
 public:
  static constexpr int32_t kNotKnown = -1;
  virtual ~Policy() = default;
  /// Called once per pass: after all events of an instant. Never waits, sleeps or prints. What it throws ends the run.
  virtual void decide(const View& view, Answer& answer) = 0;
  /// Asked by policies that wrap this one: cores free now that stay free until then if no job is submitted.
  virtual int32_t free_until(const View&, int64_t /*until_us*/) const { return kNotKnown; }
  /// 1: decide() could start this waiting job now without delaying any other; 0: not.
  virtual int32_t may_start_now(const View&, const Job&) const { return kNotKnown; }
};

namespace detail {

struct Made {
  Policy* policy;
  std::string parameters;
};

constexpr replay_layout layout() {
  return {sizeof(replay_job),  sizeof(replay_declaration), sizeof(replay_running),   sizeof(replay_trigger),
          sizeof(replay_view), sizeof(replay_answer),      sizeof(replay_parameter), 0};
}

inline void say(char* error, uint64_t size, const char* text) {
  if (size > 0) std::snprintf(error, static_cast<std::size_t>(size), "%s", text);
}

// No exception crosses the border.
template <typename Body>
int32_t guarded(char* error, uint64_t size, Body body) {
  try {
    body();
    return 0;
  } catch (const std::exception& thrown) {
    say(error, size, thrown.what());
  } catch (...) {
    say(error, size, "something that is no std::exception was thrown");
  }
  return 1;
}

template <typename Class>
void* create(const replay_parameter* given, uint64_t count, char* error, uint64_t size) {
  Made* made = nullptr;
  guarded(error, size, [&] {
    Parameters parameters{given, count};
    Policy* policy = new Class(parameters);
    try {
      parameters.expect_nothing_else();
      made = new Made{policy, parameters.all()};
    } catch (...) {
      delete policy;
      throw;
    }
  });
  return made;
}

inline void destroy(void* made) {
  delete static_cast<Made*>(made)->policy;
  delete static_cast<Made*>(made);
}

inline int32_t decide(void* made, const replay_view* view, const replay_answer* answer, char* error, uint64_t size) {
  return guarded(error, size, [&] {
    Answer answers{*answer};
    static_cast<Made*>(made)->policy->decide(View{*view}, answers);
  });
}

inline const char* parameters(void* made) { return static_cast<Made*>(made)->parameters.c_str(); }

inline int32_t free_until(void* made, const replay_view* view, int64_t until_us) {
  int32_t cores = Policy::kNotKnown;
  guarded(nullptr, 0, [&] { cores = static_cast<Made*>(made)->policy->free_until(View{*view}, until_us); });
  return cores;
}

inline int32_t may_start_now(void* made, const replay_view* view, const replay_job* job) {
  int32_t may = Policy::kNotKnown;
  guarded(nullptr, 0, [&] { may = static_cast<Made*>(made)->policy->may_start_now(View{*view}, *job); });
  return may;
}

}  // namespace detail
}  // namespace replay_policy

/// Once in the shared object: `Class` is its policy.
#define REPLAY_POLICY(Class)                                                                           \
  extern "C" __attribute__((visibility("default"))) const replay_policy_table* replay_policy_entry() { \
    static const replay_policy_table table{sizeof(replay_policy_table),                                \
                                           REPLAY_POLICY_ABI,                                          \
                                           0,                                                          \
                                           replay_policy::detail::layout(),                            \
                                           &replay_policy::detail::create<Class>,                      \
                                           &replay_policy::detail::destroy,                            \
                                           &replay_policy::detail::decide,                             \
                                           &replay_policy::detail::parameters,                         \
                                           &replay_policy::detail::free_until,                         \
                                           &replay_policy::detail::may_start_now};                     \
    return &table;                                                                                     \
  }
