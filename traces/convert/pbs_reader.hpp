// Reads accounting logs of PBS (OpenPBS, PBS Professional, TORQUE): a line is "date;type;job;attributes". A run is what its
// E record says, or R where it is to run again; Q, S and D say what is known of jobs that have none. One server's log has
// a file a day, so what was said of a job is kept from file to file. docs/formats/pbs.md has the mapping.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "scheduler/base/file/byte_source.hpp"
#include "scheduler/base/file/line_reader.hpp"
#include "traces/convert/accounting.hpp"

namespace replay::pbs {

using accounting::Job;
using accounting::ReaderOptions;

class Reader : public accounting::Reader {
 public:
  /// The files of one server's log, in any order. Throws UsageError for an unknown zone.
  Reader(std::vector<std::unique_ptr<ByteSource>> sources, const ReaderOptions& options);

  [[nodiscard]] bool next(Job& job) override;
  [[nodiscard]] std::string_view format() const override { return "pbs"; }
  [[nodiscard]] const std::string& name() const override { return name_; }

 private:
  /// The attributes that are read. Others are passed over.
  enum class Key : std::uint8_t {
    kUser,
    kGroup,
    kAccount,
    kJobName,
    kQueue,
    kDepend,
    kCreated,
    kQueued,
    kEligible,
    kStart,
    kEnd,
    kExecVnode,
    kExecHost,
    kAssignedCpus,
    kSelect,
    kNodes,
    kCpus,
    kProcs,
    kNodeCount,
    kWallTime,
    kMemory,
    kMemoryOfProcess,
    kUsedCpuTime,
    kUsedMemory,
    kUsedWallTime,
    kExitStatus,
    kKeys  ///< how many there are
  };
  static constexpr std::size_t kKeyCount = static_cast<std::size_t>(Key::kKeys);
  static const std::array<std::string_view, kKeyCount> kNames;

  struct File {
    LineReader lines;
    std::string first;  // the first line, which says when the file begins
    std::optional<std::int64_t> begin;
    bool has_first = true;  // it has not been read yet
  };
  // What records have said about a job that has not ended.
  struct Open {
    Job job;
    bool has_submit = false;
    bool is_deleted = false;  // by D or A
    bool has_assigned =
        false;  // the size is that of resource_assigned, which has whole nodes if the job had them alone
    std::optional<std::int64_t> suspended_at;
    Duration suspended{};
  };

  [[nodiscard]] bool read_line();
  void read_record(std::string_view line);
  void take(char type, const std::string& id);
  [[nodiscard]] Open& state_of(const std::string& id);
  void read_attributes(std::string_view text);
  [[nodiscard]] std::string_view cell(Key key) const { return cells_[static_cast<std::size_t>(key)]; }
  template <class Read>
  [[nodiscard]] auto checked(Key key, std::string_view expected, Read read) const;
  [[nodiscard]] std::optional<std::int64_t> time(Key key) const;

  void describe(Open& open) const;
  [[nodiscard]] std::optional<std::int64_t> allocated() const;
  [[nodiscard]] std::optional<std::int64_t> requested() const;
  void end_run(Open& open, bool runs_again);
  void leave_queue(Open& open);
  void give(Open& open);
  void give_rest();

  std::string name_;
  std::vector<File> files_;  // by the time at which they begin
  std::size_t file_ = 0;
  std::int64_t at_ = 0;  // of the record in hand, s since 1970
  std::array<std::string_view, kKeyCount> cells_;
  std::unordered_map<std::string, Open> open_;
  std::unordered_set<std::string> arrays_;  // of which a task has a record, as "1234[]" with the server
  std::deque<Job> ready_;
  bool is_at_end_ = false;
};

}  // namespace replay::pbs
