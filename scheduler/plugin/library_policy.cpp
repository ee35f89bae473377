#include "scheduler/plugin/library_policy.hpp"

#include <dlfcn.h>
#include <fmt/core.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>

#include "scheduler/base/error.hpp"
#include "scheduler/plugin/answer_book.hpp"
#include "scheduler/plugin/fault.hpp"
#include "scheduler/plugin/library_view.hpp"
#include "scheduler/plugin/replay_policy.hpp"
#include "scheduler/policy/view/hosting.hpp"

namespace replay::plugin {
namespace {

constexpr std::size_t kErrorSize = 1024;
constexpr const char* kEntry = "replay_policy_entry";

// The answers of one pass. What is refused is kept: nothing may be thrown through the library's frames.
class Answers {
 public:
  Answers(const ClusterView& view, Decisions& out) : book_(view, out) {}

  replay_answer table() {
    return {sizeof(replay_answer),
            this,
            [](void* host, std::int64_t job, std::int32_t processes, std::int32_t mpl) {
              of(host).keep([&](AnswerBook& book) { book.start(job, size_of(processes, mpl)); });
            },
            [](void* host, std::int64_t job, std::int32_t mpl) {
              of(host).keep([&](AnswerBook& book) { book.resize(job, mpl); });
            },
            [](void* host, std::int64_t job) { of(host).keep([&](AnswerBook& book) { book.suspend(job); }); },
            [](void* host, std::int64_t job) { of(host).keep([&](AnswerBook& book) { book.resume(job); }); },
            [](void* host, std::int64_t job) { of(host).keep([&](AnswerBook& book) { book.kill(job); }); },
            [](void* host, std::int64_t at) {
              of(host).keep([&](AnswerBook& book) { book.wake_at(Instant{Duration{at}}); });
            },
            [](void* host, const char* text) {
              of(host).keep([&](AnswerBook& book) { book.note(text == nullptr ? "" : text); });
            },
            [](void* host) -> std::int32_t { return of(host).book_.free(); },
            [](void* host, std::int64_t job, std::int32_t processes, std::int32_t mpl) -> std::int32_t {
              return of(host).book_.cores_if_started(job, size_of(processes, mpl)).value_or(-1);
            },
            [](void* host, std::int64_t job, std::int32_t mpl) -> std::int32_t {
              return of(host).book_.cores_if_resized(job, mpl).value_or(-1);
            },
            [](void* host, std::int64_t job, std::int32_t processes) {
              return of(host).book_.estimate_at(job, processes).value_or(Duration{-1}).count();
            },
            [](void* host, std::int64_t job, std::int32_t most) -> std::int32_t {
              return of(host).book_.largest_size(job, most).value_or(0);
            },
            [](void* host, std::int64_t job, std::int32_t most) -> std::int32_t {
              return of(host).book_.fastest_size(job, most).value_or(0);
            }};
  }

  /// What was refused first; empty if nothing was.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }

 private:
  static Answers& of(void* host) { return *static_cast<Answers*>(host); }
  static StartSize size_of(std::int32_t processes, std::int32_t mpl) {
    return {.processes = processes == 0 ? std::nullopt : std::optional{processes}, .cores = {}, .mpl = mpl};
  }

  template <typename Take>
  void keep(Take take) {
    if (!refusal_.empty()) return;
    try {
      take(book_);
    } catch (const std::exception& refused) {
      refusal_ = refused.what();
    }
  }

  AnswerBook book_;
  std::string refusal_;
};

class LibraryPolicy final : public Policy, public Hosting {
 public:
  LibraryPolicy(std::string name, const replay_policy_table& table, void* made)
      : name_(std::move(name)), table_(table), made_(made) {}
  LibraryPolicy(const LibraryPolicy&) = delete;
  LibraryPolicy& operator=(const LibraryPolicy&) = delete;
  ~LibraryPolicy() override { table_.destroy(made_); }

  void decide(const ClusterView& view, Decisions& out) override {
    Answers answers{view, out};
    const replay_answer answer = answers.table();
    std::array<char, kErrorSize> error{};
    const int failed = table_.decide(made_, &view_.of(view), &answer, error.data(), error.size());
    error.back() = '\0';
    if (!answers.refusal().empty()) throw PolicyFault(name_, view.now, answers.refusal());
    if (failed != 0) throw PolicyFault(name_, view.now, fmt::format("it threw an exception: {}", error.data()));
  }

  CoreCount free_until(const ClusterView& view, Instant until) const override {
    LibraryView seen;
    const int cores =
        has_free_until() ? table_.free_until(made_, &seen.of(view), until.time_since_epoch().count()) : -1;
    return cores < 0 ? Hosting::free_until(view, until) : std::min<CoreCount>(cores, view.free.total());
  }

