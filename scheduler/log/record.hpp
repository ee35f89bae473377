// The event log: everything that happened in a run, in order, as typed records. Both bodies write it through the one
// controller; metrics, report, audit and validate read nothing else, so that a real run and a simulated one compare
// line by line. Times are trace time. docs/formats/events.md describes the text form.
#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/facts/fact.hpp"
#include "scheduler/model/allocation.hpp"
#include "scheduler/model/event.hpp"
#include "scheduler/model/job.hpp"
#include "scheduler/model/job_sizes.hpp"
#include "scheduler/model/units.hpp"

namespace replay::log {

/// A description of the run, as ordered name-value pairs. Names that readers rely on: `body` (sim or live), `machine`
/// (Machine::to_text), `hosts` (node_names.hpp), `policy`, `trace`, `runtime-model`, `seed`, `time-scale`.
struct Header {
  std::vector<std::pair<std::string, std::string>> entries;

  void set(std::string name, std::string value);
  /// Empty if absent.
  [[nodiscard]] const std::string& value(std::string_view name) const;
};

/// A job came into the queue. The truth is here for the readers of the log; no policy reads a log.
struct Submitted {
  Job job;
  JobTruth truth;
};
/// The policy decided to start it. Other jobs may still hold its cores.
struct StartDecided {
  JobId job;
  Allocation allocation;
  SizeChoice choice{};
};
/// Its cores were given to it; run time counts from here.
struct Launched {
  JobId job;
  Allocation allocation;
  Instant since = kNever;  ///< another run has started it then, and this one has adopted it; kNever: this one
};
/// Live: all its ranks were seen on their cores. `malleable` false: it cannot share cores, for `reason`. A later one
/// counts instead: its ranks have registered after all.
struct RanksSeen {
  JobId job;
  bool malleable;
  std::string reason;
};
/// The policy decided to change its cores.
struct ResizeDecided {
  JobId job;
  Allocation allocation;
};
/// Its processes are on these cores now, and off those they left.
struct ResizeDone {
  JobId job;
  Allocation allocation;
};
struct SuspendDecided {
  JobId job;
};
struct SuspendDone {
  JobId job;
};
struct ResumeDecided {
  JobId job;
};
struct ResumeDone {
  JobId job;
};
struct KillDecided {
  JobId job;
  KillReason reason;
};
/// The estimate grew to `estimate` in all.
struct Extended {
  JobId job;
  Duration estimate;
};
/// It ended, its processes are gone, its cores are free. Exactly one for each Submitted.
struct Finished {
  JobId job;
  JobEnd end;
};
/// The body could not do what was decided.
struct Failed {
  JobId job;
  std::string action;
  std::string reason;
};
/// Something worth knowing that changes no state.
struct Note {
  std::string text;
};
/// A node on which it ran went down. Its processes are gone, its cores are free, and it waits again.
struct Requeued {
  JobId job;
  std::string reason;
};

/// Told is the last: its facts continue the list.
using What =
    std::variant<Submitted, StartDecided, Launched, RanksSeen, ResizeDecided, ResizeDone, SuspendDecided, SuspendDone,
                 ResumeDecided, ResumeDone, KillDecided, Extended, Finished, Failed, Note, NodeChange, Requeued, Told>;

inline constexpr std::size_t kKindCount = std::variant_size_v<What>;

/// The words of the records in the text of the log: of each type in the order of What, then of each fact. Their fields
/// are in log/fields.hpp.
inline constexpr auto kWords = [] {
  constexpr auto kRecords = std::to_array<std::string_view>({"submit", "start", "launch", "ranks", "resize", "resized",
                                                             "suspend", "suspended", "resume", "resumed", "kill",
                                                             "extend", "finish", "failed", "note", "node", "requeue"});
  static_assert(kRecords.size() + 1 == kKindCount, "each record type has its word");
  std::array<std::string_view, kRecords.size() + kFactWords.size()> all;
  std::ranges::copy(kFactWords, std::ranges::copy(kRecords, all.begin()).out);
  return all;
}();

[[nodiscard]] std::string_view word_of(const What& what);

/// Kinds of records: bit i is the i-th alternative of What.
using Kinds = std::bitset<kKindCount>;

/// The place of `Alternative` in What.
template <class Alternative>
inline constexpr std::size_t kKind = []<std::size_t... Kind>(std::index_sequence<Kind...>) {
  return (0 + ... + (std::is_same_v<Alternative, std::variant_alternative_t<Kind, What>> ? Kind : 0));
}
(std::make_index_sequence<kKindCount>{});

static_assert(kKind<Told> + 1 == kKindCount);

/// Makes `what` an empty record, or fact, of the type that has kWords[Word].
template <std::size_t Word>
auto& emplace(What& what) {
  if constexpr (Word < kKind<Told>)
    return what.emplace<Word>();
  else
    return what.emplace<Told>().fact.emplace<Word - kKind<Told>>();
}

/// The kinds of `Alternatives`.
template <class... Alternatives>
Kinds kinds() {
  Kinds kinds;
  static_cast<void>((kinds.set(kKind<Alternatives>), ...));
  return kinds;
}

/// Whether `Visitor` can be called with a record's content: with the content of a Told, if it is one.
template <class Visitor, class Content>
inline constexpr bool kTakes = std::is_invocable_v<const Visitor&, const Content&>;
template <class Visitor, class... Contents>
inline constexpr bool kTakes<Visitor, std::variant<Contents...>> = (kTakes<Visitor, Contents> || ...);
template <class Visitor>
inline constexpr bool kTakes<Visitor, Told> = kTakes<Visitor, Fact>;

/// The kinds that `Visitor` can be called with.
template <class Visitor>
Kinds kinds_of() {
  return []<std::size_t... Kind>(std::index_sequence<Kind...>) {
    Kinds kinds;
    static_cast<void>((kinds.set(Kind, kTakes<Visitor, std::variant_alternative_t<Kind, What>>), ...));
    return kinds;
  }
  (std::make_index_sequence<kKindCount>{});
}

/// Calls `use` with the index as a std::integral_constant, as one switch: the table of functions that std::visit() makes
/// of so many alternatives adds about the cost of a record.
template <std::size_t Count, class Use>
void with_index(std::size_t index, const Use& use) {
  [&]<std::size_t... Index>(std::index_sequence<Index...>) {
    static_cast<void>(((index == Index && (use(std::integral_constant<std::size_t, Index>{}), true)) || ...));
  }
  (std::make_index_sequence<Count>{});
}

/// std::visit() for visitors that return nothing and skip what they cannot be called with. Of a Told they are called
/// with the fact.
template <class Visitor, class... Contents>
void visit(const Visitor& visitor, const std::variant<Contents...>& what) {
  with_index<sizeof...(Contents)>(what.index(), [&]<std::size_t Index>(std::integral_constant<std::size_t, Index>) {
    const auto& content = *std::get_if<Index>(&what);
    using Content = std::remove_cvref_t<decltype(content)>;
    if constexpr (std::is_same_v<Content, Told>)
      visit(visitor, content.fact);
    else if constexpr (kTakes<Visitor, Content>)
      visitor(content);
  });
}

struct Record {
  Instant at;
  What what;
};

/// A header or a record that cannot be true after those before it: the log is damaged, or of a broken program. A reader of
/// files adds file and line.
class BadRecord : public InputError {
 public:
  explicit BadRecord(const std::string& why) : InputError("event log: " + why), why_(why) {}
  [[nodiscard]] const std::string& why() const { return why_; }

 private:
  std::string why_;
};

/// Where records go: a file, what follows the run, or several of them. Records come in time order.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void header(const Header& header) = 0;
  virtual void record(const Record& record) = 0;
  /// The kinds of records that the sink uses, always the same: others need not be passed to it.
  [[nodiscard]] virtual Kinds kinds() const { return Kinds{}.set(); }
};

/// Passes every record to each of `sinks` that uses its kind, in order. The sinks must outlive it.
class Tee final : public Sink {
 public:
  explicit Tee(std::vector<Sink*> sinks);
  void header(const Header& header) override;
  void record(const Record& record) override;
  [[nodiscard]] Kinds kinds() const override;

 private:
  std::vector<Sink*> sinks_;
  std::array<std::vector<Sink*>, kKindCount> by_kind_;
};

}  // namespace replay::log
