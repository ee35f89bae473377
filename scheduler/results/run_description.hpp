// Describes a run for its results: what was run, under which policy, on which machine, from which files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/model/units.hpp"

namespace replay::results {

struct RunDescription {
  std::string command_line;          ///< as given, perhaps of several runs
  std::vector<std::string> words;    ///< of the command that makes this run alone
  std::string body;                  ///< "sim" or "live"
  std::string machine;               ///< as Machine::to_text(), or an emulated one's text
  std::vector<std::string> hosts{};  ///< by node; empty: they have no names
  std::string policy;                ///< as written
  std::string policy_full;           ///< with every parameter
  std::string runtime_model;         ///< name
  std::uint64_t seed = 1;
  double time_scale = 1;       ///< real seconds per second of the trace
  std::string overrun;         ///< kill, extend or policy
  bool may_requeue = false;    ///< jobs that are lost with a node wait again, or some do
  bool chooses_sizes = false;  ///< nodes may be closed, and the policy may start jobs with other sizes than submitted
  bool has_adopted = false;    ///< it begins with jobs that another run has started
  std::optional<std::size_t> jobs{};  ///< of the trace, as it was read; not given: it is not known how many will come
  std::vector<std::string> notes{};   ///< what a reader of the results has to know, one line each
  /// How jobs are run for real, by name; none for a simulation.
  std::vector<std::pair<std::string, std::string>> settings{};

  /// Unix time of instant zero, whole seconds; not given: the trace does not say it.
  std::optional<std::int64_t> unix_zero_s{};

  /// history::stated_cores(); not given: those of the machine.
  std::optional<CoreCount> stated_cores{};

  // Files that the run depends on.
  std::string trace;                       ///< "-": standard input
  bool has_trace_file = true;              ///< false: the jobs are of users, and `trace` only says so
  std::optional<std::string> side_file{};  ///< what jobs declare beyond SWF
  std::optional<std::string> nodes{};      ///< node events
  std::optional<std::string> pairs{};      ///< slowdowns of pairs, for the runtime model `pairs`
  std::optional<std::string> profile{};    ///< of the runtime model `calibrated`
  std::vector<std::string> policy_files{};

  std::string outputs{};  ///< as --outputs takes them: parse_outputs()
};

}  // namespace replay::results