  bool may_start_now(const ClusterView& view, const Job& job) const override {
    LibraryView seen;
    const replay_view& shown = seen.of(view);
    const int may = has_may_start_now() ? table_.may_start_now(made_, &shown, &seen.also(job)) : -1;
    return may < 0 ? Hosting::may_start_now(view, job) : may != 0;
  }

 private:
  // Members that a library built against a smaller table does not have.
  bool has_free_until() const {
    return table_.size >= offsetof(replay_policy_table, may_start_now) && table_.free_until != nullptr;
  }
  bool has_may_start_now() const {
    return table_.size >= sizeof(replay_policy_table) && table_.may_start_now != nullptr;
  }

  std::string name_;
  const replay_policy_table& table_;
  void* made_;
  LibraryView view_;
};

// With a shared object of another version.
std::string what_to_do(std::uint32_t abi) {
  if (abi > REPLAY_POLICY_ABI) return "take a newer replay, or build it again with this replay's header";
  return "build it again with this replay's header, which starts a job of another size by start_with(job, processes) "
         "(docs/own-policies.md, Versions)";
}

// Structs may be larger there, in a later header of this version; what stands in lists may not. Throws InputError.
void expect_layout(const std::string& path, const replay_layout& theirs) {
  struct Check {
    const char* name;
    std::uint32_t theirs, least;
    bool is_fixed = false;
  };
  // The sizes that the structs had when this version began.
  const Check checks[] = {{"replay_job", theirs.job, 88},
                          {"replay_declaration", theirs.declaration, 88},
                          {"replay_running", theirs.running, 56},
                          {"replay_trigger", theirs.trigger, 16, true},
                          {"replay_view", theirs.view, 96},
                          {"replay_answer", theirs.answer, 120},
                          {"replay_parameter", theirs.parameter, 16, true}};
  for (const auto& [name, found, least, is_fixed] : checks)
    if (found < least || (is_fixed && found != least))
      throw InputError(
          fmt::format("{}: expected a {} of {}{} bytes, found one of {}; build it with replay_policy.hpp as it is, "
                      "without options that change the layout of structs",
                      path, name, is_fixed ? "" : "at least ", least, found));
}

const replay_policy_table& open(const std::string& path) {
  if (!std::filesystem::exists(path))
    throw InputError(fmt::format("{}: expected a shared object, found no file", path));
  // Never closed: what it threw, registered or left in a thread may outlive the policy.
  void* library = ::dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw InputError(fmt::format("{}: cannot be loaded: {}", path, ::dlerror()));
  void* symbol = ::dlsym(library, kEntry);
  if (symbol == nullptr)
    throw InputError(
        fmt::format("{}: expected the symbol {}, found none; a policy ends with REPLAY_POLICY(itsClass) of "
                    "replay_policy.hpp",
                    path, kEntry));
  const replay_policy_table* table = reinterpret_cast<replay_policy_entry_function>(symbol)();
  if (table == nullptr) throw InputError(fmt::format("{}: expected {}() to return a table, found null", path, kEntry));
  if (table->abi != REPLAY_POLICY_ABI)
    throw InputError(fmt::format("{}: it was built for version {} of replay_policy.hpp, this replay has version {}: {}",
                                 path, table->abi, REPLAY_POLICY_ABI, what_to_do(table->abi)));
  const bool whole = table->size >= offsetof(replay_policy_table, free_until) && table->create != nullptr &&
                     table->destroy != nullptr && table->decide != nullptr && table->parameters != nullptr;
  if (!whole)
    throw InputError(
        fmt::format("{}: expected a table of at least {} bytes with create, destroy, decide and "
                    "parameters; found one of {} bytes, or a null among them",
                    path, offsetof(replay_policy_table, free_until), table->size));
  expect_layout(path, table->layout);
  return *table;
}

}  // namespace

LoadedPolicy load_policy(const std::string& path, const std::string& name,
                         const std::vector<std::pair<std::string, std::string>>& parameters) {
  const replay_policy_table& table = open(path);
  std::vector<replay_parameter> given;
  for (const auto& [key, value] : parameters) given.push_back({key.c_str(), value.c_str()});
  std::array<char, kErrorSize> error{};
  void* made = table.create(given.data(), given.size(), error.data(), error.size());
  error.back() = '\0';
  if (made == nullptr) throw UsageError(fmt::format("policy '{}': {}", path, error.data()));
  const char* all = table.parameters(made);
  return {std::make_unique<LibraryPolicy>(name, table, made), all == nullptr ? "" : all};
}

}  // namespace replay::plugin
